//! Events of a stream, and the ids that clients come back with.

use std::fmt;
use std::io;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::model::{
    CustomResult, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse, ServerJsonRpcMessage,
    ServerNotification, ServerRequest, ServerResult,
};
use serde_json::Value;

/// Stream and index of an event: no other event of the session has the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EventId {
    pub(super) index: u64,
    pub(super) stream: u64,
}

impl EventId {
    /// The largest index that is read. No stream comes to it, and a client cannot make a
    /// stream go on from near the end of the numbers.
    pub(super) const MAX_INDEX: u64 = 1 << 62;
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.stream)
    }
}

/// Error: the text that a client came back with is the id of no event.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoEvent;

impl FromStr for EventId {
    type Err = NoEvent;

    fn from_str(text: &str) -> Result<Self, NoEvent> {
        let (index, stream) = text.split_once('/').ok_or(NoEvent)?;
        let index = index.parse().map_err(|_| NoEvent)?;
        if index > Self::MAX_INDEX {
            return Err(NoEvent);
        }
        Ok(Self {
            index,
            stream: stream.parse().map_err(|_| NoEvent)?,
        })
    }
}

/// Most memory that all messages of all sessions take together that are kept or are not read yet,
/// in bytes, before a long answer is refused.
const MAX_KEPT_BYTES: usize = 256 << 20;

/// Answers up to that length, in bytes, are kept whatever there is.
const SHORT_BYTES: usize = 16 << 10;

/// Memory of all messages of all sessions that are kept or are not read yet, in bytes.
static KEPT_BYTES: AtomicUsize = AtomicUsize::new(0);

/// A message, and about how much memory it takes.
#[derive(Debug, Clone)]
pub(super) struct StoredMessage {
    pub(super) message: Arc<ServerJsonRpcMessage>,
    pub(super) bytes: usize,
    _kept: Arc<KeptBytes>,
}

impl StoredMessage {
    /// Checks whether it is an answer for which there is no room: clients may leave any number of
    /// them unread, and the server has to keep these.
    pub(super) fn has_no_room(&self) -> bool {
        self.bytes > SHORT_BYTES && KEPT_BYTES.load(Ordering::Relaxed) > MAX_KEPT_BYTES
    }
}

/// Counts memory of a message as long as it is there.
#[derive(Debug)]
struct KeptBytes(usize);

impl KeptBytes {
    fn new(bytes: usize) -> Self {
        KEPT_BYTES.fetch_add(bytes, Ordering::Relaxed);
        Self(bytes)
    }
}

impl Drop for KeptBytes {
    fn drop(&mut self) {
        KEPT_BYTES.fetch_sub(self.0, Ordering::Relaxed);
    }
}

impl From<ServerJsonRpcMessage> for StoredMessage {
    fn from(message: ServerJsonRpcMessage) -> Self {
        let bytes = size_of_val(&message) + content(&message);
        Self {
            bytes,
            message: Arc::new(message),
            _kept: Arc::new(KeptBytes::new(bytes)),
        }
    }
}

/// Returns about the length of a message. Writing it only to know that takes long where it is long,
/// and then most of it is a value.
fn content(message: &ServerJsonRpcMessage) -> usize {
    match message {
        ServerJsonRpcMessage::Response(JsonRpcResponse {
            result: ServerResult::CustomResult(CustomResult(value)),
            ..
        }) => size(value),
        ServerJsonRpcMessage::Request(JsonRpcRequest {
            request: ServerRequest::CustomRequest(asked),
            ..
        }) => asked.params.as_ref().map_or(0, size),
        ServerJsonRpcMessage::Notification(JsonRpcNotification {
            notification: ServerNotification::CustomNotification(said),
            ..
        }) => said.params.as_ref().map_or(0, size),
        other => {
            let mut written = Written(0);
            // Counting cannot fail, and what cannot be written goes out nowhere.
            let _ = serde_json::to_writer(&mut written, other);
            written.0
        }
    }
}

/// Returns the memory that a value takes, in bytes.
pub(in super::super) fn size(value: &Value) -> usize {
    let within = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| name.len() + size(value))
            .sum(),
    };
    size_of_val(value) + within
}

/// A message on a stream.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) index: u64,
    pub(super) said: StoredMessage,
}

/// Counts the bytes that are written to it.
struct Written(usize);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_long_is_said_to_be() {
        let long = "x".repeat(100_000);
        for message in [
            json!({ "id": 1, "result": { "content": [{ "text": &long }] } }),
            json!({ "id": 1, "result": &long }),
            json!({ "id": 1, "result": { "tools": [], "nextCursor": &long } }),
            json!({ "id": 1, "error": { "code": 1, "message": "", "data": &long } }),
            json!({ "id": 1, "method": "a/b", "params": { &long: 1 } }),
            json!({ "method": "notifications/message",
                "params": { "level": "info", "data": [&long] } }),
            json!({ "method": "notifications/progress",
                "params": { "progressToken": 1, "progress": 1, "message": &long } }),
        ] {
            let mut message = message;
            message["jsonrpc"] = json!("2.0");
            let message: ServerJsonRpcMessage = serde_json::from_value(message).unwrap();
            let bytes = StoredMessage::from(message).bytes;
            assert!((100_000..110_000).contains(&bytes), "{bytes}");
        }
    }

    #[test]
    fn an_id_is_read_as_it_is_written() {
        let id = EventId {
            index: 7,
            stream: 12,
        };
        assert_eq!(id.to_string(), "7/12");
        assert_eq!("7/12".parse(), Ok(id));
        for odd in [
            "",
            "7",
            "/",
            "7/",
            "/12",
            "7/12/1",
            "-1/2",
            "7/x",
            "99999999999999999999/1",
            "18446744073709551615/1",
        ] {
            assert_eq!(odd.parse::<EventId>(), Err(NoEvent), "{odd}");
        }
    }
}
