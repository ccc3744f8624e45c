//! Connections of agents.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dormouse_policy::Limits;
use dormouse_protocol::{ClientKey, Listener, SessionClients, SessionId};
use dormouse_runtime::Slot;
use dormouse_upstream::Upstream;
use parking_lot::Mutex;
use serde_json::Value;

use super::Roster;
use super::status::ShownTo;

/// Open sessions.
#[derive(Default)]
pub(super) struct RosterSessions {
    /// Number of sessions that have begun.
    begun: AtomicU64,
    open: Mutex<HashMap<SessionId, RosterSession>>,
    /// Texts about servers for clients without a session that they could not be told yet, by the
    /// servers' names.
    untold: Mutex<BTreeMap<String, String>>,
    /// Exposure of tools that clients without a session were last shown, by the profiles that these
    /// have named.
    shown_without: Mutex<BTreeMap<Option<String>, ShownTo>>,
}

#[derive(Default)]
struct RosterSession {
    /// Client of the session, if it can be sent notifications and questions between its requests.
    client: Option<Arc<dyn Listener>>,
    /// Texts about servers that the client could not be told yet, by the servers' names.
    untold: BTreeMap<String, String>,
    /// Exposure of tools that the client was last shown.
    shown_to: Option<ShownTo>,
}

/// Logger name of Dormouse's own logs to clients.
const LOGGER: &str = "dormouse";

/// Level of the logs on state that a server had kept for a client and that is gone.
const LEVEL: &str = "notice";

impl RosterSessions {
    /// Returns the number of open sessions.
    pub(super) fn count(&self) -> u64 {
        self.open.lock().len() as u64
    }

    /// Returns how tools were last shown to clients, in the order of their sessions.
    pub(super) fn shown_to(&self) -> Vec<ShownTo> {
        let open = self.open.lock();
        let known = open.iter();
        let known = known.filter_map(|(id, session)| Some((id.0, session.shown_to.clone()?)));
        let mut known: Vec<_> = known.collect();
        drop(open);
        known.sort_by_key(|(id, _)| *id);
        let without = self.shown_without.lock().clone();
        known
            .into_iter()
            .map(|(_, one)| one)
            .chain(without.into_values())
            .collect()
    }

    /// Takes the text about a server that the client of a session, or clients without one, could
    /// not be told yet.
    fn take_untold(&self, session: Option<SessionId>, server: &str) -> Option<String> {
        match session {
            Some(session) => self.open.lock().get_mut(&session)?.untold.remove(server),
            None => self.untold.lock().remove(server),
        }
    }
}

impl SessionClients for RosterSessions {
    fn client(&self, session: SessionId) -> Option<Arc<dyn Listener>> {
        self.open.lock().get(&session)?.client.clone()
    }

    fn tell(&self, session: Option<SessionId>, server: &str, text: String) {
        let Some(session) = session else {
            // One for each server: there are no more than are configured.
            self.untold.lock().insert(server.to_owned(), text);
            return;
        };
        let client = self.client(session);
        if let Some(client) = client.filter(|client| client.hears(LEVEL)) {
            return client.log(LEVEL, Some(LOGGER.to_owned()), Value::from(text));
        }
        if let Some(session) = self.open.lock().get_mut(&session) {
            session.untold.insert(server.to_owned(), text);
        }
    }
}

impl Roster {
    /// Begins a session for a new connection of an agent.
    pub fn begin_session(&self) -> SessionId {
        let session = SessionId(1 + self.sessions.begun.fetch_add(1, Ordering::Relaxed));
        self.sessions
            .open
            .lock()
            .insert(session, RosterSession::default());
        session
    }

    /// Sets the client that gets notifications and questions of a session's upstreams which belong
    /// to no call, until the session ends.
    pub fn attend(&self, session: SessionId, client: Arc<dyn Listener>) {
        if let Some(session) = self.sessions.open.lock().get_mut(&session) {
            session.client = Some(client);
        }
    }

    /// Notes how tools are shown to the client of a session, or to those without one.
    pub fn note_shown(&self, session: Option<SessionId>, shown: ShownTo) {
        match session {
            Some(session) => {
                if let Some(session) = self.sessions.open.lock().get_mut(&session) {
                    session.shown_to = Some(shown);
                }
            }
            None => {
                let mut without = self.sessions.shown_without.lock();
                without.insert(shown.profile.clone(), shown);
            }
        }
    }

    /// Takes the text about a server that the client of a session, or clients without one, could
    /// not be told when it happened, because they get no such logs. It is told once.
    pub fn take_untold(&self, session: Option<SessionId>, server: &str) -> Option<String> {
        self.sessions.take_untold(session, server)
    }

    /// Leaves a text about a server for the next result of one of its tools in a session, unless
    /// there is one already.
    pub fn leave_untold(&self, session: SessionId, server: &str, text: String) {
        if let Some(session) = self.sessions.open.lock().get_mut(&session) {
            session.untold.entry(server.to_owned()).or_insert(text);
        }
    }

    /// Ends the session of an agent's closed connection, and drops everything that was kept for it.
    pub fn end_session(&self, session: SessionId) {
        let ended = self.sessions.open.lock().remove(&session);
        drop(ended);
        self.call_decisions
            .end_session(&ClientKey::Session(session));
        for server in self.snapshot().servers().values() {
            if let Some(slot) = server.slot() {
                slot.end_session(session);
            }
        }
    }

    /// Checks whether a server has finished all work that a session has asked of its upstream.
    pub fn is_settled(&self, server: &str, session: SessionId) -> bool {
        let slot = self.slot(server);
        let upstream = slot.as_ref().and_then(|slot| slot.upstream());
        upstream.is_none_or(|upstream| upstream.is_settled(session))
    }

    /// Checks whether a server keeps an instance or a connection for a session, even a shared one.
    pub fn keeps_for(&self, server: &str, session: SessionId) -> bool {
        let slot = self.slot(server);
        slot.is_some_and(|slot| slot.keeps_for(session))
    }

    /// Checks whether an instance or a connection of a server would end with a session.
    pub fn ends_with(&self, server: &str, session: SessionId) -> bool {
        let slot = self.slot(server);
        slot.is_some_and(|slot| slot.ends_with(session))
    }

    /// Checks whether a server is being stopped because it is idle.
    pub fn is_stopping(&self, server: &str) -> bool {
        self.slot(server).is_some_and(|slot| slot.is_stopping())
    }

    /// Checks whether processes run that a server has started for a session. Takes some
    /// milliseconds.
    pub fn has_processes(&self, server: &str, session: SessionId) -> bool {
        let slot = self.slot(server);
        let upstream = slot.as_ref().and_then(|slot| slot.upstream());
        upstream.is_some_and(|upstream| upstream.has_new_processes(session))
    }

    /// Returns the limits of a server, if there is one of that name.
    pub fn limits(&self, server: &str) -> Option<Limits> {
        let snapshot = self.snapshot();
        let server = snapshot.servers().get(server)?;
        Some(server.config().limits.clone())
    }

    fn slot(&self, server: &str) -> Option<Arc<Slot>> {
        let snapshot = self.snapshot();
        snapshot.servers().get(server)?.slot().cloned()
    }

    /// Tells the upstreams of a session that its client wants another log level, and waits until
    /// they have it.
    pub async fn level_changed(&self, session: SessionId) {
        let upstreams = self.upstreams();
        let told = upstreams
            .iter()
            .map(|upstream| upstream.level_changed(session));
        futures::future::join_all(told).await;
    }

    /// Tells the upstreams of a session that its client has other roots. Has to be called inside of
    /// a tokio runtime.
    pub fn roots_changed(&self, session: SessionId) {
        for upstream in self.upstreams() {
            upstream.roots_changed(session);
        }
    }

    /// Waits until the lists whose changes upstreams have announced are read, for a second at most:
    /// a client that lists items after a call has made some finds them there.
    pub async fn lists_settled(&self) {
        let upstreams = self.upstreams();
        let settled = upstreams.iter().map(|upstream| upstream.lists_settled());
        futures::future::join_all(settled).await;
    }

    /// Returns the upstreams of all slots, connected or not.
    fn upstreams(&self) -> Vec<Arc<Upstream>> {
        let snapshot = self.snapshot();
        let slots = snapshot.servers().values().filter_map(|one| one.slot());
        slots.filter_map(|slot| slot.upstream().cloned()).collect()
    }
}
