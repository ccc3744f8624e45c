//! Connections that no call uses, and the choice of one to end where there is no room.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::callers::Callers;
use super::connection::Connection;
use super::upstream::Upstream;

/// A connection that no call uses.
pub(crate) struct IdleConnection {
    pub upstream: Arc<Upstream>,
    pub number: u64,
    pub connection: Arc<Connection>,
    /// Time at which its last call ended, or at which it was made.
    pub since: Instant,
    /// Clients that have called over it.
    pub callers: Arc<Callers>,
    /// Time after their last call for which processes of clients without a session may be wanted.
    pub sessionless_patience: Duration,
    /// Whether its user has said that it is not to be stopped for being idle.
    pub is_to_stay: bool,
}

impl IdleConnection {
    /// Whether somebody loses state that can be seen when the connection ends.
    fn has_state(&self) -> bool {
        match self.is_to_stay {
            true => self.callers.may_go_on(Duration::MAX),
            false => {
                self.callers.may_go_on(self.sessionless_patience)
                    && self.connection.has_new_processes()
            }
        }
    }
}

/// Ends one of the connections: of those without state that can be seen, or else of all, the one
/// that has been idle for longest. False where none is idle.
pub(super) async fn end_one(idle: Vec<IdleConnection>) -> bool {
    // What processes there are is read from the system.
    let chosen = tokio::task::spawn_blocking(move || {
        let ranked = idle.into_iter();
        let ranked = ranked.map(|idle| ((idle.has_state(), idle.since), idle));
        ranked.min_by_key(|(rank, _)| *rank).map(|(_, idle)| idle)
    });
    let Ok(Some(chosen)) = chosen.await else {
        return false;
    };
    let IdleConnection {
        upstream,
        number,
        connection,
        ..
    } = chosen;
    // It ends when nobody has it any more.
    drop(connection);
    upstream.end_for_another(number)
}
