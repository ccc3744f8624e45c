//! JSON-RPC 2.0, one message a line.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

/// An error as JSON-RPC tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct RpcError {
    /// JSON-RPC's number for the kind of error.
    pub code: i64,
    /// What is wrong, for people.
    pub message: String,
}

impl RpcError {
    pub(super) fn unknown_method(method: &str) -> Self {
        Self {
            code: -32601,
            message: format!("there is no method `{}`", method.escape_debug()),
        }
    }

    pub(super) fn bad_params(why: impl std::fmt::Display) -> Self {
        Self {
            code: -32602,
            message: format!("the parameters are wrong: {why}"),
        }
    }

    /// The method was understood and failed.
    pub(super) fn failed(error: &anyhow::Error) -> Self {
        Self {
            code: -32000,
            message: format!("{error:#}"),
        }
    }

    fn invalid(code: i64, why: impl std::fmt::Display) -> Self {
        Self {
            code,
            message: format!("this is no request: {why}"),
        }
    }
}

/// A request that a host was sent.
#[derive(Debug, PartialEq)]
pub(super) struct Request {
    /// None in a notification, which gets no answer.
    pub(super) id: Option<Value>,
    pub(super) method: String,
    pub(super) params: Value,
}

/// Reads a request from a line.
pub(super) fn request(line: &[u8]) -> Result<Request, RpcError> {
    #[derive(Deserialize)]
    struct Envelope {
        jsonrpc: String,
        #[serde(default, deserialize_with = "present")]
        id: Option<Value>,
        method: String,
        #[serde(default)]
        params: Value,
    }
    /// An id of null is an id; only none at all makes a notification.
    fn present<'de, D: serde::Deserializer<'de>>(d: D) -> Result<Option<Value>, D::Error> {
        Value::deserialize(d).map(Some)
    }
    let value: Value =
        serde_json::from_slice(line).map_err(|error| RpcError::invalid(-32700, error))?;
    let envelope: Envelope =
        serde_json::from_value(value).map_err(|error| RpcError::invalid(-32600, error))?;
    if envelope.jsonrpc != "2.0" {
        return Err(RpcError::invalid(-32600, "it is not JSON-RPC 2.0"));
    }
    Ok(Request {
        id: envelope.id,
        method: envelope.method,
        params: envelope.params,
    })
}

/// The line of an answer.
pub(super) fn answer(id: &Value, outcome: &Result<Value, RpcError>) -> String {
    match outcome {
        Ok(result) => line(&json!({ "jsonrpc": "2.0", "id": id, "result": result })),
        Err(error) => line(&json!({ "jsonrpc": "2.0", "id": id, "error": error })),
    }
}

/// The line of a message.
pub(super) fn line(message: &Value) -> String {
    format!("{message}\n")
}

/// Reads one line of at most `limit` bytes; none at the end.
pub(super) async fn read_line(
    from: &mut (impl AsyncBufRead + Unpin),
    limit: u64,
) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    from.take(limit).read_until(b'\n', &mut line).await?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') {
        // Either the other side went away in the middle of a line, or will not
        // come to its end.
        let kind = match line.len() as u64 == limit {
            true => io::ErrorKind::InvalidData,
            false => io::ErrorKind::UnexpectedEof,
        };
        return Err(kind.into());
    }
    Ok(Some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_and_others_are_told_why_not() {
        let good = request(br#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}"#).unwrap();
        assert_eq!(
            good,
            Request {
                id: Some(json!(1)),
                method: "m".to_owned(),
                params: json!({ "a": 1 }),
            }
        );
        let notification = request(br#"{"jsonrpc":"2.0","method":"m"}"#).unwrap();
        assert_eq!((notification.id, notification.params), (None, Value::Null));
        let null = request(br#"{"jsonrpc":"2.0","method":"m","id":null}"#).unwrap();
        assert_eq!(null.id, Some(Value::Null));
        for (bad, code) in [
            (&b"{"[..], -32700),
            (b"\xff", -32700),
            (b"[]", -32600),
            (b"1", -32600),
            (br#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, -32600),
            (br#"{"jsonrpc":"2.0","id":1}"#, -32600),
        ] {
            assert_eq!(request(bad).unwrap_err().code, code, "{bad:?}");
        }
    }

    #[tokio::test]
    async fn lines_have_a_limit() {
        let mut from = &b"one\n\ntoolong\n"[..];
        assert_eq!(read_line(&mut from, 6).await.unwrap().unwrap(), b"one\n");
        assert_eq!(read_line(&mut from, 6).await.unwrap().unwrap(), b"\n");
        let error = read_line(&mut from, 6).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert_eq!(read_line(&mut &b""[..], 6).await.unwrap(), None);
        let error = read_line(&mut &b"cut"[..], 6).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
