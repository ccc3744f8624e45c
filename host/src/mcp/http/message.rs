//! Reading of a message's outer members, and of as few inner ones as possible.

use std::ops::Range;

use dormouse_jsonrpc::{self as jsonrpc, Envelope, MessageError, MessageLimits, Unreadable};
use rmcp::model::{ErrorData, JsonRpcError, RequestId};
use serde::Deserialize;

/// Parts of a message that have to be known to pass it on.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) kind: Kind,
    /// Offset in the text at which the method's name begins, quotation mark included, in bytes.
    pub(super) method: usize,
    /// Range of the parameters in the text, in bytes.
    pub(super) params: Range<usize>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Request {
        id: RequestId,
        method: String,
    },
    /// Notification that the answer to a request is not wanted any more.
    Cancelled(RequestId),
    Notification,
    Response,
}

/// Reads a message.
///
/// # Errors
/// The body is no message; with the answer.
pub(super) fn read(body: &[u8]) -> Result<Message, Box<JsonRpcError>> {
    let refuse = |id, error| Box::new(JsonRpcError::new(id, error));
    let text = std::str::from_utf8(body).map_err(|error| {
        let message = format!("the body is not UTF-8: {error}");
        refuse(None, ErrorData::parse_error(message, None))
    })?;
    let envelope = Envelope::read(text, &MessageLimits::default())
        .map_err(|unreadable| refused(*unreadable))?;
    let method = envelope
        .method
        .map_or(0, |method| place(text, method).start);
    let params = envelope.params.map_or(0..0, |params| place(text, params));
    let kind = match envelope.message() {
        Ok(jsonrpc::Message::Request { id, method, .. }) => match id_of(&id) {
            Some(id) => Kind::Request {
                id,
                method: method.into_owned(),
            },
            None => {
                let error = MessageError::BadId;
                let error = ErrorData::invalid_request(error.to_string(), None);
                return Err(refuse(None, error));
            }
        },
        Ok(jsonrpc::Message::Notification { method, params })
            if method == "notifications/cancelled" =>
        {
            cancelled(params)
        }
        Ok(jsonrpc::Message::Notification { .. }) => Kind::Notification,
        Ok(jsonrpc::Message::Response { .. }) => Kind::Response,
        Err(unreadable) => return Err(refused(*unreadable)),
    };
    Ok(Message {
        kind,
        method,
        params,
    })
}

/// Returns the error with which a text that is no message is answered.
fn refused(message: Unreadable<'_>) -> Box<JsonRpcError> {
    let error = match message.error {
        MessageError::NotJson(why) => {
            ErrorData::parse_error(format!("the body is not JSON: {why}"), None)
        }
        why => {
            let why = format!("this is not a JSON-RPC 2.0 message: {why}");
            ErrorData::invalid_request(why, None)
        }
    };
    Box::new(JsonRpcError::new(
        message.id.as_ref().and_then(id_of),
        error,
    ))
}

fn id_of(id: &jsonrpc::RequestId<'_>) -> Option<RequestId> {
    serde_json::from_str(id.as_str()).ok()
}

/// A notification that a request is cancelled, if it says which.
fn cancelled(params: Option<&str>) -> Kind {
    #[derive(Deserialize)]
    struct Cancelled {
        #[serde(rename = "requestId")]
        id: RequestId,
    }
    let cancelled = params.map(serde_json::from_str::<Cancelled>);
    match cancelled {
        Some(Ok(cancelled)) => Kind::Cancelled(cancelled.id),
        _ => Kind::Notification,
    }
}

/// Returns the range of a part of a text in it, in bytes.
fn place(text: &str, part: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + part.len()
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
        assert_eq!(response.kind, Kind::Response);
        let error = br#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#;
        assert_eq!(read(error).unwrap().kind, Kind::Response);
    }
}
