//! Events of a stream, and the ids that clients come back with.

use std::fmt;
use std::str::FromStr;

use crate::mcp::http::answers::written::WrittenMessage;

/// Stream and index of an event: no other event of the session has the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct EventId {
    pub(in super::super) index: u64,
    pub(in super::super) stream: u64,
}

impl EventId {
    /// The largest index that is read. No stream comes to it, and a client cannot make a
    /// stream go on from near the end of the numbers.
    pub(in super::super) const MAX_INDEX: u64 = 1 << 62;
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.stream)
    }
}

/// Error: the text that a client came back with is the id of no event.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct NoEvent;

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

/// A message on a stream.
#[derive(Debug, Clone)]
pub(super) struct StoredMessage {
    pub(super) index: u64,
    pub(super) message: WrittenMessage,
}

impl StoredMessage {
    /// Returns about the memory that it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.message.len()
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
            "18446744073709551615/1",
        ] {
            assert_eq!(odd.parse::<EventId>(), Err(NoEvent), "{odd}");
        }
    }
}
