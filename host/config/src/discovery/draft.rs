//! A server as its client has written it, before anything is filled in.

use std::collections::BTreeMap;
use std::time::Duration;

use dormouse_launch::{HttpTransport, OAuth};

use crate::Filter;

/// A server as it is written.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) launch: Option<Written>,
    /// Whether the server is on; none where the entry does not say.
    pub(super) enabled: Option<bool>,
    pub(super) filter: Filter,
    pub(super) stubs: Vec<String>,
    pub(super) start_timeout: Option<Duration>,
    pub(super) call_timeout: Option<Duration>,
    pub(super) notes: Vec<String>,
}

/// Launch, as it is written.
#[derive(Clone)]
pub(super) enum Written {
    Stdio(Stdio),
    Http(Http),
}

/// A program, as it is written.
#[derive(Clone)]
pub(super) struct Stdio {
    pub(super) command: String,
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<String, Text>,
    pub(super) env_file: Option<String>,
    pub(super) cwd: Option<String>,
}

/// A URL, as it is written.
#[derive(Clone)]
pub(super) struct Http {
    pub(super) url: String,
    pub(super) headers: BTreeMap<String, Text>,
    pub(super) transport: HttpTransport,
    /// OAuth settings, nothing of them filled in.
    pub(super) oauth: OAuth,
    /// Variables that the headers may be made of, and that nobody else gets.
    pub(super) env: BTreeMap<String, Text>,
}

/// A value that is written, or taken from somewhere else. There is no way to print it, because it
/// may be a secret.
#[derive(Clone)]
pub(super) enum Text {
    /// Written, in the client's syntax.
    Written(String),
    /// A variable of the environment, behind a prefix.
    Variable {
        name: String,
        prefix: &'static str,
        /// Whether the server needs the variable, which is left out otherwise if it is not set.
        needed: bool,
    },
}

impl Text {
    /// Returns the text that stands for the value before anything is filled in.
    pub(super) fn unfilled(&self) -> String {
        match self {
            Self::Written(text) => text.clone(),
            Self::Variable { name, prefix, .. } => format!("{prefix}${{{name}}}"),
        }
    }
}
