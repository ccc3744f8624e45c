//! Instances that are kept for sessions.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use dormouse_protocol::SessionId;
use parking_lot::Mutex;
use tokio::sync::watch;

use super::instance::Live;
use crate::memory::{ReclaimableInstance, ReclaimableInstances, ServerMemory};

/// A kept instance. The lock is held by the call that uses it.
#[derive(Clone)]
pub(super) struct KeptInstance {
    pub(super) live: Arc<tokio::sync::Mutex<Option<Live>>>,
    /// Number of calls that wait for the lock.
    pub(super) waiting: Arc<watch::Sender<usize>>,
}

impl Default for KeptInstance {
    fn default() -> Self {
        Self {
            live: Arc::default(),
            waiting: Arc::new(watch::Sender::new(0)),
        }
    }
}

/// Exclusive hold on the place of a kept instance.
pub(crate) type KeptInstanceGuard = tokio::sync::OwnedMutexGuard<Option<Live>>;

/// Counts a call while it waits.
pub(super) struct WaitingCall<'a>(&'a watch::Sender<usize>);

impl<'a> WaitingCall<'a> {
    pub(super) fn begin(waiting: &'a watch::Sender<usize>) -> Self {
        waiting.send_modify(|count| *count += 1);
        Self(waiting)
    }
}

impl Drop for WaitingCall<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

/// Instances of one server that are kept for sessions.
pub(super) struct KeptInstances {
    pub(super) server: String,
    pub(super) memory: Arc<ServerMemory>,
    pub(super) sessions: Mutex<HashMap<SessionId, KeptInstance>>,
}

/// A kept instance that no call uses, nor can use for as long as this is held.
struct IdleInstance {
    server: String,
    place: KeptInstanceGuard,
    used: Instant,
}

impl ReclaimableInstances for KeptInstances {
    fn are_of(&self, memory: &ServerMemory) -> bool {
        std::ptr::eq(Arc::as_ptr(&self.memory), memory)
    }

    fn idle(&self) -> Vec<Box<dyn ReclaimableInstance>> {
        let kept: Vec<_> = self.sessions.lock().values().cloned().collect();
        let idle = kept.into_iter().filter_map(|kept| {
            let place = kept.live.try_lock_owned().ok()?;
            let used = place.as_ref()?.used();
            let server = self.server.clone();
            let idle = IdleInstance {
                server,
                place,
                used,
            };
            Some(Box::new(idle) as Box<dyn ReclaimableInstance>)
        });
        idle.collect()
    }
}

impl ReclaimableInstance for IdleInstance {
    fn used(&self) -> Instant {
        self.used
    }

    fn end(mut self: Box<Self>) -> u64 {
        let freed = self.place.take().map_or(0, |live| live.memory());
        tracing::warn!(
            server = %self.server,
            "an idle instance that was kept for a session is ended, because guests need its memory\n\
             hint: `memory` in `[limits]` sets how much all guests may have"
        );
        freed
    }
}
