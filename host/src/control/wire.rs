//! JSON-RPC 2.0, one message a line.

use std::io;

use dormouse_jsonrpc::{Line, LineReader, Message, MessageLimits, RequestId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::AsyncBufRead;

/// An error of JSON-RPC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct RpcError {
    /// JSON-RPC's number for the kind of error.
    pub code: i64,
    /// Message about the error, for people.
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

/// Reads a request from a line.
///
/// # Errors
/// The line is no request; with its id, where that is known.
pub(super) fn request(line: &str) -> Result<Message<'_>, (RequestId<'static>, RpcError)> {
    Message::read(line, &MessageLimits::default()).map_err(|unreadable| {
        let id = unreadable.id.unwrap_or(RequestId::new("null")).into_owned();
        let code = unreadable.error.code();
        (id, RpcError::invalid(code, unreadable.error))
    })
}

/// The line of an answer.
pub(super) fn answer(id: &RequestId<'_>, outcome: &Result<Value, RpcError>) -> String {
    let text = match outcome {
        Ok(result) => dormouse_jsonrpc::response(id.as_str(), &result.to_string()),
        Err(RpcError { code, message }) => {
            dormouse_jsonrpc::error(id.as_str(), *code, message, None)
        }
    };
    format!("{text}\n")
}

/// Reads the next line; none at the end.
///
/// # Errors
/// The line is too long, is cut off, is not UTF-8, or cannot be read.
pub(super) async fn read_line(
    lines: &mut LineReader<impl AsyncBufRead + Unpin>,
) -> io::Result<Option<String>> {
    let line = match lines.next().await? {
        Line::Whole(line) => line,
        Line::Unfinished(_) => return Err(io::ErrorKind::UnexpectedEof.into()),
        Line::TooLong(_) => return Err(io::ErrorKind::InvalidData.into()),
        Line::End => return Ok(None),
    };
    let text = String::from_utf8(line);
    text.map(Some)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_and_others_are_told_why_not() {
        let good = request(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}"#).unwrap();
        let (id, method, params) = (RequestId::new("1"), "m".into(), Some(r#"{"a":1}"#));
        assert_eq!(good, Message::Request { id, method, params });
        for (bad, code) in [
            ("{", -32700),
            ("[]", -32600),
            ("1", -32600),
            (r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#, -32600),
        ] {
            assert_eq!(request(bad).unwrap_err().1.code, code, "{bad:?}");
        }
    }

    #[tokio::test]
    async fn lines_have_a_limit() {
        let mut lines = LineReader::new(&b"one\n\ntoolong\n"[..], 5);
        assert_eq!(read_line(&mut lines).await.unwrap().unwrap(), "one");
        assert_eq!(read_line(&mut lines).await.unwrap().unwrap(), "");
        let error = read_line(&mut lines).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        let mut cut = LineReader::new(&b"cut"[..], 5);
        let error = read_line(&mut cut).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(read_line(&mut cut).await.unwrap(), None);
    }
}
