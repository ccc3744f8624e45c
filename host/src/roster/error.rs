//! Errors of calls that cannot be made and of requests that have no answer.

use std::fmt;

use dormouse_config::UntrustedProject;
use dormouse_runtime::{CallError, Cause};

/// Reason for which a prompt, a resource or a completion has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no such thing.
    #[error("{0}")]
    NotFound(String),
    /// Its arguments or parameters are wrong.
    #[error("{0}")]
    Invalid(String),
    /// The upstream behind it answers with this error, which is passed on as it is.
    #[error("{message}")]
    Upstream {
        /// Its JSON-RPC code.
        code: i64,
        /// Its message.
        message: String,
        /// Its data: JSON text, as it came.
        data: Option<String>,
    },
    /// Everything else.
    #[error("{0}")]
    Failed(String),
}

impl From<NoSuchTool> for Refusal {
    fn from(error: NoSuchTool) -> Self {
        Self::NotFound(error.to_string())
    }
}

impl From<CallError> for Refusal {
    fn from(error: CallError) -> Self {
        let text = error.to_string();
        match error.cause {
            Cause::NotFound => Self::NotFound(text),
            Cause::Invalid(_) => Self::Invalid(text),
            Cause::Upstream {
                code,
                message,
                data,
            } => Self::Upstream {
                code,
                message,
                data,
            },
            _ => Self::Failed(text),
        }
    }
}

/// There is no such tool, or it is not to be called.
#[derive(Debug, thiserror::Error)]
pub enum NoSuchTool {
    /// No server of that name.
    #[error(
        "no server is called `{server}`{}{}",
        .meant,
        not_trusted(.untrusted)
    )]
    Server {
        /// The name asked for.
        server: String,
        /// Server or tool that was probably meant.
        meant: MeantServer,
        /// Project that may have the server, and is not trusted, so its servers are not looked for.
        untrusted: Option<UntrustedProject>,
    },
    /// The server has no such tool.
    #[error("server `{server}` has no tool `{tool}`{}", hint(.nearest))]
    Tool {
        /// The server.
        server: String,
        /// The name asked for.
        tool: String,
        /// The nearest name that exists.
        nearest: Option<String>,
    },
    /// Nobody has found out yet what the server has.
    #[error(
        "nothing is known yet of what server `{server}` offers, so `{tool}` cannot be called\n{hint}"
    )]
    NotKnown {
        /// The server.
        server: String,
        /// The name asked for.
        tool: String,
        /// Hint at what to do.
        hint: String,
    },
    /// The server is there, but not to be called.
    #[error("server `{server}` is {state}")]
    Unavailable {
        /// The server.
        server: String,
        /// Its state, and why it is in it.
        state: String,
    },
}

/// Server or tool that was probably meant by a name that no server has.
#[derive(Debug)]
pub enum MeantServer {
    /// The server of this name, which is reached in the same way as the one of that name.
    SameAs(String),
    /// A tool, as agents call it: its server and its own name.
    Tool([String; 2]),
    /// The nearest name that exists, if any is near.
    Nearest(Option<String>),
}

impl fmt::Display for MeantServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SameAs(taken) => write!(
                f,
                ": it is reached in the same way as `{taken}`, and is that one\nhint: say `{taken}`"
            ),
            Self::Tool([server, tool]) => write!(
                f,
                ": that is what agents call the tool `{tool}` of server `{server}`\n\
                 hint: say `{server} {tool}`"
            ),
            Self::Nearest(nearest) => f.write_str(&hint(nearest)),
        }
    }
}

fn not_trusted(project: &Option<UntrustedProject>) -> String {
    project
        .as_ref()
        .map(|project| format!("\n{}", project.hint()))
        .unwrap_or_default()
}

fn hint(nearest: &Option<String>) -> String {
    nearest
        .as_ref()
        .map(|name| format!("\nhint: did you mean `{name}`?"))
        .unwrap_or_default()
}
