//! Messages as they are written, with the room that they take.

use bytes::Bytes;
use dormouse_protocol::Answer;
use hyper::StatusCode;
use rmcp::model::RequestId;

use super::answer;
use super::answer::Response;
use super::answer_room::{ClientAnswerRoom, NoAnswerRoom};
use crate::mcp::client::client_connection::Notification;
use crate::mcp::messages::error_object::ErrorObject;
use crate::mcp::messages::outgoing_message::OutgoingMessage;

/// A message on one line, in parts: a long result is not copied once more.
#[derive(Debug, Clone)]
pub(in crate::mcp::http) struct WrittenMessage(Vec<Bytes>);

impl WrittenMessage {
    /// Makes a notification; none where there is no room for it, and it is left out.
    pub(in crate::mcp::http) fn notification(
        notification: Notification,
        room: &ClientAnswerRoom,
    ) -> Option<Self> {
        match room.hold(notification.into_text().into()) {
            Ok(text) => Some(Self(vec![text])),
            Err(no_room) => {
                tracing::debug!("a notification is left out: {no_room}");
                None
            }
        }
    }

    /// Makes a question to the client, from the text of its parameters.
    ///
    /// # Errors
    /// There is no room for it.
    pub(in crate::mcp::http) fn question(
        id: &RequestId,
        method: &str,
        params: String,
        room: &ClientAnswerRoom,
    ) -> Result<Self, NoAnswerRoom> {
        // Of just its length: what is taken is taken from others.
        let text = OutgoingMessage::request(id, method, params).into_text();
        Ok(Self(vec![room.hold(text)?]))
    }

    /// Makes the answer to a request, if there is room for it.
    pub(in crate::mcp::http) fn answer(
        id: &RequestId,
        answered: Result<Answer, ErrorObject>,
        room: &ClientAnswerRoom,
    ) -> Self {
        let message = OutgoingMessage::answer(id, answered);
        // Most are short, and go out in one piece.
        if !room.counts(message.text.len()) {
            return Self(vec![message.into_text().into()]);
        }
        let OutgoingMessage { head, text, tail } = message;
        match room.hold(text) {
            Ok(text) => {
                let parts = [head.into(), text, Bytes::from_static(tail.as_bytes())];
                let parts = parts.into_iter().filter(|part| !part.is_empty());
                Self(parts.collect())
            }
            Err(NoAnswerRoom) => Self::error(Some(id), &NoAnswerRoom.error()),
        }
    }

    /// Makes an error, without an id where that could not be read: MCP has none that is null.
    pub(in crate::mcp::http) fn error(id: Option<&RequestId>, error: &ErrorObject) -> Self {
        Self(vec![error.to_message(id).into()])
    }

    /// Makes a message of its parts, which are on one line.
    pub(in crate::mcp::http) fn of_parts(parts: Vec<Bytes>) -> Self {
        Self(parts)
    }

    pub(in crate::mcp::http) fn into_parts(self) -> impl Iterator<Item = Bytes> {
        self.0.into_iter()
    }

    /// Returns its length, in bytes.
    pub(in crate::mcp::http) fn len(&self) -> usize {
        self.0.iter().map(Bytes::len).sum()
    }
}

/// Writes the answer to a request, if there is room for it.
pub(in crate::mcp::http) fn written(
    status: StatusCode,
    id: &RequestId,
    answered: Result<Answer, ErrorObject>,
    room: &ClientAnswerRoom,
) -> Response {
    answer::message(status, WrittenMessage::answer(id, answered, room))
}
