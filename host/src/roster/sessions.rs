//! The connections of agents.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Roster;
use crate::runtime::{Listener, SessionClients, SessionId};
use crate::upstream::Upstream;

/// The sessions that there are.
#[derive(Default)]
pub(super) struct Sessions {
    open: AtomicU64,
    /// How many there were.
    begun: AtomicU64,
    /// Those whose clients can be told and asked something between their requests.
    clients: Mutex<HashMap<SessionId, Arc<dyn Listener>>>,
}

impl Sessions {
    /// How many there are.
    pub(super) fn open(&self) -> u64 {
        self.open.load(Ordering::Relaxed)
    }

    fn clients(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<dyn Listener>>> {
        // Nothing that is done under this lock can be left half done.
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionClients for Sessions {
    fn client(&self, session: SessionId) -> Option<Arc<dyn Listener>> {
        self.clients().get(&session).cloned()
    }
}

impl Roster {
    /// A new agent's connection.
    pub fn begin_session(&self) -> SessionId {
        self.sessions.open.fetch_add(1, Ordering::Relaxed);
        SessionId(1 + self.sessions.begun.fetch_add(1, Ordering::Relaxed))
    }

    /// Has the upstreams of a session tell and ask its agent's client what belongs to no
    /// call, until the session ends.
    pub fn attend(&self, session: SessionId, client: Arc<dyn Listener>) {
        self.sessions.clients().insert(session, client);
    }

    /// An agent's connection has ended: what was kept for it is let go of.
    pub fn end_session(&self, session: SessionId) {
        self.sessions.open.fetch_sub(1, Ordering::Relaxed);
        self.sessions.clients().remove(&session);
        for server in self.snapshot().servers().values() {
            if let Some(slot) = server.slot() {
                slot.end_session(session);
            }
        }
    }

    /// Whether a server is done with all that a session has asked of its upstream.
    pub fn is_settled(&self, server: &str, session: SessionId) -> bool {
        let snapshot = self.snapshot();
        let slot = snapshot.servers().get(server).and_then(|one| one.slot());
        let upstream = slot.and_then(|slot| slot.upstream());
        upstream.is_none_or(|upstream| upstream.is_settled(session))
    }

    /// Has the upstreams of a session know that its client wants to hear other logs,
    /// and waits until they do.
    pub async fn level_changed(&self, session: SessionId) {
        let upstreams = self.upstreams();
        let told = upstreams
            .iter()
            .map(|upstream| upstream.level_changed(session));
        futures::future::join_all(told).await;
    }

    /// Has the upstreams of a session know that its client has other roots. Has to be
    /// called inside of a tokio runtime.
    pub fn roots_changed(&self, session: SessionId) {
        for upstream in self.upstreams() {
            upstream.roots_changed(session);
        }
    }

    /// The upstreams that may be connected.
    fn upstreams(&self) -> Vec<Arc<Upstream>> {
        let snapshot = self.snapshot();
        let slots = snapshot.servers().values().filter_map(|one| one.slot());
        slots.filter_map(|slot| slot.upstream().cloned()).collect()
    }
}
