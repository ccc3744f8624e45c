//! A server as its client has written it, before anything is filled in.

use std::collections::BTreeMap;
use std::time::Duration;

use dormouse_launch::{HttpTransport, OAuth};

use crate::Filter;

/// A server as it is written.
#[derive(Default)]
pub(in crate::discovery) struct Draft {
    pub(in crate::discovery) launch: Option<Written>,
    /// Whether the server is on; none where the entry does not say.
    pub(in crate::discovery) enabled: Option<bool>,
    pub(in crate::discovery) filter: Filter,
    pub(in crate::discovery) stubs: Vec<String>,
    pub(in crate::discovery) start_timeout: Option<Duration>,
    pub(in crate::discovery) call_timeout: Option<Duration>,
    pub(in crate::discovery) notes: Vec<String>,
}

/// Launch, as it is written.
#[derive(Clone)]
pub(in crate::discovery) enum Written {
    Stdio(StdioDraft),
    Http(HttpDraft),
}

/// A program, as it is written.
#[derive(Clone)]
pub(in crate::discovery) struct StdioDraft {
    pub(in crate::discovery) command: String,
    pub(in crate::discovery) args: Vec<String>,
    pub(in crate::discovery) env: BTreeMap<String, DraftText>,
    pub(in crate::discovery) env_file: Option<String>,
    pub(in crate::discovery) cwd: Option<String>,
}

/// A URL, as it is written.
#[derive(Clone)]
pub(in crate::discovery) struct HttpDraft {
    pub(in crate::discovery) url: String,
    pub(in crate::discovery) headers: BTreeMap<String, DraftText>,
    pub(in crate::discovery) transport: HttpTransport,
    /// OAuth settings, nothing of them filled in.
    pub(in crate::discovery) oauth: OAuth,
    /// Variables that the headers may be made of, and that nobody else gets.
    pub(in crate::discovery) env: BTreeMap<String, DraftText>,
}

/// A value that is written, or taken from somewhere else. There is no way to print it, because it
/// may be a secret.
#[derive(Clone)]
pub(in crate::discovery) enum DraftText {
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

impl DraftText {
    /// Returns the text that stands for the value before anything is filled in.
    pub(in crate::discovery) fn unfilled(&self) -> String {
        match self {
            Self::Written(text) => text.clone(),
            Self::Variable { name, prefix, .. } => format!("{prefix}${{{name}}}"),
        }
    }
}
