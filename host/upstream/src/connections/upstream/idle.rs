//! Connections of an upstream that no call uses, and their end.

use std::collections::BTreeSet;
use std::sync::Arc;

use dormouse_protocol::SessionId;

use super::Upstream;
use crate::connections::idle_connections::IdleConnection;
use crate::connections::links::Link;

/// Outcome of ending connections because nobody called.
pub struct StoppedIdle {
    /// Whether no connection is left.
    pub is_all: bool,
    /// Sessions whose connections were ended, and `None` for clients without a session.
    pub users: Vec<Option<SessionId>>,
}

impl Upstream {
    /// Returns the connections that no call uses.
    pub(crate) fn idle(&self) -> Vec<IdleConnection> {
        let Some(upstream) = self.me.upgrade() else {
            return Vec::new();
        };
        let state = self.state.lock();
        let idle = state.links.idle();
        let idle = idle.map(|(number, link, connection, since)| IdleConnection {
            upstream: Arc::clone(&upstream),
            number,
            connection: Arc::clone(connection),
            since,
            callers: Arc::clone(&link.callers),
            sessionless_patience: self.setup.sessionless_patience,
            is_to_stay: self.setup.is_to_stay,
        });
        idle.collect()
    }

    /// Ends a connection if no call uses it, and tells its users. False where one does.
    pub(crate) fn end_for_another(&self, number: u64) -> bool {
        let ended = self.state.lock().links.take_idle(&BTreeSet::from([number]));
        self.tell_ended(&ended);
        !ended.is_empty()
    }

    /// Tells the users of connections that these have ended for others.
    pub(super) fn tell_ended(&self, ended: &[Link]) {
        let server = &self.setup.server;
        for link in ended {
            tracing::info!(
                "there are as many connections as are allowed: that of server `{server}` to an \
                 idle session is ended for another one"
            );
            for user in link.callers.users() {
                let whose = whose_state(user);
                let text = format!(
                    "the connection to server `{server}` was ended, because there are as many \
                     connections as are allowed: what the server has kept in memory for {whose} is \
                     gone\n\
                     hint: `connections` in `[limits]` and in `[servers.{server}.limits]` say how \
                     many"
                );
                self.setup.gate.tell(user, text);
            }
        }
    }

    /// Ends the connections that no call uses and that have no state that can be seen: processes
    /// that the upstream has started since it was connected, for a session that goes on or a client
    /// without one that may come back.
    pub async fn stop_idle(&self) -> StoppedIdle {
        let open = self.state.lock().links.open();
        let patience = self.setup.sessionless_patience;
        let judged = tokio::task::spawn_blocking(move || {
            let stateless = open.into_iter().filter(|(_, connection, callers)| {
                !callers.may_go_on(patience) || !connection.has_new_processes()
            });
            stateless.map(|(number, ..)| number).collect()
        });
        // Where that cannot be found out, nothing is lost.
        let stateless = judged.await.unwrap_or_default();
        let mut state = self.state.lock();
        let ended = state.links.take_idle(&stateless);
        let is_all = state.links.iter().next().is_none();
        if is_all {
            state.failures.forget();
        }
        drop(state);
        let users = ended.iter().flat_map(|link| link.callers.users());
        StoppedIdle {
            is_all,
            users: users.collect(),
        }
    }
}

/// Returns words for those whose state a server has kept: a session, or clients without one.
pub fn whose_state(user: Option<SessionId>) -> &'static str {
    match user {
        Some(_) => "this client",
        None => "clients without a session",
    }
}
