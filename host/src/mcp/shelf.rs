//! Calls that wait for an answer, between one request of a stateless client and
//! the next.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use anyhow::Context as _;
use rmcp::ErrorData;
use rmcp::model::{RequestStateCodec, SealOptions};
use tokio::task::AbortHandle;

use super::exchange::Suspended;
use crate::runtime::SessionId;

/// How long a call waits for the answer to a question.
pub(super) const PATIENCE: Duration = Duration::from_secs(900);

/// How many calls may wait at once. Where there are more, the one that has waited
/// longest is ended: its person is the least likely still to be there. Half of the
/// pool that instances come from stays free for those that run.
const CAP: usize = 64;

/// The calls that wait. What a client gets to see of one is a sealed number, which
/// fits only the request that the call began with.
pub(super) struct Shelf {
    me: Weak<Self>,
    codec: RequestStateCodec,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    next: u64,
    /// The oldest first.
    calls: BTreeMap<u64, Waits>,
}

/// A call that waits, and the end of its patience.
struct Waits {
    call: Suspended,
    _end: End,
}

/// Wakes up when a call has waited for too long, unless it is dropped before.
struct End(AbortHandle);

impl Drop for End {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Shelf {
    /// With a key of its own, so that no other process's states are good here.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub(super) fn new() -> anyhow::Result<Arc<Self>> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).context("the system gives no random numbers")?;
        let codec = RequestStateCodec::try_new(key)?;
        Ok(Arc::new_cyclic(|me| Self {
            me: me.clone(),
            codec,
            waiting: Mutex::default(),
        }))
    }

    /// Puts a call aside. What it returns is the `requestState` to take it back by.
    pub(super) fn put(&self, call: Suspended) -> String {
        let binding = call.binding();
        let mut waiting = self.waiting();
        let number = waiting.next;
        waiting.next += 1;
        let me = self.me.clone();
        let end = tokio::spawn(async move {
            tokio::time::sleep(PATIENCE).await;
            if let Some(shelf) = me.upgrade() {
                let late = shelf.waiting().calls.remove(&number);
                drop(late);
            }
        });
        let end = End(end.abort_handle());
        waiting.calls.insert(number, Waits { call, _end: end });
        let dropped = (waiting.calls.len() > CAP)
            .then(|| waiting.calls.pop_first())
            .flatten();
        drop(waiting);
        // Ending a call takes its instance down, which nobody should wait for here.
        if dropped.is_some() {
            tracing::warn!("more than {CAP} calls wait for answers; the oldest is ended");
        }
        drop(dropped);
        let options = SealOptions::new().ttl(PATIENCE).associated_data(&binding);
        self.codec.seal_with(&number.to_le_bytes(), &options)
    }

    /// Takes a call back.
    ///
    /// # Errors
    /// The state is not one that this host gave out for this request, or its call
    /// waits no longer.
    pub(super) fn take(&self, state: &str, binding: &[u8]) -> Result<Suspended, ErrorData> {
        let refuse = |why: &str| {
            ErrorData::invalid_params(
                format!("`requestState` {why}\nhint: begin again, without it"),
                None,
            )
        };
        let number = self
            .codec
            .open_with(state, binding)
            .map_err(|error| refuse(&format!("is not one of this request: {error}")))?;
        let number = number
            .try_into()
            .map(u64::from_le_bytes)
            .map_err(|_| refuse("holds something else than a call"))?;
        let call = self.waiting().calls.remove(&number);
        call.map(|waits| waits.call)
            .ok_or_else(|| refuse("names a call that waits no longer"))
    }

    /// Ends the calls of a session that is over.
    pub(super) fn end_session(&self, session: SessionId) {
        let mut ended = Vec::new();
        let mut waiting = self.waiting();
        let numbers: Vec<u64> = waiting
            .calls
            .iter()
            .filter(|(_, waits)| waits.call.session() == Some(session))
            .map(|(number, _)| *number)
            .collect();
        for number in numbers {
            ended.extend(waiting.calls.remove(&number));
        }
        drop(waiting);
        drop(ended);
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // Nothing that is done under this lock can be left half done.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
