//! Errors of calls, in words for the model and the user.

use std::time::Duration;

use dormouse_upstream::auth::NotLoggedIn;
use serde_json::{Value, json};

use super::target::Target;

/// A call that failed before or outside of the plugin's own code, or, for all but tools, inside of
/// it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("server `{server}`, {subject}: {}", said_of(.server, .subject, .cause))]
pub struct CallError {
    /// The server.
    pub server: String,
    /// The tool, prompt or resource that was called, by its own name.
    pub subject: String,
    /// Cause of the failure.
    pub cause: Cause,
}

/// Returns the text of a cause without the called item's name where it begins with that: a
/// component is also told of items that it has called itself, which are other ones.
fn said_of(server: &str, subject: &str, cause: &Cause) -> String {
    let text = cause.to_string();
    match text.strip_prefix(&format!("{subject} of server `{server}` ")) {
        Some(said) => format!("it {said}"),
        None => text,
    }
}

impl CallError {
    /// Returns the error as an MCP `CallToolResult`, so that the model can react to it.
    #[must_use]
    pub fn to_result(&self) -> Value {
        json!({ "content": [{ "type": "text", "text": self.to_string() }], "isError": true })
    }
}

/// Cause of a failed call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum Cause {
    #[error("the arguments do not fit:\n{problems}\nhint: {signature}")]
    Arguments { problems: String, signature: String },
    #[error(
        "its `{which}` cannot be used: {why}\nhint: whoever wrote the plugin has to mend it; nothing is fetched to read a schema"
    )]
    Schema { which: &'static str, why: String },
    #[error("could not be started: {0}")]
    Load(String),
    #[error("{reason}\nhint: it is tried again in {} s; `dormouse restart` tries at once", .wait.as_secs().max(1))]
    Backoff { reason: String, wait: Duration },
    #[error("took longer than {} s and was ended\nhint: `timeout` in `[servers.{server}.limits]` sets how long a call may take", .limit.as_secs_f64())]
    Deadline { server: String, limit: Duration },
    #[error("the call before it in the same session was not done within {} s\nhint: it may be waiting for an answer; answer it, or cancel it", .0.as_secs_f64())]
    Busy(Duration),
    #[error("was cancelled")]
    Cancelled,
    #[error(
        "wanted {wanted} bytes of memory where {limit} are allowed\nhint: `memory` in `[servers.{server}.limits]` sets how much it may use"
    )]
    Memory {
        server: String,
        wanted: u64,
        limit: u64,
    },
    /// The memory of all guests together had no room for as long as the call could wait.
    #[error(
        "there was no memory for it: all guests together may have {limit} bytes, half of that each server\nhint: `memory` in `[limits]` of dormouse.toml sets how much; fewer `instances` in `[servers.NAME.limits]` take less"
    )]
    HostMemory { limit: u64 },
    #[error("the plugin crashed: {0}")]
    Trap(String),
    #[error("the plugin ended itself with exit code {0} instead of answering")]
    Exit(i32),
    #[error(
        "the result has at least {size} bytes where {limit} are allowed\nhint: ask for less, or set `result` in `[servers.{server}.limits]`"
    )]
    ResultTooLarge {
        server: String,
        size: u64,
        limit: u64,
    },
    #[error(
        "it was answered with an error of {size} bytes where {limit} are allowed\nhint: `result` in `[servers.{server}.limits]` sets how long an answer may be"
    )]
    ErrorTooLarge {
        server: String,
        size: u64,
        limit: u64,
    },
    /// More bytes than may be taken over from the guest, so that their number is not known.
    #[error(
        "the result, or what it handed to the host, has more than the {limit} bytes that are allowed\nhint: ask for less, or set `result` in `[servers.{server}.limits]`"
    )]
    TooMuch { server: String, limit: u64 },
    #[error(
        "the arguments have {size} bytes of base64 where {limit} are allowed\nhint: send less, or set `result` in `[servers.{server}.limits]`, which goes for both ways"
    )]
    ArgumentsTooLarge {
        server: String,
        size: u64,
        limit: u64,
    },
    #[error(
        "its answer is not what MCP has there: {0}\nhint: whoever wrote the server has to mend it"
    )]
    BadResult(String),
    #[error("the arguments do not fit: {0}")]
    Invalid(String),
    /// Error of the upstream, in its own words: its code, message and data as JSON text.
    #[error("{message}")]
    Upstream {
        code: i64,
        message: String,
        data: Option<String>,
        /// Bytes of the message as the upstream sent it, and of the data.
        size: usize,
    },
    #[error("its upstream failed: {0}")]
    Unreached(String),
    #[error("its upstream wants you to log in")]
    Auth { challenge: Option<String> },
    /// The text has the link of a login in it where there is one: it is for the user of the call.
    #[error("{0}")]
    NotLoggedIn(NotLoggedIn),
    #[error("there is no such resource")]
    NotFound,
    #[error("{0}")]
    Refused(String),
}

impl Cause {
    /// Returns the text by which a guest passes it on, without the link of a login: whoever follows that
    /// decides who the user is.
    pub(super) fn text_for_guest(&self) -> String {
        match self {
            Self::Unreached(why) => why.clone(),
            Self::NotLoggedIn(why) => why.without_link().to_owned(),
            cause => cause.to_string(),
        }
    }

    /// Returns the cause, or [`Self::ErrorTooLarge`] where its text is longer than a result of that
    /// server may be: an error is an answer, too.
    pub(super) fn within(self, target: &Target) -> Self {
        let size = match &self {
            Self::Upstream { size, .. } => *size as u64,
            cause => cause.to_string().len() as u64,
        };
        let limit = target.limits.result;
        if size <= limit {
            return self;
        }
        Self::ErrorTooLarge {
            server: target.server.clone(),
            size,
            limit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_called_is_named_once() {
        for (why, said) in [
            (
                "tool `t` of server `s` is gone",
                "server `s`, tool `t`: it is gone",
            ),
            (
                "tool `u` of server `s` is gone",
                "server `s`, tool `t`: tool `u` of server `s` is gone",
            ),
            ("no", "server `s`, tool `t`: no"),
        ] {
            let error = CallError {
                server: "s".to_owned(),
                subject: "tool `t`".to_owned(),
                cause: Cause::Refused(why.to_owned()),
            };
            assert_eq!(error.to_string(), said);
        }
    }
}
