//! Reading of a message's outer members, and of as few inner ones as possible.

use dormouse_jsonrpc::{self as jsonrpc, Envelope, MessageError, MessageLimits, Unreadable};
use rmcp::model::RequestId;

use crate::mcp::client::unanswered_questions::{QuestionOutcome, outcome_of};
use crate::mcp::messages::client_notification::ClientNotification;
use crate::mcp::messages::client_request::id_of;
use crate::mcp::messages::error_object::ErrorObject;

/// A message, with the parts that decide who deals with it.
#[derive(Debug)]
pub(super) enum HttpMessage<'a> {
    Request {
        id: RequestId,
        method: String,
        /// Text of its parameters.
        params: Option<&'a str>,
    },
    Notification {
        method: String,
        /// None of one that has no effect.
        content: Option<ClientNotification>,
    },
    /// The answer to a question; with the question's id, if that can be the one of a question.
    Response(Option<RequestId>, QuestionOutcome),
}

/// A text that is no message.
#[derive(Debug)]
pub(super) struct RefusedMessage {
    pub(super) id: Option<RequestId>,
    pub(super) error: ErrorObject,
}

/// Reads a message.
///
/// # Errors
/// The body is no message; with the answer.
pub(super) fn read(body: &[u8]) -> Result<HttpMessage<'_>, Box<RefusedMessage>> {
    let text = std::str::from_utf8(body).map_err(|error| {
        let why = format!("the body is not UTF-8: {error}");
        let error = ErrorObject::parse_error(why);
        Box::new(RefusedMessage { id: None, error })
    })?;
    // Some clients put a byte order mark before it.
    let text = text.trim_start_matches('\u{feff}');
    let envelope = Envelope::read(text, &MessageLimits::default())
        .map_err(|unreadable| refused(*unreadable))?;
    match envelope.message() {
        Ok(jsonrpc::Message::Request { id, method, params }) => match id_of(&id) {
            Some(id) => Ok(HttpMessage::Request {
                id,
                method: method.into_owned(),
                params,
            }),
            None => {
                let error = ErrorObject::invalid_request(MessageError::BadId.to_string());
                Err(Box::new(RefusedMessage { id: None, error }))
            }
        },
        Ok(jsonrpc::Message::Notification { method, params }) => Ok(HttpMessage::Notification {
            content: ClientNotification::read(&method, params),
            method: method.into_owned(),
        }),
        Ok(jsonrpc::Message::Response { id, outcome }) => {
            let id = id.as_ref().and_then(id_of);
            Ok(HttpMessage::Response(id, outcome_of(outcome)))
        }
        Err(unreadable) => Err(refused(*unreadable)),
    }
}

/// Returns the id of a message that is a request.
pub(super) fn request_id(body: &[u8]) -> Option<RequestId> {
    match read(body).ok()? {
        HttpMessage::Request { id, .. } => Some(id),
        _ => None,
    }
}

/// Returns the error with which a text that is no message is answered.
fn refused(message: Unreadable<'_>) -> Box<RefusedMessage> {
    let error = match message.error {
        MessageError::NotJson(why) => {
            ErrorObject::parse_error(format!("the body is not JSON: {why}"))
        }
        why => {
            let why = format!("this is not a JSON-RPC 2.0 message: {why}");
            ErrorObject::invalid_request(why)
        }
    };
    let id = message.id.as_ref().and_then(id_of);
    Box::new(RefusedMessage { id, error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_is_refused_with_its_id() {
        for (body, id, code) in [
            ("", None, -32700),
            ("{", None, -32700),
            (r#"{"jsonrpc":"2.0","id":1,"method":"x"} x"#, None, -32700),
            ("[]", None, -32600),
            (
                r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
                None,
                -32600,
            ),
            (r#"["2.0",1,"ping",{}]"#, None, -32600),
            ("[", None, -32700),
            ("7", None, -32600),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
                None,
                -32600,
            ),
            (r#"{"id":1,"method":"ping"}"#, Some(1), -32600),
            (
                r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
                Some(1),
                -32600,
            ),
            (r#"{"jsonrpc":"2.0","id":1,"method":1}"#, Some(1), -32600),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#,
                Some(1),
                -32600,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
                None,
                -32600,
            ),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, None, -32600),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#,
                Some(1),
                -32600,
            ),
        ] {
            let refused = read(body.as_bytes()).unwrap_err();
            assert_eq!(
                (refused.id, refused.error.code.0),
                (id.map(RequestId::Number), code),
                "{body}"
            );
        }
        assert_eq!(read(b"\"\xff\"").unwrap_err().error.code.0, -32700);
        let response = read(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#).unwrap();
        let HttpMessage::Response(Some(RequestId::Number(1)), Ok(result)) = response else {
            panic!("{response:?}");
        };
        assert_eq!(result, "{}");
        let error = br#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#;
        assert!(matches!(
            read(error).unwrap(),
            HttpMessage::Response(None, Err(_))
        ));
    }
}
