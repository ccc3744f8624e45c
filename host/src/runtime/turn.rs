//! A call's turn among those of its server.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::ask::AskError;

/// How many calls of one server may wait for answers at once: they run no more, but
/// their instances stay.
const ASKING: usize = 256;

/// Bounds how many calls of a server run at once, and how many of them wait.
pub(super) struct Turns {
    running: Arc<Semaphore>,
    asking: Arc<Semaphore>,
}

/// One call's turn, which it gives to another while it waits for an answer: people
/// take their time, and some never answer.
pub(super) struct Turn {
    running: Arc<Semaphore>,
    asking: Arc<Semaphore>,
    held: Mutex<Option<OwnedSemaphorePermit>>,
}

impl Turns {
    pub(super) fn new(running: u32) -> Self {
        Self {
            running: Arc::new(Semaphore::new(running.max(1) as usize)),
            asking: Arc::new(Semaphore::new(ASKING)),
        }
    }

    /// Waits for a turn.
    pub(super) async fn take(&self) -> Arc<Turn> {
        Arc::new(Turn {
            running: Arc::clone(&self.running),
            asking: Arc::clone(&self.asking),
            // Nobody closes it.
            held: Mutex::new(Arc::clone(&self.running).acquire_owned().await.ok()),
        })
    }
}

impl Turn {
    /// Gives the turn away until an answer is there.
    ///
    /// # Errors
    /// Too many calls of this server wait for answers already.
    pub(super) async fn wait<T>(&self, answer: impl Future<Output = T>) -> Result<T, AskError> {
        let Ok(_place) = self.asking.try_acquire() else {
            return Err(AskError::Failed(format!(
                "{ASKING} calls of this server wait for answers already"
            )));
        };
        drop(self.hold(None));
        let answer = answer.await;
        let held = Arc::clone(&self.running).acquire_owned().await.ok();
        self.hold(held);
        Ok(answer)
    }

    fn hold(&self, held: Option<OwnedSemaphorePermit>) -> Option<OwnedSemaphorePermit> {
        let mut place = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut place, held)
    }
}
