//! Calls of plugins, and what bounds each of them: its time, its turn, and the end of one that is
//! cancelled.

mod call_permit;
mod grace;
mod pace;
mod pausable_deadline;

use std::sync::Arc;

use dormouse_protocol::{Listener, SessionId};
use tokio_util::sync::CancellationToken;

pub(crate) use call_permit::{CallPermit, Turns};
pub use grace::GRACE;
pub(crate) use grace::Graceful;
pub(crate) use pace::Pace;
pub(crate) use pausable_deadline::PausableDeadline;

use crate::request::GuestRequest;

/// A call of a plugin.
pub struct Call {
    /// The request to the plugin.
    pub wanted: GuestRequest,
    /// The agent's session, for plugins and upstreams that are kept for one; none where its
    /// requests belong to no connection.
    pub session: Option<SessionId>,
    /// Ends the call when cancelled, and is cancelled when nobody waits for the call any more: its
    /// guest can see that, and has [`GRACE`] to end by itself.
    pub cancel: CancellationToken,
    /// Receives the plugin's messages while it runs, and answers its questions.
    pub listener: Arc<dyn Listener>,
    /// Condition on which its requests go to an upstream, if there is one.
    pub condition: Option<CallCondition>,
}

/// Condition of a call, checked whenever an upstream has been connected for it. The error is the
/// reason why the call does not go on, for the agent.
pub type CallCondition = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;
