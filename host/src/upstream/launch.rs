//! How an upstream is reached, as plain data.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use super::OAuth;

/// How one upstream is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Launch {
    /// A child process that speaks MCP over its standard streams.
    Stdio(Stdio),
    /// A server that speaks MCP over HTTP.
    Http(Http),
}

/// A child process. Its environment is what the system needs to run a program
/// (`PATH`, `HOME` and the like) and what is here, nothing else of the user's.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stdio {
    /// The program: a path, or a name that is looked for in `PATH`.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables of its environment.
    pub env: BTreeMap<String, Secret>,
    /// Where it runs; the host's own folder where nothing is said.
    pub cwd: Option<PathBuf>,
}

/// An HTTP endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Http {
    /// Its URL, `http` or `https`.
    pub url: String,
    /// Headers of every request to it, and to nobody else (not to where it
    /// redirects).
    pub headers: BTreeMap<String, Secret>,
    /// Which of MCP's two transports it speaks.
    pub transport: HttpTransport,
    /// How its user logs in there.
    pub oauth: OAuth,
}

impl Http {
    /// Whether its user has written down who they are, so that nobody logs in.
    #[must_use]
    pub fn has_authorization(&self) -> bool {
        let mut names = self.headers.keys();
        names.any(|name| name.eq_ignore_ascii_case("authorization"))
    }
}

/// MCP's transports over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpTransport {
    /// Streamable HTTP, or what was before it where the server knows only that.
    #[default]
    Auto,
    /// Streamable HTTP (since 2025-03-26).
    Streamable,
    /// HTTP with server-sent events (2024-11-05).
    Sse,
}

/// A value that is never shown: of a header or of an environment variable.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(String);

impl Secret {
    /// A value that is never shown.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value, for the one whom it is meant for.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

impl fmt::Display for Launch {
    /// The launch line without a secret's value: command and arguments, or the URL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio(stdio) => {
                f.write_str(&stdio.command)?;
                stdio.args.iter().try_for_each(|arg| write!(f, " {arg}"))
            }
            Self::Http(http) => f.write_str(&http.url),
        }
    }
}
