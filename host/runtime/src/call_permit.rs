//! A call's turn among those of its server.

use std::sync::{Arc, Mutex, PoisonError};

use dormouse_protocol::AskError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many calls of one server may wait for answers at once: they run no more, but
/// their instances stay.
const ASKING: usize = 256;

/// Bounds how many calls of a server run at once, and how many of them wait.
#[derive(Clone)]
pub(super) struct Turns {
    running: Arc<Semaphore>,
    asking: Arc<Semaphore>,
}

/// One call's turn, which it gives to another while it waits for an answer: people
/// take their time, and some never answer.
pub(super) struct CallPermit {
    turns: Turns,
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
    pub(super) async fn take(&self) -> Arc<CallPermit> {
        Arc::new(CallPermit {
            turns: self.clone(),
            held: Mutex::new(self.permit().await),
        })
    }

    async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        // There is always one to be had some time: nobody closes the semaphore.
        Arc::clone(&self.running).acquire_owned().await.ok()
    }
}

impl CallPermit {
    /// Gives the turn away until an answer is there.
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
        self.hold(self.turns.permit().await);
        Ok(answer)
    }

    /// Gives the turn away while the upstream works, or keeps it if too many others
    /// have done so: their instances take memory.
    pub(super) async fn lend<T>(&self, work: impl Future<Output = T>) -> T {
        let Ok(_place) = self.turns.asking.try_acquire() else {
            return work.await;
        };
        drop(self.hold(None));
        let result = work.await;
        self.hold(self.turns.permit().await);
        result
    }

    fn hold(&self, held: Option<OwnedSemaphorePermit>) -> Option<OwnedSemaphorePermit> {
        let mut place = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut place, held)
    }
}
