//! Stages of a connection in rmcp.

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetMeta as _, JsonRpcMessage, ProtocolVersion, RequestId,
};
use tokio::time::Instant;

/// Stage of a connection in rmcp.
pub(super) enum Stage {
    /// Waits for a request that tells the era. rmcp would hang up on anything but a request.
    Opening,
    /// The stateless era: each request is complete by itself.
    Stateless,
    /// The era with sessions: the handshake is done.
    Session,
    /// A late handshake has come. It is for another service, which begins when all other requests
    /// of this one are answered, or at the given time.
    Leaving(Box<ClientJsonRpcMessage>, RequestId, Instant),
}

impl Stage {
    /// Returns the stage that rmcp goes on to from the first one when it reads a request.
    pub(super) fn after(request: &ClientRequest) -> Self {
        match request {
            ClientRequest::InitializeRequest(_) => Self::Session,
            // These it answers, and waits on.
            ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => Self::Opening,
            request => {
                let meta = request.get_meta();
                let missing = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28);
                let version = meta.protocol_version();
                let is_known = version
                    .is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version));
                // Others are refused.
                if missing.is_empty() && is_known {
                    Self::Stateless
                } else {
                    Self::Opening
                }
            }
        }
    }
}

/// Returns the id of an `initialize` request.
pub(super) fn handshake(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Request(request) => {
            let hello = matches!(request.request, ClientRequest::InitializeRequest(_));
            hello.then_some(&request.id)
        }
        _ => None,
    }
}
