//! Messages in an agent's lines.

use dormouse_jsonrpc::{Envelope, Line, Message, MessageError, MessageLimits, Unreadable};
use rmcp::model::RequestId;

use crate::mcp::client::client_log;
use crate::mcp::client::unanswered_questions::{QuestionOutcome, outcome_of};
use crate::mcp::messages::client_notification::ClientNotification;
use crate::mcp::messages::client_request::{ClientRequest, id_of};
use crate::mcp::messages::error_object::ErrorObject;
use crate::mcp::messages::message_room::{NoMessageRoom, TakenRoom};
use crate::mcp::messages::client_request::Original;

/// Longest line that is read, in bytes.
pub(in crate::mcp) const MAX_LINE_BYTES: usize = 16 << 20;

/// Message in a line.
pub(in crate::mcp) enum Incoming {
    Request(Box<ClientRequest>),
    Notification(ClientNotification),
    /// The answer to a question.
    Response(RequestId, QuestionOutcome),
    /// The line has no usable message; with the id of the answer, and the error in it.
    Refused(Option<RequestId>, ErrorObject),
    Nothing,
}

/// Returns the text of a line; none at the end of the input.
///
/// # Errors
/// The line is too long or not UTF-8; with the error to answer.
pub(in crate::mcp) fn text(line: Line) -> Option<Result<String, ErrorObject>> {
    let line = match line {
        Line::Whole(line) | Line::Unfinished(line) => line,
        Line::TooLong(_) => {
            client_log::warn(&format!(
                "a message of more than {MAX_LINE_BYTES} bytes was dropped"
            ));
            let message = format!("a message may have at most {MAX_LINE_BYTES} bytes");
            return Some(Err(ErrorObject::invalid_request(message)));
        }
        Line::End => return None,
    };
    Some(String::from_utf8(line).map_err(|_| {
        client_log::warn("a line is not UTF-8");
        ErrorObject::parse_error("the line is not UTF-8")
    }))
}

impl Incoming {
    /// Reads a line whose message has that room.
    pub(in crate::mcp) fn read(line: &str, room: &TakenRoom) -> Self {
        let (text, envelope) = match Self::envelope(line) {
            Ok(read) => read,
            Err(done) => return *done,
        };
        match envelope.message() {
            Ok(Message::Request { id, method, params }) => {
                let Some(id) = id_of(&id) else {
                    let why = MessageError::BadId.to_string();
                    return Self::Refused(None, ErrorObject::invalid_request(why));
                };
                let original = match Original::is_kept_of(&method) {
                    true => Original::new(text.to_owned()),
                    false => Original::default(),
                };
                let read = ClientRequest::read(id.clone(), &method, params, original, room);
                match read {
                    Ok(request) => Self::Request(Box::new(request)),
                    // What no value can hold is no message.
                    Err(error) => {
                        let why = error.message;
                        Self::Refused(Some(id), ErrorObject::invalid_request(why))
                    }
                }
            }
            Ok(Message::Notification { method, params }) => {
                match ClientNotification::read(&method, params) {
                    Some(notification) => Self::Notification(notification),
                    None => Self::Nothing,
                }
            }
            Ok(Message::Response { id, outcome }) => {
                let Some(id) = id.as_ref().and_then(id_of) else {
                    tracing::debug!("an answer that belongs to no question was dropped");
                    return Self::Nothing;
                };
                Self::Response(id, outcome_of(outcome))
            }
            Err(unreadable) => Self::unreadable(*unreadable),
        }
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
    pub(in crate::mcp) fn refused(line: &str, no_room: NoMessageRoom) -> Self {
        let envelope = match Self::envelope(line) {
            Ok((_, envelope)) => envelope,
            Err(done) => return *done,
        };
        let has_method = envelope.method.is_some();
        let is_notification = has_method && envelope.id.is_none();
        let id = envelope.id.as_ref().and_then(id_of);
        answered(id, is_notification, has_method, no_room.error())
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
            MessageError::NotJson(_) => ErrorObject::parse_error(why),
            _ => ErrorObject::invalid_request(why),
        };
        let id = message.id.as_ref().and_then(id_of);
        let is_notification = message.has_method && !message.has_id;
        answered(id, is_notification, message.has_method, error)
    }
}

/// Returns the treatment of a refused message.
fn answered(
    id: Option<RequestId>,
    is_notification: bool,
    has_method: bool,
    error: ErrorObject,
) -> Incoming {
    match id {
        // Nobody waits for an answer to one.
        _ if is_notification => Incoming::Nothing,
        // An answer: whoever has asked is told that there is none.
        Some(id) if !has_method => Incoming::Response(id, Err(error)),
        id => Incoming::Refused(id, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Incoming {
        Incoming::read(text, &TakenRoom::default())
    }

    fn nested(depth: usize) -> String {
        format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth))
    }

    /// Returns the code of the error with which a text is refused, and the id under which it is.
    #[track_caller]
    fn refused(text: &str) -> (Option<RequestId>, i32) {
        match read(text) {
            Incoming::Refused(id, error) => (id, error.code.0),
            _ => panic!("{text} is not refused"),
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
        let Incoming::Response(id, Err(_)) = read(&answer) else {
            panic!("no error");
        };
        assert_eq!(Some(id), seven);
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
            assert!(matches!(read(text), Incoming::Request(_)));
        });
    }
}
