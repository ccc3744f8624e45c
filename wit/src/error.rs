//! Errors, and findings of `dormouse check`.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Error of reading WIT or a declaration.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The WIT text does not parse or does not resolve.
    #[error("cannot read the WIT in {}: {message}", list(.paths))]
    Wit {
        /// The files or folders that were given.
        paths: Vec<PathBuf>,
        /// Message of the parser, with the place in the source.
        message: String,
    },
    /// The world to declare is missing or not clear.
    #[error("cannot choose a world: {message}")]
    World {
        /// Text on the fault and, where there are some, the candidates.
        message: String,
    },
    /// The bytes are no component.
    #[error(
        "not a WebAssembly component: {0}\nhint: build it for `wasm32-wasip2`, or make a component of a core module with `wasm-tools component new`"
    )]
    Component(String),
    /// The section `dormouse:declaration` cannot be read.
    #[error(
        "the section `dormouse:declaration` is damaged: {0}\nhint: build the plugin again, or write the section anew with `dormouse pack`"
    )]
    Section(String),
    /// The section was written for a newer Dormouse.
    #[error(
        "the section `dormouse:declaration` has {what} `{found}`, and this Dormouse reads up to `{known}`\nhint: update Dormouse"
    )]
    Newer {
        /// Name of the version number: `format` or `mapping`.
        what: &'static str,
        /// Version that the section has.
        found: u32,
        /// Newest version that this crate knows.
        known: u32,
    },
}

fn list(paths: &[PathBuf]) -> String {
    let quoted: Vec<_> = paths
        .iter()
        .map(|path| format!("`{}`", path.display()))
        .collect();
    quoted.join(", ")
}

/// Finding of `dormouse check` about a plugin. No finding keeps a plugin from loading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Whether `check` fails on it.
    pub severity: Severity,
    /// Subject of the finding: a function, a field, the world.
    pub item: String,
    /// Text on the fault.
    pub message: String,
    /// Advice on a remedy.
    pub hint: Option<String>,
}

/// Severity of a [`Finding`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Severity {
    /// Worth knowing; `check` succeeds.
    Warning,
    /// A mistake of the author; `check` fails.
    Error,
}

impl Finding {
    /// Returns the message and the hint, without the subject.
    #[must_use]
    pub fn told(&self) -> String {
        let hint = self.hint.as_ref().map(|hint| format!("\nhint: {hint}"));
        format!("{}{}", self.message, hint.unwrap_or_default())
    }

    pub(crate) fn error(item: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            item: item.into(),
            message: message.into(),
            hint: None,
        }
    }

    pub(crate) fn warning(item: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(item, message)
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{severity}: {}: {}", self.item, self.told())
    }
}
