//! What an agent's lines say.

use dormouse_catalog::json;
use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, GetExtensions as _, JsonRpcMessage, RequestId};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::lines::{Input, LONGEST};
use super::original::Original;
use super::verbatim;

/// What a line says.
pub(super) enum Incoming {
    Message(Box<ClientJsonRpcMessage>),
    /// Nothing that makes sense; what is answered to it, and under which id.
    Refused(Option<RequestId>, ErrorData),
    Nothing,
}

impl Incoming {
    pub(super) fn read(line: Input) -> Self {
        let line = match line {
            Input::Text(line) => line,
            Input::TooLong => {
                tracing::warn!("a message of more than {LONGEST} bytes was dropped");
                let message = format!("a message may have at most {LONGEST} bytes");
                return Self::Refused(None, ErrorData::invalid_request(message, None));
            }
            Input::NotUtf8 => {
                tracing::warn!("a line is not UTF-8");
                let message = "the line is not UTF-8";
                return Self::Refused(None, ErrorData::parse_error(message, None));
            }
        };
        let text = line.trim_start_matches('\u{feff}');
        if text.trim().is_empty() {
            return Self::Nothing;
        }
        match serde_json::from_str::<ClientJsonRpcMessage>(text) {
            Ok(mut message) => {
                match &mut message {
                    JsonRpcMessage::Request(request)
                        if Original::is_kept_of(request.request.method()) =>
                    {
                        let original = Original::new(line);
                        request.request.extensions_mut().insert(original);
                    }
                    JsonRpcMessage::Response(response) => verbatim::response(response, text),
                    _ => {}
                }
                Self::Message(Box::new(message))
            }
            Err(_) => match serde_json::from_str::<Value>(text) {
                Ok(value) => refuse(&value),
                Err(error) if serde_json::from_str::<IgnoredAny>(text).is_ok() => {
                    unreadable(text, &error)
                }
                Err(error) => {
                    tracing::warn!("a line is not JSON: {error}");
                    let message = format!("the line is not JSON: {error}");
                    Self::Refused(None, ErrorData::parse_error(message, None))
                }
            },
        }
    }
}

/// The answer to JSON that is no message.
fn refuse(value: &Value) -> Incoming {
    // A notification has no id, and nobody waits for an answer to one.
    if value.get("method").is_some() && value.get("id").is_none() {
        tracing::debug!("a notification that makes no sense was dropped");
        return Incoming::Nothing;
    }
    let id = value
        .get("id")
        .and_then(|id| serde_json::from_value(id.clone()).ok());
    let message = if value.is_array() {
        "batches are not part of this revision: send one message a line"
    } else {
        "this is not a JSON-RPC 2.0 message of MCP"
    };
    Incoming::Refused(id, ErrorData::invalid_request(message, None))
}

/// What is done about JSON that no value can hold, because it is nested too deeply or
/// has a number that is too large: whoever waits for an answer is told.
fn unreadable(text: &str, error: &serde_json::Error) -> Incoming {
    tracing::warn!("a message cannot be read: {error}");
    let why = format!("this message cannot be read: {error}");
    let error = ErrorData::invalid_request(why, None);
    let id = json::member(text, "id").and_then(|id| serde_json::from_str(id).ok());
    match (id, json::member(text, "method")) {
        (None, Some(_)) => Incoming::Nothing,
        // An answer: whoever has asked is told that there is none.
        (Some(id), None) => {
            Incoming::Message(Box::new(ClientJsonRpcMessage::error(error, Some(id))))
        }
        (id, _) => Incoming::Refused(id, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Incoming {
        Incoming::read(Input::Text(text.to_owned()))
    }

    fn nested(depth: usize) -> String {
        format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth))
    }

    /// What is refused, and under which id.
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
}
