//! Messages in an agent's lines.

use dormouse_jsonrpc::{Envelope, Line, MessageError, MessageLimits, Unreadable};
use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, GetExtensions as _, JsonRpcMessage, RequestId};
use serde_json::Value;

use super::client_log;
use super::message_room::{NoRoom, TakenRoom};
use super::original::Original;
use super::verbatim;

/// Longest line that is read, in bytes, as in rmcp's own transports.
pub(super) const MAX_LINE_BYTES: usize = 16 << 20;

/// Message in a line.
pub(super) enum Incoming {
    Message(Box<ClientJsonRpcMessage>),
    /// The line has no usable message; with the id of the answer, and the error in it.
    Refused(Option<RequestId>, ErrorData),
    Nothing,
}

/// Returns the text of a line; none at the end of the input.
///
/// # Errors
/// The line is too long or not UTF-8; with the error to answer.
pub(super) fn text(line: Line) -> Option<Result<String, ErrorData>> {
    let line = match line {
        Line::Whole(line) | Line::Unfinished(line) => line,
        Line::TooLong(_) => {
            client_log::warn(&format!(
                "a message of more than {MAX_LINE_BYTES} bytes was dropped"
            ));
            let message = format!("a message may have at most {MAX_LINE_BYTES} bytes");
            return Some(Err(ErrorData::invalid_request(message, None)));
        }
        Line::End => return None,
    };
    Some(String::from_utf8(line).map_err(|_| {
        client_log::warn("a line is not UTF-8");
        ErrorData::parse_error("the line is not UTF-8", None)
    }))
}

impl Incoming {
    pub(super) fn read(line: String) -> Self {
        let (text, envelope) = match Self::envelope(&line) {
            Ok(read) => read,
            Err(done) => return *done,
        };
        let Ok(mut message) = serde_json::from_str::<ClientJsonRpcMessage>(text) else {
            return refuse(&envelope, text);
        };
        match &mut message {
            JsonRpcMessage::Request(request) if Original::is_kept_of(request.request.method()) => {
                let original = Original::new(line);
                request.request.extensions_mut().insert(original);
            }
            JsonRpcMessage::Response(response) => verbatim::response(response, text),
            _ => {}
        }
        Self::Message(Box::new(message))
    }

    /// Returns the text of a line and the members that every message has, or else the treatment of
    /// a line without them.
    fn envelope(line: &str) -> Result<(&str, Envelope<'_>), Box<Self>> {
        let text = line.trim_start_matches('\u{feff}');
        if text.trim().is_empty() {
            return Err(Box::new(Self::Nothing));
        }
        let envelope = Envelope::read(text, &MessageLimits::default());
        let envelope = envelope.map_err(|unreadable| Box::new(Self::unreadable(*unreadable)))?;
        Ok((text, envelope))
    }

    /// Returns the treatment of a message for which there is no room. Its values are not built.
    pub(super) fn refused(line: &str, no_room: NoRoom) -> Self {
        let envelope = match Self::envelope(line) {
            Ok((_, envelope)) => envelope,
            Err(done) => return *done,
        };
        let has_method = envelope.method.is_some();
        let id = envelope.id.as_ref();
        let is_notification = has_method && id.is_none();
        let id = id.and_then(|id| serde_json::from_str(id.as_str()).ok());
        answered(id, is_notification, has_method, no_room.error())
    }

    /// Makes a message keep its room until it was dealt with.
    pub(super) fn keep(&mut self, room: &TakenRoom) {
        let Self::Message(message) = self else {
            return;
        };
        match &mut **message {
            JsonRpcMessage::Request(request) => {
                request.request.extensions_mut().insert(room.clone());
            }
            JsonRpcMessage::Notification(notification) => {
                notification
                    .notification
                    .extensions_mut()
                    .insert(room.clone());
            }
            // Kept by whoever has asked alone, and only so many have.
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
    }

    /// Answers a text that is no message, or beyond a limit: the client that waits for an answer is
    /// told.
    fn unreadable(message: Unreadable<'_>) -> Self {
        let why = match &message.error {
            MessageError::NotJson(why) => format!("the line is not JSON: {why}"),
            MessageError::Batch => {
                "batches are not part of this revision: send one message a line".to_owned()
            }
            why => format!("this message cannot be read: {why}"),
        };
        client_log::warn(&why);
        let error = match message.error {
            MessageError::NotJson(_) => ErrorData::parse_error(why, None),
            _ => ErrorData::invalid_request(why, None),
        };
        let id = message
            .id
            .and_then(|id| serde_json::from_str(id.as_str()).ok());
        answered(
            id,
            message.has_method && !message.has_id,
            message.has_method,
            error,
        )
    }
}

/// Returns the treatment of a refused message.
fn answered(
    id: Option<RequestId>,
    is_notification: bool,
    has_method: bool,
    error: ErrorData,
) -> Incoming {
    match id {
        // Nobody waits for an answer to one.
        _ if is_notification => Incoming::Nothing,
        // An answer: whoever has asked is told that there is none.
        Some(id) if !has_method => {
            Incoming::Message(Box::new(ClientJsonRpcMessage::error(error, Some(id))))
        }
        id => Incoming::Refused(id, error),
    }
}

/// Returns the treatment of JSON that rmcp cannot read.
fn refuse(envelope: &Envelope<'_>, text: &str) -> Incoming {
    let has_method = envelope.method.is_some();
    let id = envelope.id.as_ref();
    let is_notification = has_method && id.is_none();
    let id = id.and_then(|id| serde_json::from_str(id.as_str()).ok());
    match serde_json::from_str::<Value>(text) {
        Ok(_) if is_notification => {
            tracing::debug!("a notification that makes no sense was dropped");
            Incoming::Nothing
        }
        Ok(_) => {
            let message = "this is not a JSON-RPC 2.0 message of MCP";
            Incoming::Refused(id, ErrorData::invalid_request(message, None))
        }
        // No value can hold it, because it has a number that is too large.
        Err(error) => {
            client_log::warn(&format!("a message cannot be read: {error}"));
            let why = format!("this message cannot be read: {error}");
            let error = ErrorData::invalid_request(why, None);
            answered(id, is_notification, has_method, error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Incoming {
        Incoming::read(text.to_owned())
    }

    fn nested(depth: usize) -> String {
        format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth))
    }

    /// Returns the code of the error with which a text is refused, and the id under which it is.
    #[track_caller]
    fn refused(text: &str) -> (Option<RequestId>, i32) {
        match read(text) {
            Incoming::Refused(id, error) => (id, error.code.0),
            Incoming::Message(message) => panic!("{message:?}"),
            Incoming::Nothing => panic!("nothing"),
        }
    }

    #[test]
    fn what_no_value_can_hold_is_refused_under_its_id() {
        let seven = Some(RequestId::Number(7));
        for arguments in [&nested(126), &nested(100_000), "{\"a\":1e999}"] {
            let call = |id: &str| {
                format!(
                    "{{\"jsonrpc\":\"2.0\",{id}\"method\":\"tools/call\",\
                     \"params\":{{\"name\":\"a\",\"arguments\":{arguments}}}}}"
                )
            };
            assert_eq!(refused(&call("\"id\":7,")), (seven.clone(), -32600));
            // Nobody waits for an answer to a notification.
            assert!(matches!(read(&call("")), Incoming::Nothing));
            // What is no message at all has no id either.
            assert_eq!(refused(&format!("[{arguments}]")), (None, -32600));
        }
        // Who has asked the agent something does not wait for ever.
        let answer = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}}",
            nested(200)
        );
        let Incoming::Message(message) = read(&answer) else {
            panic!("no message");
        };
        assert!(
            matches!(&*message, JsonRpcMessage::Error(error) if error.id == seven),
            "{message:?}"
        );
        assert_eq!(refused(&nested(200)[1..]), (None, -32700));
    }

    #[test]
    fn a_member_that_is_there_twice_is_refused() {
        for text in [
            r#"{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{},"p\u0061rams":{}}"#,
        ] {
            assert_eq!(refused(text), (Some(RequestId::Number(7)), -32600));
        }
        let text = r#"{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}"#;
        assert_eq!(refused(text), (None, -32600));
    }

    #[test]
    fn a_long_id_is_refused() {
        let id = "x".repeat(1 << 20);
        let text = format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"ping"}}"#);
        assert_eq!(refused(&text), (None, -32600));
    }

    #[test]
    fn reading_takes_linear_time() {
        let meta = |members: usize| {
            let members = (0..members).map(|number| format!("\"m{number}\":1"));
            let members = members.collect::<Vec<_>>().join(",");
            format!(
                r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"a","_meta":{{{members}}}}}}}"#
            )
        };
        dormouse_tests::growth::is_linear("`_meta` of a request", 5_000, meta, |text| {
            assert!(matches!(read(text), Incoming::Message(_)));
        });
    }
}
