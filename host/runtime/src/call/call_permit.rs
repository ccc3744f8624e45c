//! Permits for the calls of a server to run.

use std::sync::Arc;

use dormouse_protocol::AskError;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::pace::at_once_or_later;
use super::permit_pool::{PermitPool, PoolPermit};

/// Most calls of one server that wait for answers at once: they do not run, but their instances
/// stay.
const ASKING: usize = 256;

/// Most calls of one server whose schemas are compiled, or whose values are checked with them for
/// long, at once: neither can be ended, and each takes a thread.
const CHECKING: usize = 1;

/// Bounds the number of a server's calls that run at once, of those that wait, and of those whose
/// values are checked.
#[derive(Clone)]
pub(crate) struct Turns {
    running: Arc<PermitPool>,
    asking: Arc<Semaphore>,
    checking: Arc<Semaphore>,
}

/// One call's permit to run, which it gives up while it waits for an answer: people take their
/// time, and some never answer.
pub(crate) struct CallPermit {
    turns: Turns,
    held: Mutex<Option<PoolPermit>>,
}

impl Turns {
    pub(crate) fn new(running: u32) -> Self {
        Self {
            running: PermitPool::new(running.max(1) as usize),
            asking: Arc::new(Semaphore::new(ASKING)),
            checking: Arc::new(Semaphore::new(CHECKING)),
        }
    }

    /// Changes the number of calls that run at once. Those that run go on.
    pub(crate) fn set_running(&self, running: u32) {
        self.running.resize(running.max(1) as usize);
    }

    /// Waits for a permit.
    pub(crate) async fn take(&self) -> Arc<CallPermit> {
        Arc::new(CallPermit {
            turns: self.clone(),
            held: Mutex::new(Some(self.running.take().await)),
        })
    }

    /// Waits until values of the server's calls may be checked for long, or schemas compiled for
    /// that, as long as the returned value is held.
    pub(crate) async fn checking(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.checking).acquire_owned().await.ok()
    }
}

impl CallPermit {
    /// Gives the permit up until an answer is there. Whoever calls this checks then whether the call may
    /// go on.
    ///
    /// # Errors
    /// Too many calls of this server wait for answers already.
    pub(super) async fn wait<T>(&self, answer: impl Future<Output = T>) -> Result<T, AskError> {
        let Ok(_place) = self.turns.asking.try_acquire() else {
            return Err(AskError::Failed(format!(
                "{ASKING} calls of this server wait for answers already"
            )));
        };
        drop(self.hold(None));
        let answer = answer.await;
        self.take_again().await;
        Ok(answer)
    }

    /// Gives the permit up while the upstream works, or keeps it if too many other calls have given
    /// theirs up: their instances take memory. Returns the result, and whether the call has waited for
    /// a permit then: whoever calls this checks then whether it may go on.
    pub(super) async fn lend<T>(&self, work: impl Future<Output = T>) -> (T, bool) {
        let Ok(_place) = self.turns.asking.try_acquire() else {
            return (work.await, false);
        };
        drop(self.hold(None));
        let result = work.await;
        (result, self.take_again().await)
    }

    /// Waits until the call's result may be [checked](Turns::checking). The call counts as running
    /// meanwhile.
    pub(crate) async fn checking(&self) -> Option<OwnedSemaphorePermit> {
        self.turns.checking().await
    }

    /// Takes a permit again. Returns whether the call has waited for it.
    async fn take_again(&self) -> bool {
        let (permit, has_waited) = at_once_or_later(self.turns.running.take()).await;
        self.hold(Some(permit));
        has_waited
    }

    fn hold(&self, held: Option<PoolPermit>) -> Option<PoolPermit> {
        let mut place = self.held.lock();
        std::mem::replace(&mut place, held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn long_checks_are_made_one_after_the_other_for_each_server() {
        let turns = Turns::new(4);
        let (call, other) = (turns.take().await, turns.take().await);
        let of_result = call.checking().await;
        assert!(of_result.is_some());
        assert!(futures::poll!(std::pin::pin!(other.checking())).is_pending());
        assert!(futures::poll!(std::pin::pin!(turns.checking())).is_pending());
        assert!(Turns::new(4).checking().await.is_some());
        drop(of_result);
        assert!(turns.checking().await.is_some());
    }
}
