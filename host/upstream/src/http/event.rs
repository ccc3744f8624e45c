//! Server-sent event.

use super::message::{self, ReceivedMessages};

/// Server-sent event.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ReceivedEvent {
    /// Its type; empty where it has none, which means `message`.
    pub(super) kind: String,
    /// Its data, the lines joined.
    pub(super) data: String,
    /// Id after which the stream goes on, where the event has one.
    pub(super) id: Option<String>,
}

impl ReceivedEvent {
    /// Reads the messages in the event, if it holds messages: at most `most` of a batch.
    ///
    /// # Errors
    /// The event should hold some, and does not; says why.
    pub(super) fn messages(self, most: usize) -> Result<ReceivedMessages, String> {
        let message = matches!(self.kind.as_str(), "" | "message");
        // One without data only says where to go on.
        if !message || self.data.trim().is_empty() {
            return Ok(ReceivedMessages::default());
        }
        message::parse(&self.data, most)
    }
}
