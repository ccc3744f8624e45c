//! Channels that carry messages to and from an upstream.

use std::ops::Deref;
use std::sync::Arc;

use dormouse_egress::EgressError;
use futures::future::BoxFuture;
use serde_json::value::RawValue;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// Connection to one upstream that carries JSON-RPC messages as they are, whole and in order.
/// Handshake, ids and eras are the peer's.
pub(crate) struct Channel {
    /// Sender of messages to the upstream.
    pub(crate) sender: Arc<dyn MessageSender>,
    /// Messages of the upstream. They end when no more can come; [`MessageSender::end_reason`] then
    /// says why.
    pub(crate) incoming: mpsc::Receiver<ReceivedMessage>,
}

/// Message of an upstream.
#[derive(Debug)]
pub(crate) struct ReceivedMessage {
    text: Box<RawValue>,
    /// Request of ours that it is about, where the transport tells: over HTTP, that on whose stream
    /// it has come. A pipe does not tell.
    pub(super) about: Option<u64>,
    /// Its room among the messages that were not handled yet.
    place: Option<OwnedSemaphorePermit>,
}

impl ReceivedMessage {
    /// Creates a message that may be about anything.
    pub(crate) fn new(text: Box<RawValue>) -> Self {
        Self {
            text,
            about: None,
            place: None,
        }
    }

    /// Creates a message about a request.
    pub(crate) fn about(request: u64, text: Box<RawValue>) -> Self {
        Self {
            about: Some(request),
            ..Self::new(text)
        }
    }
}

impl Deref for ReceivedMessage {
    type Target = RawValue;

    fn deref(&self) -> &RawValue {
        &self.text
    }
}

/// Sender of messages to an upstream.
pub(crate) trait MessageSender: Send + Sync {
    /// Sends one message. Over HTTP the answer to a request may have come in before
    /// this returns; no message waits for another's answer.
    ///
    /// # Errors
    /// The message has not reached the upstream, or the upstream has refused to take it.
    fn send(&self, message: Outgoing) -> BoxFuture<'static, Result<(), Lost>>;

    /// Ends the connection in an orderly way, and the process or session behind it.
    fn close(&self) -> BoxFuture<'static, ()>;

    /// Returns the reason for which the upstream says nothing any more, with its last words (the
    /// last lines of a child's stderr, its exit status).
    fn end_reason(&self) -> String;

    /// Whether the upstream has ended before it took all that it was sent: then it cannot have
    /// ended because of that.
    fn has_unread(&self) -> bool {
        false
    }

    /// Returns the id of the upstream's process, where it is a child.
    fn pid(&self) -> Option<u32> {
        None
    }
}

/// Message to an upstream, with the parts that a transport may have to repeat outside of it (HTTP's
/// `Mcp-Method`, `Mcp-Name` and `MCP-Protocol-Version` headers).
#[derive(Debug, Clone, Default)]
pub(crate) struct Outgoing {
    /// The message's text, on one line.
    pub(crate) text: String,
    /// Its method, unless it is a response.
    pub(crate) method: Option<String>,
    /// Its id, where it is a request.
    pub(crate) id: Option<u64>,
    /// The name or URI that it is about, where it has one.
    pub(crate) name: Option<String>,
    /// The protocol version that has been agreed on, or that this proposes; none in
    /// `initialize`, which proposes one in its text.
    pub(crate) version: Option<String>,
}

/// Reason for which a connection could not be made, or does not carry a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    /// The connection could not be made, or has broken.
    #[error("{0}")]
    Broken(String),
    /// The upstream has forgotten the session; a new connection can be made.
    #[error("the upstream has ended the session")]
    Session,
    /// The host has ended the upstream, because it ends itself.
    #[error("Dormouse was ended before it was connected")]
    HostEnds,
    /// The upstream wants to know its user first (HTTP 401).
    #[error("the upstream wants you to log in")]
    Auth {
        /// Its `WWW-Authenticate` header, which says where to log in.
        challenge: Option<String>,
    },
}

impl From<EgressError> for Lost {
    fn from(error: EgressError) -> Self {
        Self::Broken(error.to_string())
    }
}

/// Room for messages that were read and not handled yet, in bytes. Readers wait for room.
#[derive(Debug, Clone)]
pub(crate) struct QueueRoom {
    bytes: Arc<Semaphore>,
    most: u32,
}

impl QueueRoom {
    /// Creates room for one message of the largest size.
    pub(crate) fn new(message_bytes: usize) -> Self {
        let most = u32::try_from(message_bytes).unwrap_or(u32::MAX);
        Self {
            bytes: Arc::new(Semaphore::new(most as usize)),
            most,
        }
    }

    /// Waits for room for a message, and returns the message with it.
    pub(crate) async fn take(&self, mut said: ReceivedMessage) -> ReceivedMessage {
        let bytes = u32::try_from(said.text.get().len()).unwrap_or(self.most);
        let room = Arc::clone(&self.bytes).acquire_many_owned(bytes.min(self.most));
        // Nobody closes it.
        said.place = room.await.ok();
        said
    }
}
