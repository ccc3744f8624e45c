//! Messages to clients: results byte for byte where they are text already.

use std::borrow::Cow;

use dormouse_protocol::Answer;
use rmcp::model::RequestId;

use super::error_object::ErrorObject;
use crate::mcp::client::client_connection::Notification;

/// A message on one line and without the line's end, in parts: a long result, or a list of tools,
/// need not be copied once more.
#[derive(Default)]
pub(in crate::mcp) struct OutgoingMessage {
    pub(in crate::mcp) head: String,
    /// The part that may be long.
    pub(in crate::mcp) text: Vec<u8>,
    pub(in crate::mcp) tail: &'static str,
}

impl From<Vec<u8>> for OutgoingMessage {
    fn from(text: Vec<u8>) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

impl OutgoingMessage {
    /// Makes the answer to a request.
    pub(in crate::mcp) fn answer(id: &RequestId, answered: Result<Answer, ErrorObject>) -> Self {
        match answered {
            Ok(answer) => Self::with_id(id, "\"result\":", answer.into_text()),
            Err(error) => error.to_message(Some(id)).into(),
        }
    }

    /// Makes a request to the client, from the text of its parameters.
    pub(in crate::mcp) fn request(id: &RequestId, method: &str, params: String) -> Self {
        let method = dormouse_jsonrpc::quoted(method);
        Self::with_id(id, &format!("\"method\":{method},\"params\":"), params)
    }

    /// Makes a notification.
    pub(in crate::mcp) fn notification(notification: Notification) -> Self {
        notification.into_text().into_bytes().into()
    }

    /// Makes a message with an id, of the members before its last value and of that.
    fn with_id(id: &RequestId, members: &str, value: String) -> Self {
        // An id can always be written.
        let id = serde_json::to_string(id).unwrap_or_default();
        Self {
            head: format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{members}"),
            text: on_one_line(value).into_bytes(),
            tail: "}",
        }
    }

    /// Returns the length of the message, in bytes.
    pub(in crate::mcp) fn len(&self) -> usize {
        self.head.len() + self.text.len() + self.tail.len()
    }

    /// Returns the message in one piece, of just its length.
    pub(in crate::mcp) fn into_text(self) -> Vec<u8> {
        [self.head.as_bytes(), &self.text, self.tail.as_bytes()].concat()
    }
}

/// Returns a text of JSON on one line: the text itself where it is on one already.
pub(in crate::mcp) fn on_one_line(text: String) -> String {
    match dormouse_jsonrpc::on_one_line(&text) {
        Cow::Owned(line) => line,
        Cow::Borrowed(_) => text,
    }
}
