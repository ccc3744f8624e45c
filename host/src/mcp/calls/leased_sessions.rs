//! Sessions for calls of clients that have none: each session is for one call at a time, and the
//! next call of such a client gets the session of the call before it, with the state that its
//! server has kept.

mod ending;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use dormouse_protocol::SessionId;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::mcp::common::Common;
use ending::{Reason, to_end};

/// Least and most time between two searches for sessions that have waited for too long. Within
/// these bounds it is the shortest time that one of their servers allows.
const LOOK_INTERVAL: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// Most sessions that wait for the calls of one client to one server: each may have a process.
const MAX_IDLE_SESSIONS: usize = 4;

/// Most sessions that wait for the calls of all clients. Those for which a server keeps nothing are
/// ended, so that there are hardly more than connections.
const MAX_ALL_SESSIONS: usize = 1024;

/// Most texts that are kept for clients that have not called again.
const MAX_UNTOLD: usize = 1024;

/// Key of calls that may have the same session, one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct LeaseKey {
    server: String,
    /// Client, by the name that it gives itself.
    client: String,
}

#[derive(Debug, Clone, Copy)]
struct IdleSession {
    id: SessionId,
    since: Instant,
}

/// Sessions that wait for their next call.
#[derive(Debug, Default)]
pub(in crate::mcp) struct LeasedSessions {
    pool: Mutex<Pool>,
    /// Notified when more sessions wait than may.
    surplus: Notify,
}

#[derive(Debug, Default)]
struct Pool {
    idle: HashMap<LeaseKey, Vec<IdleSession>>,
    /// Number of sessions that wait.
    count: usize,
    untold: Untold,
    /// Whether a task ends sessions that have waited for too long.
    is_watched: bool,
}

/// Texts on sessions that have ended, kept until the next call of their client.
#[derive(Debug, Default)]
struct Untold {
    texts: HashMap<LeaseKey, String>,
    /// Keys of the texts, the oldest first.
    order: VecDeque<LeaseKey>,
}

/// Session of one running call. With the call it ends, or waits for the next one.
pub(in crate::mcp) struct LeasedSession {
    common: Arc<Common>,
    key: LeaseKey,
    id: SessionId,
}

impl Untold {
    fn put(&mut self, key: LeaseKey, text: String) {
        if self.texts.insert(key.clone(), text).is_some() {
            return;
        }
        self.order.push_back(key);
        if self.order.len() > MAX_UNTOLD
            && let Some(oldest) = self.order.pop_front()
        {
            self.texts.remove(&oldest);
        }
    }

    fn take(&mut self, key: &LeaseKey) -> Option<String> {
        let text = self.texts.remove(key)?;
        self.order.retain(|other| other != key);
        Some(text)
    }
}

impl Pool {
    fn take(&mut self, key: &LeaseKey) -> Option<SessionId> {
        let idle = self.idle.get_mut(key)?;
        // What the last call has left is in the one that was used last.
        let last = idle.pop();
        if idle.is_empty() {
            self.idle.remove(key);
        }
        self.count -= usize::from(last.is_some());
        last.map(|session| session.id)
    }

    /// Makes a session wait. Returns true where more sessions wait now than may.
    fn put(&mut self, key: &LeaseKey, id: SessionId) -> bool {
        let idle = self.idle.entry(key.clone()).or_default();
        let since = Instant::now();
        idle.push(IdleSession { id, since });
        self.count += 1;
        idle.len() > MAX_IDLE_SESSIONS || self.count > MAX_ALL_SESSIONS
    }

    /// Takes a session out. Returns whether it still waited.
    fn remove(&mut self, key: &LeaseKey, id: SessionId) -> bool {
        let Some(idle) = self.idle.get_mut(key) else {
            return false;
        };
        let before = idle.len();
        idle.retain(|session| session.id != id);
        let removed = before - idle.len();
        if idle.is_empty() {
            self.idle.remove(key);
        }
        self.count -= removed;
        removed > 0
    }
}

impl LeasedSession {
    /// Returns a session for a call of a client to a server: a waiting one, or else a new one.
    pub(in crate::mcp) fn of(common: &Arc<Common>, server: &str, client: &str) -> Self {
        let key = LeaseKey {
            server: server.to_owned(),
            client: client.to_owned(),
        };
        let mut pool = common.leased_sessions.pool.lock();
        let (waiting, untold) = (pool.take(&key), pool.untold.take(&key));
        drop(pool);
        let id = waiting.unwrap_or_else(|| common.roster.begin_session());
        if let Some(text) = untold {
            common.roster.leave_untold(id, server, text);
        }
        Self {
            common: Arc::clone(common),
            id,
            key,
        }
    }

    pub(in crate::mcp) fn id(&self) -> SessionId {
        self.id
    }
}

impl Drop for LeasedSession {
    fn drop(&mut self) {
        let common = &self.common;
        // What is asked in a session that somebody has given up a call in may be about that.
        let is_settled = common.roster.is_settled(&self.key.server, self.id);
        let runtime = tokio::runtime::Handle::try_current();
        let (Ok(runtime), true) = (runtime, is_settled) else {
            return end(common, &self.key, self.id, Reason::GivenUp);
        };
        let mut pool = common.leased_sessions.pool.lock();
        let is_surplus = pool.put(&self.key, self.id);
        let is_watched = std::mem::replace(&mut pool.is_watched, true);
        drop(pool);
        if is_surplus {
            common.leased_sessions.surplus.notify_one();
        }
        if !is_watched {
            runtime.spawn(end_old_ones(Arc::clone(common)));
        }
    }
}

/// Ends a session that waits no longer. The text on that goes with the next call of its client to
/// this server, if the server kept anything for the session.
fn end(common: &Common, key: &LeaseKey, id: SessionId, reason: Reason) {
    let roster = &common.roster;
    let untold = roster.take_untold(Some(id), &key.server);
    let is_lost = roster.ends_with(&key.server, id);
    let untold = untold.or_else(|| is_lost.then(|| reason.text(&key.server)));
    if let Some(text) = untold {
        common
            .leased_sessions
            .pool
            .lock()
            .untold
            .put(key.clone(), text);
    }
    common.end_session(id);
}

/// Ends sessions that have waited for too long and those that are too many, until none waits.
async fn end_old_ones(common: Arc<Common>) {
    loop {
        let leased = &common.leased_sessions;
        tokio::select! {
            () = tokio::time::sleep(look_interval(&common)) => {}
            () = leased.surplus.notified() => {}
        }
        let idle = leased.pool.lock().idle.clone();
        let judging = Arc::clone(&common);
        // What processes there are is read from the system.
        let judged = tokio::task::spawn_blocking(move || {
            to_end(&idle, Instant::now(), judging.roster.as_ref())
        });
        for (key, id, reason) in judged.await.unwrap_or_default() {
            // It may have been taken meanwhile.
            let is_idle = leased.pool.lock().remove(&key, id);
            if is_idle {
                end(&common, &key, id, reason);
            }
        }
        let mut pool = leased.pool.lock();
        pool.is_watched = !pool.idle.is_empty();
        if !pool.is_watched {
            return;
        }
    }
}

/// Returns the time until the next search for sessions that have waited for too long.
fn look_interval(common: &Common) -> Duration {
    let pool = common.leased_sessions.pool.lock();
    let keys = pool.idle.keys();
    let waits = keys.filter_map(|key| Some(common.roster.limits(&key.server)?.idle));
    let shortest = waits.min().unwrap_or_default();
    shortest.clamp(LOOK_INTERVAL.0, LOOK_INTERVAL.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(server: &str, client: &str) -> LeaseKey {
        LeaseKey {
            server: server.to_owned(),
            client: client.to_owned(),
        }
    }

    #[test]
    fn the_next_call_of_a_client_gets_the_session_of_the_last_one() {
        let (one, other) = (key("a", "c"), key("a", "d"));
        let mut pool = Pool::default();
        assert_eq!(pool.take(&one), None);
        for id in 1..=4 {
            assert!(!pool.put(&one, SessionId(id)));
        }
        assert!(pool.put(&one, SessionId(5)));
        assert_eq!(pool.take(&other), None);
        assert_eq!(pool.take(&key("b", "c")), None);
        assert_eq!(pool.take(&one), Some(SessionId(5)));
        assert!(!pool.put(&other, SessionId(6)));
        assert!(pool.remove(&one, SessionId(1)));
        assert!(!pool.remove(&one, SessionId(1)));
        assert!(!pool.remove(&one, SessionId(6)));
        for id in [4, 3, 2] {
            assert_eq!(pool.take(&one), Some(SessionId(id)));
        }
        assert!(pool.remove(&other, SessionId(6)));
        assert!(pool.idle.is_empty());
        assert_eq!(pool.count, 0);
    }

    #[test]
    fn names_of_clients_that_never_call_again_take_no_room_for_ever() {
        let mut untold = Untold::default();
        for client in 0..=MAX_UNTOLD {
            untold.put(key("a", &client.to_string()), "gone".into());
        }
        untold.put(key("a", "7"), "gone again".into());
        assert_eq!(untold.texts.len(), MAX_UNTOLD);
        assert_eq!(untold.order.len(), MAX_UNTOLD);
        assert_eq!(untold.take(&key("a", "0")), None);
        assert_eq!(untold.take(&key("a", "7")).as_deref(), Some("gone again"));
        assert_eq!(untold.take(&key("a", "7")), None);
        assert_eq!(untold.order.len(), MAX_UNTOLD - 1);
    }
}
