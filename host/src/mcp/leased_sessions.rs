//! Sessions for calls of clients that have none: each is for one call at a time, and the next
//! call of such a client gets the one of the call before it, with what its server has kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::common::Common;
use crate::runtime::SessionId;

/// How long a session waits for its next call.
const MAX_IDLE: Duration = Duration::from_secs(600);

/// How often it is looked whether sessions have waited for too long.
const LOOK_INTERVAL: Duration = Duration::from_secs(60);

/// Most sessions that wait for the calls of one client to one server: each may have a process.
const MAX_IDLE_SESSIONS: usize = 4;

/// Calls that may have the same session, one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct LeaseKey {
    server: String,
    /// Client, by what it calls itself.
    client: String,
}

#[derive(Debug, Clone, Copy)]
struct IdleSession {
    id: SessionId,
    since: Instant,
}

/// The sessions that wait for their next call.
#[derive(Debug, Default)]
pub(super) struct LeasedSessions(Mutex<Pool>);

#[derive(Debug, Default)]
struct Pool {
    idle: HashMap<LeaseKey, Vec<IdleSession>>,
    /// Whether somebody looks which have waited for too long.
    is_watched: bool,
}

/// A session that one call has. With the call it ends, or waits for the next one.
pub(super) struct LeasedSession {
    common: Arc<Common>,
    key: LeaseKey,
    id: SessionId,
}

impl LeasedSessions {
    fn pool(&self) -> MutexGuard<'_, Pool> {
        // Nothing that is done under this lock can be left half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        last.map(|session| session.id)
    }

    /// Has a session wait. Gives one that is to end instead, if there are too many.
    fn put(&mut self, key: &LeaseKey, id: SessionId) -> Option<SessionId> {
        let idle = self.idle.entry(key.clone()).or_default();
        let since = Instant::now();
        idle.push(IdleSession { id, since });
        (idle.len() > MAX_IDLE_SESSIONS).then(|| idle.remove(0).id)
    }

    /// Takes out those that have waited for too long.
    fn take_old(&mut self, now: Instant) -> Vec<SessionId> {
        let mut old = Vec::new();
        self.idle.retain(|_, idle| {
            let is_old = |session: &IdleSession| now.duration_since(session.since) >= MAX_IDLE;
            old.extend(idle.extract_if(.., |session| is_old(session)));
            !idle.is_empty()
        });
        old.into_iter().map(|session| session.id).collect()
    }
}

impl LeasedSession {
    /// A session for a call of a client to a server.
    pub(super) fn of(common: &Arc<Common>, server: &str, client: &str) -> Self {
        let key = LeaseKey {
            server: server.to_owned(),
            client: client.to_owned(),
        };
        let waiting = common.leased_sessions.pool().take(&key);
        Self {
            common: Arc::clone(common),
            id: waiting.unwrap_or_else(|| common.roster.begin_session()),
            key,
        }
    }

    pub(super) fn id(&self) -> SessionId {
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
            return common.end_session(self.id);
        };
        let mut pool = common.leased_sessions.pool();
        let surplus = pool.put(&self.key, self.id);
        let is_watched = std::mem::replace(&mut pool.is_watched, true);
        drop(pool);
        if let Some(surplus) = surplus {
            common.end_session(surplus);
        }
        if !is_watched {
            runtime.spawn(end_old_ones(Arc::clone(common)));
        }
    }
}

/// Ends sessions that have waited for too long, until none waits.
async fn end_old_ones(common: Arc<Common>) {
    loop {
        tokio::time::sleep(LOOK_INTERVAL).await;
        let mut pool = common.leased_sessions.pool();
        let old = pool.take_old(Instant::now());
        pool.is_watched = !pool.idle.is_empty();
        let is_watched = pool.is_watched;
        drop(pool);
        for session in old {
            common.end_session(session);
        }
        if !is_watched {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_call_of_a_client_gets_the_session_of_the_last_one() {
        let key = |server: &str, client: &str| LeaseKey {
            server: server.to_owned(),
            client: client.to_owned(),
        };
        let (one, other) = (key("a", "c"), key("a", "d"));
        let mut pool = Pool::default();
        assert_eq!(pool.take(&one), None);
        for id in 1..=4 {
            assert_eq!(pool.put(&one, SessionId(id)), None);
        }
        assert_eq!(pool.put(&one, SessionId(5)), Some(SessionId(1)));
        assert_eq!(pool.take(&other), None);
        assert_eq!(pool.take(&key("b", "c")), None);
        assert_eq!(pool.take(&one), Some(SessionId(5)));
        pool.put(&other, SessionId(6));
        assert_eq!(pool.take_old(Instant::now()), []);
        let mut old = pool.take_old(Instant::now() + MAX_IDLE);
        old.sort_unstable();
        assert_eq!(old, [2, 3, 4, 6].map(SessionId));
        assert!(pool.idle.is_empty());
    }
}
