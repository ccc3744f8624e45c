//! One event of a stream, and the id that a client comes back with.

use std::fmt;
use std::io;
use std::str::FromStr;
use std::sync::Arc;

use rmcp::model::ServerJsonRpcMessage;

use crate::mcp::verbatim::{self, Text};

/// Which event of which stream: no other of the session has the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EventId {
    pub(super) index: u64,
    pub(super) stream: u64,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.stream)
    }
}

/// What a client came back with is the id of no event.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoEvent;

impl FromStr for EventId {
    type Err = NoEvent;

    fn from_str(text: &str) -> Result<Self, NoEvent> {
        let (index, stream) = text.split_once('/').ok_or(NoEvent)?;
        Ok(Self {
            index: index.parse().map_err(|_| NoEvent)?,
            stream: stream.parse().map_err(|_| NoEvent)?,
        })
    }
}

/// A message, and about how much memory it takes.
#[derive(Debug, Clone)]
pub(super) struct Said {
    pub(super) message: Arc<ServerJsonRpcMessage>,
    pub(super) bytes: usize,
}

impl From<ServerJsonRpcMessage> for Said {
    fn from(message: ServerJsonRpcMessage) -> Self {
        let mut written = Written(size_of_val(&message));
        match verbatim::text(&message) {
            // What is long is text already, mostly.
            Some(Text::Result(text) | Text::Params(_, text)) => written.0 += text.len(),
            // Counting cannot fail, and what cannot be written goes out nowhere.
            None => drop(serde_json::to_writer(&mut written, &message)),
        }
        Self {
            bytes: written.0,
            message: Arc::new(message),
        }
    }
}

/// A message on a stream.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) index: u64,
    pub(super) said: Said,
}

/// Counts what is written to it.
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
    use super::*;

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
        ] {
            assert_eq!(odd.parse::<EventId>(), Err(NoEvent), "{odd}");
        }
    }
}
