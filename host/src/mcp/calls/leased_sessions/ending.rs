//! Choice of the waiting sessions that are to end, and the reasons.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Duration;

use dormouse_policy::Limits;
use dormouse_protocol::SessionId;
use tokio::time::Instant;

use super::{IdleSession, LeaseKey, MAX_ALL_SESSIONS, MAX_IDLE_SESSIONS};
use crate::roster::Roster;

/// Reason for which a session ends instead of waiting for another call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// A call was given up, and may still go on in it.
    GivenUp,
    /// There was no call for this time.
    Idle(Duration),
    /// More sessions wait than may.
    TooMany,
}

impl Reason {
    /// Returns the text for the client of the session.
    pub(super) fn text(self, server: &str) -> String {
        let (why, hint) = match self {
            Self::GivenUp => (
                "a call was given up and may still be going on in it".to_owned(),
                format!("`timeout` in `[servers.{server}.limits]` says how long a call may take"),
            ),
            Self::Idle(idle) => (
                format!(
                    "this client did not call over it for {} s",
                    idle.as_secs_f64()
                ),
                format!(
                    "`idle` in `[servers.{server}.limits]` says after how long, or `\"never\"`"
                ),
            ),
            Self::TooMany => (
                format!(
                    "no more than {MAX_IDLE_SESSIONS} are kept for a client without a session, and \
                     {MAX_ALL_SESSIONS} for all of them"
                ),
                "fewer calls at the same time need fewer connections".to_owned(),
            ),
        };
        format!(
            "a connection to server `{server}` was ended, because {why}: what the server has kept \
             in memory there is gone\nhint: {hint}"
        )
    }
}

/// Facts about servers that decide which sessions end.
pub(super) trait ServerFacts {
    /// Returns the limits of a server, if there is one of that name.
    fn limits(&self, server: &str) -> Option<Limits>;

    /// Checks whether a server keeps anything for a session.
    fn keeps_for(&self, server: &str, session: SessionId) -> bool;

    /// Checks whether a server is being stopped because it is idle.
    fn is_stopping(&self, server: &str) -> bool;

    /// Checks whether processes run that a server has started for a session. Takes some
    /// milliseconds.
    fn has_processes(&self, server: &str, session: SessionId) -> bool;
}

impl ServerFacts for Roster {
    fn limits(&self, server: &str) -> Option<Limits> {
        self.limits(server)
    }

    fn keeps_for(&self, server: &str, session: SessionId) -> bool {
        self.keeps_for(server, session)
    }

    fn is_stopping(&self, server: &str) -> bool {
        self.is_stopping(server)
    }

    fn has_processes(&self, server: &str, session: SessionId) -> bool {
        self.has_processes(server, session)
    }
}

/// Returns the sessions that are to end: those for which nothing is kept; those that have waited
/// for their server's `idle` (or, if processes run in them, for `total_timeout`); and the surplus.
/// The surplus of one client at one server is taken from those without processes first, then from
/// the oldest; that of all together from the oldest.
pub(super) fn to_end(
    idle: &HashMap<LeaseKey, Vec<IdleSession>>,
    now: Instant,
    servers: &impl ServerFacts,
) -> Vec<(LeaseKey, SessionId, Reason)> {
    let mut ended = Vec::new();
    let mut others = Vec::new();
    for (key, sessions) in idle {
        let server = key.server.as_str();
        let limits = servers.limits(server);
        let mut staying = Vec::new();
        for session in sessions {
            let waited = now.saturating_duration_since(session.since);
            let is_over = limits.as_ref().is_none_or(|limits| {
                let is_old = waited >= limits.idle;
                let may_stay =
                    || waited < limits.total_timeout && servers.has_processes(server, session.id);
                is_old && !may_stay()
            });
            let is_to_end = is_over || !servers.keeps_for(server, session.id);
            // What it has lost is told to it first, and with it to the client's next call. Asked at
            // last: what is kept no longer has been stopped before.
            if is_to_end && !servers.is_stopping(server) {
                ended.push((key.clone(), session.id, Reason::Idle(waited)));
            } else {
                staying.push(*session);
            }
        }
        let surplus = staying.len().saturating_sub(MAX_IDLE_SESSIONS);
        if surplus > 0 {
            let has_processes = |session: &IdleSession| servers.has_processes(server, session.id);
            staying.sort_by_cached_key(|session| (has_processes(session), session.since));
            let surplus = staying.drain(..surplus);
            ended.extend(surplus.map(|session| (key.clone(), session.id, Reason::TooMany)));
        }
        others.extend(staying.into_iter().map(|session| (key, session)));
    }
    others.sort_by_key(|(_, session)| Reverse(session.since));
    let surplus = others.into_iter().skip(MAX_ALL_SESSIONS);
    ended.extend(surplus.map(|(key, session)| (key.clone(), session.id, Reason::TooMany)));
    ended
}

#[cfg(test)]
mod tests {
    use dormouse_policy::NEVER;

    use super::*;

    /// Servers that keep something for all sessions but one. Session 2 has processes.
    struct Fake;

    const NOTHING_IS_KEPT: SessionId = SessionId(9);

    impl ServerFacts for Fake {
        fn limits(&self, server: &str) -> Option<Limits> {
            let idle = match server {
                "short" => Duration::from_secs(60),
                "long" => Duration::from_secs(1800),
                "never" => NEVER,
                _ => return None,
            };
            let limits = Limits::default();
            Some(Limits { idle, ..limits })
        }

        fn keeps_for(&self, _: &str, session: SessionId) -> bool {
            session != NOTHING_IS_KEPT
        }

        fn is_stopping(&self, server: &str) -> bool {
            server == "stopping"
        }

        fn has_processes(&self, _: &str, session: SessionId) -> bool {
            session == SessionId(2)
        }
    }

    fn ended(server: &str, sessions: &[u64], after: Duration) -> Vec<(u64, Reason)> {
        let key = LeaseKey {
            server: server.to_owned(),
            client: "c".to_owned(),
        };
        let start = Instant::now();
        let session = |id: &u64| IdleSession {
            id: SessionId(*id),
            since: start,
        };
        let idle = HashMap::from([(key, sessions.iter().map(session).collect())]);
        let ended = to_end(&idle, start + after, &Fake).into_iter();
        ended.map(|(_, id, reason)| (id.0, reason)).collect()
    }

    #[test]
    fn sessions_wait_as_long_as_their_server_does() {
        let minutes = |count: u64| Duration::from_secs(60 * count);
        let idle = |count| Reason::Idle(minutes(count));
        assert_eq!(ended("short", &[1, 2], minutes(0)), []);
        assert_eq!(ended("short", &[1, 2], minutes(1)), [(1, idle(1))]);
        assert_eq!(ended("long", &[1, 2], minutes(29)), []);
        assert_eq!(ended("long", &[1, 2], minutes(30)), [(1, idle(30))]);
        assert_eq!(ended("never", &[1, 2], minutes(60 * 24)), []);
        // Nothing tells whether a client without a session will come back to them.
        let day = minutes(60 * 6);
        assert_eq!(ended("long", &[2], day), [(2, idle(360))]);
        assert_eq!(ended("gone", &[2], minutes(0)), [(2, idle(0))]);
        assert_eq!(ended("stopping", &[1], minutes(1)), []);
        let nothing = NOTHING_IS_KEPT.0;
        assert_eq!(ended("never", &[nothing], minutes(0)), [(nothing, idle(0))]);
    }

    #[test]
    fn of_too_many_those_with_processes_stay() {
        let surplus = ended("never", &[2, 1, 3, 4, 5, 6], Duration::ZERO);
        assert_eq!(surplus, [(1, Reason::TooMany), (3, Reason::TooMany)]);
        let many: Vec<u64> = (10..10 + 4).collect();
        assert_eq!(ended("never", &many, Duration::ZERO), []);
    }
}
