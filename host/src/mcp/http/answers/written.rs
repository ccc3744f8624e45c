//! Messages as they are written: results byte for byte where they are text already.

use bytes::Bytes;
use dormouse_protocol::Answer;
use hyper::StatusCode;
use rmcp::model::RequestId;

use super::answer;
use super::answer::Response;
use super::answer_room::{ClientAnswerRoom, NoAnswerRoom};
use crate::mcp::client::client_connection::Notification;
use crate::mcp::messages::error_object::ErrorObject;
use crate::mcp::messages::original::on_one_line;

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

    /// Makes a question to the client, whose parameters are on one line.
    ///
    /// # Errors
    /// There is no room for it.
    pub(in crate::mcp::http) fn question(
        id: &RequestId,
        method: &str,
        params: &str,
        room: &ClientAnswerRoom,
    ) -> Result<Self, NoAnswerRoom> {
        let method = dormouse_jsonrpc::quoted(method);
        let id = id_text(id);
        let head = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{method},\"params\":");
        // Of just that length: what is taken is taken from others.
        let text = [&head, params, "}"].concat();
        Ok(Self(vec![room.hold(text.into())?]))
    }

    /// Makes the answer to a request, if there is room for it.
    pub(in crate::mcp::http) fn answer(
        id: &RequestId,
        answered: Result<Answer, ErrorObject>,
        room: &ClientAnswerRoom,
    ) -> Self {
        let text = match answered {
            Ok(answer) => on_one_line(answer.into_text()),
            Err(error) => {
                let held = room.hold(error.to_message(Some(id)));
                return match held {
                    Ok(text) => Self(vec![text]),
                    Err(NoAnswerRoom) => Self::error(Some(id), &NoAnswerRoom.error()),
                };
            }
        };
        let head = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":", id_text(id));
        // Most are short, and go out in one piece.
        if !room.counts(text.len()) {
            return Self(vec![[&head, text.as_str(), "}"].concat().into()]);
        }
        match room.hold(text.into_bytes()) {
            Ok(text) => Self(vec![head.into(), text, Bytes::from_static(b"}")]),
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

fn id_text(id: &RequestId) -> String {
    // An id can always be written.
    serde_json::to_string(id).unwrap_or_default()
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
