//! Errors of calls that cannot be made or have failed, and of requests that have no answer.

use std::fmt;

use dormouse_config::UntrustedProject;
use dormouse_policy::exposure::HiddenBy;
use dormouse_runtime::{CallError, Cause};
use serde_json::{Value, json};

/// Reason for which a prompt, a resource or a completion has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OfferRefusal {
    /// The requested item does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The arguments or parameters are wrong.
    #[error("{0}")]
    Invalid(String),
    /// The upstream has answered with this error, which is passed on unchanged.
    #[error("{message}")]
    Upstream {
        /// Its JSON-RPC code.
        code: i64,
        /// Its message.
        message: String,
        /// Its data: JSON text, as it came.
        data: Option<String>,
    },
    /// Any other failure.
    #[error("{0}")]
    Failed(String),
}

impl From<NoSuchTool> for OfferRefusal {
    fn from(error: NoSuchTool) -> Self {
        Self::NotFound(error.to_string())
    }
}

impl From<CallError> for OfferRefusal {
    fn from(error: CallError) -> Self {
        let text = error.to_string();
        match error.cause {
            Cause::NotFound => Self::NotFound(text),
            Cause::Invalid(_) => Self::Invalid(text),
            Cause::Upstream {
                code,
                message,
                data,
                size: _,
            } => Self::Upstream {
                code,
                message,
                data,
            },
            _ => Self::Failed(text),
        }
    }
}

/// Reason for which a tool cannot be called.
#[derive(Debug, thiserror::Error)]
pub enum NoSuchTool {
    /// No server of that name.
    #[error(
        "no server is called `{server}`{}{}",
        .meant,
        not_trusted(.untrusted)
    )]
    Server {
        /// Requested name.
        server: String,
        /// Server or tool that was probably meant.
        meant: MeantServer,
        /// Project that may have the server, and is not trusted, so its servers are not considered.
        untrusted: Option<Box<UntrustedProject>>,
    },
    /// The client that is served loads the server itself, and so is not shown it.
    #[error(
        "`{client}` loads the server `{server}` itself, so it is not shown to it here\n\
         hint: `{client}` has its tools under their own names; all others can call it here"
    )]
    LoadedByClient {
        /// The server.
        server: String,
        /// Name of the client.
        client: &'static str,
    },
    /// The server has no such tool.
    #[error("server `{server}` has no tool `{tool}`{}", tool_hint(.nearest, .server))]
    Tool {
        /// The server.
        server: String,
        /// Requested name.
        tool: String,
        /// The nearest name that exists.
        nearest: Option<String>,
    },
    /// The server had the tool, and no longer has it.
    #[error(
        "server `{server}` no longer offers `{tool}`\nhint: `dormouse tools {server}` lists what it has"
    )]
    Gone {
        /// The server.
        server: String,
        /// Requested name.
        tool: String,
    },
    /// The server has the tool, and a filter leaves it out.
    #[error("server `{server}` {why}")]
    LeftOut {
        /// The server.
        server: String,
        /// Description of what the server has, and why that is not shown.
        why: String,
    },
    /// A rule of exposure forbids its calls.
    #[error(
        "tool `{tool}` of server `{server}` was not called: {why}{}",
        rule_hint(.why, .server, .tool)
    )]
    HiddenByRule {
        /// The server.
        server: String,
        /// Requested name.
        tool: String,
        /// The rule.
        why: HiddenBy,
    },
    /// The server's offers are not known yet.
    #[error(
        "nothing is known yet of what server `{server}` offers, so `{tool}` cannot be called\n{hint}"
    )]
    NotKnown {
        /// The server.
        server: String,
        /// Requested name.
        tool: String,
        /// Hint at a remedy.
        hint: String,
    },
    /// The server exists, but cannot be called.
    #[error("server `{server}` is {state}")]
    Unavailable {
        /// The server.
        server: String,
        /// Its state, with the reason.
        state: String,
    },
}

/// Server or tool that was probably meant by a name that no server has.
#[derive(Debug)]
pub enum MeantServer {
    /// Another server with the same launch, by its name.
    SameAs(String),
    /// Tool under the name that agents call it by: its server and its own name.
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
            Self::Nearest(Some(near)) => write!(f, "\nhint: did you mean `{near}`?"),
            Self::Nearest(None) => f.write_str("\nhint: `dormouse list` shows them all"),
        }
    }
}

fn not_trusted(project: &Option<Box<UntrustedProject>>) -> String {
    project
        .as_ref()
        .map(|project| format!("\n{}", project.hint()))
        .unwrap_or_default()
}

fn tool_hint(nearest: &Option<String>, server: &str) -> String {
    match nearest {
        Some(name) => format!("\nhint: did you mean `{name}`?"),
        None => format!("\nhint: `dormouse tools {server}` lists what it has"),
    }
}

/// Returns a hint at what has to be written for a tool to be called that a rule hides.
fn rule_hint(why: &HiddenBy, server: &str, tool: &str) -> String {
    let hint = match why {
        HiddenBy::Server => format!("`expose` of `[servers.{server}]` in dormouse.toml says so"),
        HiddenBy::Deny(pattern) => {
            format!("take `{pattern}` out of `deny` in dormouse.toml to have it called")
        }
        HiddenBy::Allow => {
            format!("write `{server}__{tool}` into `allow` in dormouse.toml to have it called")
        }
        HiddenBy::Profile => {
            "`servers` and `tools` of the profile in dormouse.toml say what it has".to_owned()
        }
    };
    format!("\nhint: {hint}")
}

/// Returns the result of a tool that has failed, in MCP's form for a model (`isError`).
pub(super) fn tool_error(text: String) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": true})
}
