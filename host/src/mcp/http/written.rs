//! Messages as they are written: results byte for byte where they are text already.

use std::sync::Arc;

use bytes::Bytes;
use dormouse_protocol::Answer;
use hyper::StatusCode;
use rmcp::model::{ErrorData, JsonRpcError, RequestId};

use super::answer::{self, Response};
use super::answer_room::{AnswerRoom, NoAnswerRoom, SHORT_BYTES};
use crate::mcp::client_connection::Notification;
use crate::mcp::verbatim;

/// A message on one line, in parts: a long result is not copied once more.
pub(super) struct Message(Vec<Bytes>);

impl Message {
    pub(super) fn notification(notification: Notification) -> Self {
        Self(vec![notification.into_text().into()])
    }

    /// Makes the answer to a request, if there is room for it.
    pub(super) fn answer(
        id: &RequestId,
        answered: Result<Answer, ErrorData>,
        (room, client): (&Arc<AnswerRoom>, &str),
    ) -> Self {
        let text = match answered {
            Ok(answer) => verbatim::on_one_line(answer.into_text()),
            Err(error) => return Self::error(id, error),
        };
        let mut head = Vec::with_capacity(128 + text.len().min(SHORT_BYTES));
        head.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        // An id can always be written.
        let _ = serde_json::to_writer(&mut head, id);
        head.extend_from_slice(b",\"result\":");
        // Most are short, and go out in one piece.
        if text.len() <= SHORT_BYTES {
            head.extend_from_slice(text.as_bytes());
            head.push(b'}');
            return Self(vec![head.into()]);
        }
        match room.hold(client, text.into_bytes()) {
            Ok(text) => Self(vec![head.into(), text, Bytes::from_static(b"}")]),
            Err(NoAnswerRoom) => Self::error(id, NoAnswerRoom.error()),
        }
    }

    fn error(id: &RequestId, error: ErrorData) -> Self {
        let error = JsonRpcError::new(Some(id.clone()), error);
        // Writing an error into memory cannot fail.
        let message = serde_json::to_vec(&error).unwrap_or_default();
        Self(vec![verbatim::unfolded(message.into())])
    }

    /// Returns the parts of the message as an event of a stream.
    pub(super) fn event(self) -> impl Iterator<Item = Bytes> {
        let (begin, end) = (Bytes::from_static(b"data: "), Bytes::from_static(b"\n\n"));
        std::iter::once(begin).chain(self.0).chain([end])
    }
}

/// Writes the answer to a request, if there is room for it.
pub(super) fn written(
    status: StatusCode,
    id: &RequestId,
    answered: Result<Answer, ErrorData>,
    to: (&Arc<AnswerRoom>, &str),
) -> Response {
    let Message(parts) = Message::answer(id, answered, to);
    answer::json_of(status, parts)
}
