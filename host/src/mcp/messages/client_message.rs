//! Messages of clients, of which as little is read as tells who deals with them.

use dormouse_jsonrpc::{Message, MessageError, MessageLimits, Unreadable, member};
use rmcp::model::RequestId;

use super::client_request::id_of;
use super::error_object::ErrorObject;
use crate::mcp::client::unanswered_questions::{QuestionOutcome, outcome_of};

/// A message of a client, with the parts that decide who deals with it.
#[derive(Debug)]
pub(in crate::mcp) enum ClientMessage<'a> {
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

/// Notifications of clients that have an effect.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::mcp) enum ClientNotification {
    Initialized,
    /// A request is cancelled.
    Cancelled(RequestId),
    RootsChanged,
}

impl<'a> ClientMessage<'a> {
    /// Reads a message from its text.
    ///
    /// # Errors
    /// The text is no message, or is beyond a limit.
    pub(in crate::mcp) fn read(text: &'a str) -> Result<Self, Box<Unreadable<'a>>> {
        match Message::read(without_mark(text), &MessageLimits::default())? {
            Message::Request { id, method, params } => match id_of(&id) {
                Some(id) => Ok(Self::Request {
                    id,
                    method: method.into_owned(),
                    params,
                }),
                None => Err(Box::new(Unreadable {
                    id: None,
                    has_method: true,
                    has_id: true,
                    error: MessageError::BadId,
                })),
            },
            Message::Notification { method, params } => Ok(Self::Notification {
                content: ClientNotification::read(&method, params),
                method: method.into_owned(),
            }),
            Message::Response { id, outcome } => {
                let id = id.as_ref().and_then(id_of);
                Ok(Self::Response(id, outcome_of(outcome)))
            }
        }
    }

    /// Returns the id of a request.
    pub(in crate::mcp) fn request_id(&self) -> Option<&RequestId> {
        match self {
            Self::Request { id, .. } => Some(id),
            Self::Notification { .. } | Self::Response(..) => None,
        }
    }
}

impl ClientNotification {
    /// Reads a notification from the text of its parameters; none of one that has no effect.
    fn read(method: &str, params: Option<&str>) -> Option<Self> {
        match method {
            "notifications/initialized" => Some(Self::Initialized),
            "notifications/cancelled" => {
                let id = member(params?, "requestId")?;
                serde_json::from_str(id).ok().map(Self::Cancelled)
            }
            "notifications/roots/list_changed" => Some(Self::RootsChanged),
            _ => None,
        }
    }
}

/// Returns a message's text without the byte order mark that some clients put before it.
pub(in crate::mcp) fn without_mark(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

/// Returns the error with which a text that is no message is answered.
pub(in crate::mcp) fn unreadable(why: &MessageError) -> ErrorObject {
    match why {
        MessageError::NotJson(why) => ErrorObject::parse_error(format!("this is not JSON: {why}")),
        MessageError::Batch => ErrorObject::invalid_request(why.to_string()),
        why => {
            let why = format!("this is not a JSON-RPC 2.0 message: {why}");
            ErrorObject::invalid_request(why)
        }
    }
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
            let refused = ClientMessage::read(body).unwrap_err();
            assert_eq!(
                (
                    refused.id.as_ref().and_then(id_of),
                    unreadable(&refused.error).code.0
                ),
                (id.map(RequestId::Number), code),
                "{body}"
            );
        }
        let response = ClientMessage::read(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).unwrap();
        let ClientMessage::Response(Some(RequestId::Number(1)), Ok(result)) = response else {
            panic!("{response:?}");
        };
        assert_eq!(result, "{}");
        let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#;
        assert!(matches!(
            ClientMessage::read(error).unwrap(),
            ClientMessage::Response(None, Err(_))
        ));
    }
}
