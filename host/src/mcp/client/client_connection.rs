//! Connection to a client, for what is sent to it besides answers.

use dormouse_protocol::{Answer, AskError, ListKind, Question};
use futures::future::BoxFuture;
use rmcp::model::{ProgressToken, RequestId, SubscriptionFilter};
use serde_json::{Map, Number, Value, json};

/// Client that can be sent notifications and requests: as belonging to one of its own requests, or
/// to none.
pub(in crate::mcp) trait ClientConnection: Send + Sync {
    /// Sends a notification, and returns how many bytes were written for it.
    ///
    /// # Errors
    /// The client has gone.
    fn notify(&self, notification: Notification) -> BoxFuture<'_, Result<usize, Disconnected>>;

    /// Sends a request and waits for its answer. A client whose answer is not waited for any more
    /// is told so.
    ///
    /// # Errors
    /// The client refuses it, or has gone.
    fn request<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, AskError>>;
}

/// Error: the client has gone.
#[derive(Debug, thiserror::Error)]
#[error("the client has gone")]
pub(in crate::mcp) struct Disconnected;

/// Notification to a client.
#[derive(Debug)]
pub(in crate::mcp) struct Notification {
    pub(in crate::mcp) method: &'static str,
    /// Parameters, where there are any.
    pub(in crate::mcp) params: Map<String, Value>,
}

impl Notification {
    fn new(method: &'static str) -> Self {
        Self {
            method,
            params: Map::new(),
        }
    }

    /// Adds a parameter.
    fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.params.insert(name.to_owned(), value.into());
        self
    }

    /// Adds a parameter, if it is there.
    fn with_some(self, name: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Makes one of the progress of the request that has that token.
    pub(in crate::mcp) fn progress(
        token: &ProgressToken,
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    ) -> Self {
        Self::new("notifications/progress")
            .with("progressToken", json!(token))
            .with("progress", number(progress))
            .with_some("total", total.map(number))
            .with_some("message", message)
    }

    /// Makes one of a log message.
    pub(in crate::mcp) fn log(level: &'static str, logger: Option<String>, data: Value) -> Self {
        Self::new("notifications/message")
            .with("level", level)
            .with_some("logger", logger)
            .with("data", data)
    }

    /// Makes one of a page that is done.
    pub(in crate::mcp) fn page_done(id: String) -> Self {
        Self::new("notifications/elicitation/complete").with("elicitationId", id)
    }

    /// Makes one that takes a question back: its answer is not wanted any more.
    pub(in crate::mcp) fn cancelled(question: &RequestId, reason: &str) -> Self {
        Self::new("notifications/cancelled")
            .with("requestId", json!(question))
            .with("reason", reason)
    }

    /// Makes one of a list that has changed.
    pub(in crate::mcp) fn list_changed(list: ListKind) -> Self {
        Self::new(match list {
            ListKind::Tools => "notifications/tools/list_changed",
            ListKind::Prompts => "notifications/prompts/list_changed",
            ListKind::Resources => "notifications/resources/list_changed",
        })
    }

    pub(in crate::mcp) fn resource_updated(uri: &str) -> Self {
        Self::new("notifications/resources/updated").with("uri", uri)
    }

    /// Makes the acknowledgement of a subscription to notifications.
    pub(in crate::mcp) fn acknowledged(accepted: &SubscriptionFilter) -> Self {
        Self::new("notifications/subscriptions/acknowledged").with("notifications", json!(accepted))
    }

    /// Makes it one of the subscription that was begun by a request.
    pub(in crate::mcp) fn of_subscription(self, request: &RequestId) -> Self {
        let meta = json!({ "io.modelcontextprotocol/subscriptionId": request });
        self.with("_meta", meta)
    }

    /// Returns the message as text on one line.
    pub(in crate::mcp) fn into_text(self) -> String {
        let Self { method, params } = self;
        let params = (!params.is_empty()).then(|| Value::from(params).to_string());
        dormouse_jsonrpc::notification(method, params.as_deref())
    }
}

/// Returns a number that is written as clients expect it: many read no fraction where there is none.
fn number(value: f64) -> Value {
    let written: Result<Number, _> = value.to_string().parse();
    written.map_or_else(|_| value.into(), Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_written_as_such() {
        for (value, written) in [
            (1.0, "1"),
            (0.0, "0"),
            (-3.0, "-3"),
            (0.25, "0.25"),
            (9_007_199_254_740_992.0, "9007199254740992"),
            (1e300, "1e+300"),
        ] {
            assert_eq!(number(value).to_string(), written);
        }
    }
}
