//! Connections that no call uses, and which of them ends where there are as many as there may be.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::callers::Callers;
use super::connection::Connection;
use super::connections::Upstream;

/// A connection that no call uses.
pub(super) struct IdleConnection {
    pub upstream: Arc<Upstream>,
    pub number: u64,
    pub connection: Arc<Connection>,
    /// When its last call ended, or it was made.
    pub since: Instant,
    /// Those who have called over it.
    pub callers: Arc<Callers>,
    /// How long clients without a session are waited for that have something going on in it.
    pub sessionless_patience: Duration,
    /// Whether its user has said that it is not to be stopped for being idle.
    pub is_to_stay: bool,
}

impl IdleConnection {
    /// Whether somebody loses what can be seen when it ends.
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

/// Ends one of them: of those without state that can be seen, or else of all, the one that has
/// been idle for longest. False where none is idle.
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
