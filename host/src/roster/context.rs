//! Session, profile, cancellation and listener of a call.

use std::sync::Arc;

use dormouse_protocol::{Listener, SessionId};

/// Session, profile, cancellation and listener of a call.
#[derive(Clone)]
pub struct CallContext {
    /// The agent's session, if the call is of one.
    pub session: Option<SessionId>,
    /// The profile that its agent has named, if any: what that does not have, it does not reach.
    pub profile: Option<Arc<str>>,
    /// Ends the call when cancelled.
    pub cancel: tokio_util::sync::CancellationToken,
    /// Gets the call's notifications and questions.
    pub listener: Arc<dyn Listener>,
}
