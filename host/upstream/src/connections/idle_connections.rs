//! Connections that no call uses, of any upstream, and the choice of one to end where there is no
//! room.

use super::upstream::IdleConnection;

/// Owner of connections, some of which no call uses.
pub(super) trait ConnectionOwner: Send + Sync {
    /// Returns the connections that no call uses.
    fn idle(&self) -> Vec<IdleConnection>;
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
    match chosen.await {
        Ok(Some(chosen)) => chosen.end(),
        Ok(None) | Err(_) => false,
    }
}
