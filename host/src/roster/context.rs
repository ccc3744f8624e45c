//! Session, cancellation and listener of a call.

use std::sync::Arc;

use dormouse_protocol::{Listener, SessionId};

/// Session, cancellation and listener of a call.
#[derive(Clone)]
pub struct CallContext {
    /// The agent's session, if the call is of one.
    pub session: Option<SessionId>,
    /// Ends the call when cancelled.
    pub cancel: tokio_util::sync::CancellationToken,
    /// Gets the call's notifications and questions.
    pub listener: Arc<dyn Listener>,
}
