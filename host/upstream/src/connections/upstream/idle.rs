//! Connections of an upstream that no call uses, and their end.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use dormouse_protocol::SessionId;
use tokio::time::Instant;

use super::Upstream;
use crate::connections::callers::Callers;
use crate::connections::connection::Connection;
use crate::connections::idle_connections::ConnectionOwner;
use crate::connections::links::Link;

/// Outcome of ending connections because nobody called.
pub struct StoppedIdle {
    /// Whether no connection is left.
    pub is_all: bool,
    /// Sessions whose connections were ended, and `None` for clients without a session.
    pub users: Vec<Option<SessionId>>,
}

/// A connection of an upstream that no call uses.
pub(in crate::connections) struct IdleConnection {
    upstream: Arc<Upstream>,
    number: u64,
    connection: Arc<Connection>,
    /// Time at which its last call ended, or at which it was made.
    pub(in crate::connections) since: Instant,
    /// Clients that have called over it.
    callers: Arc<Callers>,
}

impl IdleConnection {
    /// Whether somebody loses state that can be seen when the connection ends. Takes some
    /// milliseconds.
    pub(in crate::connections) fn has_state(&self) -> bool {
        let setup = &self.upstream.setup;
        match setup.is_to_stay {
            true => self.callers.may_go_on(Duration::MAX),
            false => {
                self.callers.may_go_on(setup.sessionless_patience)
                    && self.connection.has_new_processes()
            }
        }
    }

    /// Ends the connection, and tells its users. False where a call uses it by now.
    pub(in crate::connections) fn end(self) -> bool {
        let Self {
            upstream,
            number,
            connection,
            ..
        } = self;
        // It ends when nobody has it any more.
        drop(connection);
        let number = BTreeSet::from([number]);
        let ended = upstream.state.lock().links.take_idle(&number);
        upstream.tell_ended(&ended);
        !ended.is_empty()
    }
}

impl ConnectionOwner for Upstream {
    fn idle(&self) -> Vec<IdleConnection> {
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
        });
        idle.collect()
    }
}

impl Upstream {
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
                self.setup.policy.tell(user, text);
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
