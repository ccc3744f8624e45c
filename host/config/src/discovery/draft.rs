//! A server as its client has written it, before anything is filled in.

use std::collections::BTreeMap;
use std::time::Duration;

use dormouse_launch::{HttpTransport, OAuth};

use crate::Filter;

/// A server as it is written.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) launch: Option<Written>,
    /// Whether it is on; none where the entry does not say.
    pub(super) enabled: Option<bool>,
    pub(super) filter: Filter,
    pub(super) stubs: Vec<String>,
    pub(super) start_timeout: Option<Duration>,
    pub(super) call_timeout: Option<Duration>,
    pub(super) notes: Vec<String>,
}

/// How it is reached, as it is written.
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
    /// How its user logs in, nothing of it filled in.
    pub(super) oauth: OAuth,
    /// Variables that the headers may be made of, and that nobody else gets.
    pub(super) env: BTreeMap<String, Text>,
}

/// A value that is written, or taken from somewhere else. It may be a secret: there
/// is no way to print it.
#[derive(Clone)]
pub(super) enum Text {
    /// Written, in the client's syntax.
    Written(String),
    /// A variable of the environment, behind a prefix.
    Variable {
        name: String,
        prefix: &'static str,
        /// Whether the server cannot do without it; it is left out otherwise.
        needed: bool,
    },
}

impl Text {
    /// The value as it stands for itself before anything is filled in.
    pub(super) fn unfilled(&self) -> String {
        match self {
            Self::Written(text) => text.clone(),
            Self::Variable { name, prefix, .. } => format!("{prefix}${{{name}}}"),
        }
    }
}
