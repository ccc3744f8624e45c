//! The connections of agents.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_policy::Limits;
use dormouse_protocol::{Listener, SessionClients, SessionId};
use dormouse_runtime::Slot;
use dormouse_upstream::Upstream;
use serde_json::Value;

use super::Roster;

/// The sessions that there are.
#[derive(Default)]
pub(super) struct Sessions {
    /// Number of sessions that have begun.
    begun: AtomicU64,
    open: Mutex<HashMap<SessionId, Session>>,
    /// Text that clients which have no session could not be told of servers, by the names of the
    /// servers.
    untold: Mutex<BTreeMap<String, String>>,
}

#[derive(Default)]
struct Session {
    /// Its client, where that can be told and asked something between its requests.
    client: Option<Arc<dyn Listener>>,
    /// Text that its client could not be told of servers, by the names of the servers.
    untold: BTreeMap<String, String>,
}

/// Name of the logger of what Dormouse itself tells clients.
const LOGGER: &str = "dormouse";

/// Level at which clients are told what has become of what a server has kept for them.
const LEVEL: &str = "notice";

impl Sessions {
    /// Returns the number of open sessions.
    pub(super) fn count(&self) -> u64 {
        self.open().len() as u64
    }

    /// Takes the text that the client of a session, or clients that have none, could not be told of
    /// a server.
    fn take_untold(&self, session: Option<SessionId>, server: &str) -> Option<String> {
        match session {
            Some(session) => self.open().get_mut(&session)?.untold.remove(server),
            None => self.untold().remove(server),
        }
    }

    fn untold(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        // Nothing that is done under this lock can be left half done.
        self.untold.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> MutexGuard<'_, HashMap<SessionId, Session>> {
        // Nothing that is done under this lock can be left half done.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionClients for Sessions {
    fn client(&self, session: SessionId) -> Option<Arc<dyn Listener>> {
        self.open().get(&session)?.client.clone()
    }

    fn tell(&self, session: Option<SessionId>, server: &str, text: String) {
        let Some(session) = session else {
            // One for each server: there are no more than are configured.
            self.untold().insert(server.to_owned(), text);
            return;
        };
        let client = self.client(session);
        if let Some(client) = client.filter(|client| client.hears(LEVEL)) {
            return client.log(LEVEL, Some(LOGGER.to_owned()), Value::from(text));
        }
        if let Some(session) = self.open().get_mut(&session) {
            session.untold.insert(server.to_owned(), text);
        }
    }
}

impl Roster {
    /// A new agent's connection.
    pub fn begin_session(&self) -> SessionId {
        let session = SessionId(1 + self.sessions.begun.fetch_add(1, Ordering::Relaxed));
        self.sessions.open().insert(session, Session::default());
        session
    }

    /// Has the upstreams of a session tell and ask its agent's client what belongs to no
    /// call, until the session ends.
    pub fn attend(&self, session: SessionId, client: Arc<dyn Listener>) {
        if let Some(session) = self.sessions.open().get_mut(&session) {
            session.client = Some(client);
        }
    }

    /// Takes the text that the client of a session, or clients that have none, could not be told of
    /// a server when it happened, because they hear no such logs. It is told once.
    pub fn take_untold(&self, session: Option<SessionId>, server: &str) -> Option<String> {
        self.sessions.take_untold(session, server)
    }

    /// Has the client of a session told something of a server beside the next result of a tool of
    /// its, unless there is something already.
    pub fn leave_untold(&self, session: SessionId, server: &str, text: String) {
        if let Some(session) = self.sessions.open().get_mut(&session) {
            session.untold.entry(server.to_owned()).or_insert(text);
        }
    }

    /// An agent's connection has ended: what was kept for it is let go of.
    pub fn end_session(&self, session: SessionId) {
        let ended = self.sessions.open().remove(&session);
        drop(ended);
        for server in self.snapshot().servers().values() {
            if let Some(slot) = server.slot() {
                slot.end_session(session);
            }
        }
    }

    /// Whether a server is done with all that a session has asked of its upstream.
    pub fn is_settled(&self, server: &str, session: SessionId) -> bool {
        let slot = self.slot(server);
        let upstream = slot.as_ref().and_then(|slot| slot.upstream());
        upstream.is_none_or(|upstream| upstream.is_settled(session))
    }

    /// Whether a server keeps an instance or a connection for a session, be that one shared.
    pub fn keeps_for(&self, server: &str, session: SessionId) -> bool {
        let slot = self.slot(server);
        slot.is_some_and(|slot| slot.keeps_for(session))
    }

    /// Whether an instance or a connection of a server would end with a session.
    pub fn ends_with(&self, server: &str, session: SessionId) -> bool {
        let slot = self.slot(server);
        slot.is_some_and(|slot| slot.ends_with(session))
    }

    /// Whether processes run that a server has started for a session. Takes some milliseconds.
    pub fn has_processes(&self, server: &str, session: SessionId) -> bool {
        let slot = self.slot(server);
        let upstream = slot.as_ref().and_then(|slot| slot.upstream());
        upstream.is_some_and(|upstream| upstream.has_new_processes(session))
    }

    /// Limits of a server, if there is one of that name.
    pub fn limits(&self, server: &str) -> Option<Limits> {
        let snapshot = self.snapshot();
        let server = snapshot.servers().get(server)?;
        Some(server.config().limits.clone())
    }

    fn slot(&self, server: &str) -> Option<Arc<Slot>> {
        let snapshot = self.snapshot();
        snapshot.servers().get(server)?.slot().cloned()
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

    /// Waits until changes of lists that upstreams have told of are known, for a
    /// second at most: a client that lists what a call has made finds it there.
    pub async fn lists_settled(&self) {
        let upstreams = self.upstreams();
        let settled = upstreams.iter().map(|upstream| upstream.lists_settled());
        futures::future::join_all(settled).await;
    }

    /// The upstreams that may be connected.
    fn upstreams(&self) -> Vec<Arc<Upstream>> {
        let snapshot = self.snapshot();
        let slots = snapshot.servers().values().filter_map(|one| one.slot());
        slots.filter_map(|slot| slot.upstream().cloned()).collect()
    }
}
