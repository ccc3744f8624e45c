//! Calls of plugins, and what bounds each of them: its time, its turn, and the end of one that is
//! cancelled.

mod call_permit;
mod checked_condition;
mod grace;
mod pace;
mod pausable_deadline;
mod permit_pool;

use std::sync::Arc;
use std::task::Poll;

use dormouse_protocol::{Listener, SessionId};
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

pub(crate) use call_permit::{CallPermit, Turns};
pub(crate) use checked_condition::CheckedCondition;
pub use grace::GRACE;
pub(crate) use grace::Graceful;
pub(crate) use pace::Pace;
#[cfg(test)]
pub(crate) use pace::tests::TestedCondition;
pub(crate) use pausable_deadline::PausableDeadline;

use crate::error::Cause;
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
    /// Condition on which it begins, and goes on after it has waited, if there is one.
    pub condition: Option<Arc<dyn CallCondition>>,
    /// Conditions of the calls of tools that its guest makes at its upstream, if there are any besides.
    pub upstream_condition: Option<UpstreamCallCondition>,
}

/// Condition of a call, checked whenever the call goes on after it may have waited. A user may be asked
/// for it.
pub trait CallCondition: Send + Sync {
    /// Checks it now. The error is the reason why the call does not go on, for the agent.
    fn check(&self) -> BoxFuture<'static, Result<(), String>>;

    /// Returns the tool, by its server's name, where the condition depends on what that is now.
    fn judged_tool(&self) -> Option<String> {
        None
    }
}

impl<F> CallCondition for F
where
    F: Fn() -> BoxFuture<'static, Result<(), String>> + Send + Sync,
{
    fn check(&self) -> BoxFuture<'static, Result<(), String>> {
        self()
    }
}

/// Returns the condition on which a guest's call of a tool of its upstream begins, and goes on after it
/// has waited, by the tool's name and the arguments as JSON text; or the reason for which it cannot hold, so
/// that the upstream need not be connected. Where it does not hold, the guest is told why, and goes on itself.
pub type UpstreamCallCondition =
    Arc<dyn Fn(&str, &str) -> Result<Arc<dyn CallCondition>, String> + Send + Sync>;

impl Call {
    /// Checks its condition before its guest begins, without `permit` while a user is asked.
    pub(crate) async fn check(&self, permit: &CallPermit) -> Result<(), Cause> {
        let Some(condition) = &self.condition else {
            return Ok(());
        };
        loop {
            let mut checking = condition.check();
            if let Poll::Ready(checked) = futures::poll!(&mut checking) {
                return checked.map_err(Cause::Refused);
            }
            // It waits for a permit again then.
            let (checked, _) = permit.lend(checking).await;
            checked.map_err(Cause::Refused)?;
        }
    }
}
