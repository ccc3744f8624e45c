//! Inbox of one connection, in which messages of all streams of the upstream arrive.

use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::Lost;
use crate::messages::channel::{QueueRoom, ReceivedMessage};

/// Queue of messages for the peer of one connection.
pub(super) struct Inbox {
    /// Sender to the peer. Gone once nothing more can come: that is how the peer notices.
    sender: Mutex<Option<mpsc::Sender<ReceivedMessage>>>,
    room: QueueRoom,
    end_reason: Mutex<Option<String>>,
    /// The end of everything that runs for the connection.
    ended: CancellationToken,
}

impl Inbox {
    /// Creates an inbox, whose messages come out of the receiver.
    pub(super) fn new(message_bytes: usize) -> (Self, mpsc::Receiver<ReceivedMessage>) {
        // Enough for a burst; whoever sends more waits until the peer has read.
        let (sender, receiver) = mpsc::channel(64);
        let inbox = Self {
            sender: Mutex::new(Some(sender)),
            room: QueueRoom::new(message_bytes),
            end_reason: Mutex::new(None),
            ended: CancellationToken::new(),
        };
        (inbox, receiver)
    }

    /// Hands a message to the peer.
    ///
    /// # Errors
    /// The peer has gone, or the connection has been closed.
    pub(super) async fn put(&self, message: ReceivedMessage) -> Result<(), Lost> {
        let sender = self.sender.lock().clone();
        let gone = || Lost::Broken("the connection has been closed".to_owned());
        let sender = sender.ok_or_else(gone)?;
        let message = self.room.take(message).await;
        sender.send(message).await.map_err(|_| gone())
    }

    /// Ends the connection and all that runs for it.
    pub(super) fn close(&self, why: &str) {
        self.note(why);
        *self.sender.lock() = None;
        self.ended.cancel();
    }

    /// Runs something for as long as the connection lasts.
    ///
    /// # Errors
    /// The connection has ended first.
    pub(super) async fn during<T>(&self, work: impl Future<Output = T>) -> Result<T, Lost> {
        match self.ended.run_until_cancelled(work).await {
            Some(done) => Ok(done),
            None => Err(Lost::Broken(self.end_reason().unwrap_or_default())),
        }
    }

    /// Waits for the end of the connection.
    pub(super) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// Keeps the reason for a failure, as the last words of the upstream.
    pub(super) fn note(&self, why: &str) {
        let mut end_reason = self.end_reason.lock();
        // What came first after the end explains it.
        if !self.ended.is_cancelled() {
            *end_reason = Some(why.to_owned());
        }
    }

    /// Returns the last words, if there were any.
    pub(super) fn end_reason(&self) -> Option<String> {
        self.end_reason.lock().clone()
    }
}
