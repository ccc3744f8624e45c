//! Connections that no call uses, of any upstream, and the choice of one to end where there is no
//! room.

use tokio::time::Instant;

/// A connection that no call uses.
pub(super) trait IdleConnection: Send {
    /// Returns the time at which its last call ended, or at which it was made.
    fn since(&self) -> Instant;

    /// Whether somebody loses state that can be seen when the connection ends. Takes some
    /// milliseconds.
    fn has_state(&self) -> bool;

    /// Ends the connection, and tells its users. False where a call uses it by now.
    fn end(self: Box<Self>) -> bool;
}

/// Owner of connections, some of which no call uses.
pub(super) trait ConnectionOwner: Send + Sync {
    /// Returns the connections that no call uses.
    fn idle(&self) -> Vec<Box<dyn IdleConnection>>;
}

/// Ends one of the connections: of those without state that can be seen, or else of all, the one
/// that has been idle for longest. False where none is idle.
pub(super) async fn end_one(idle: Vec<Box<dyn IdleConnection>>) -> bool {
    // What processes there are is read from the system.
    let chosen = tokio::task::spawn_blocking(move || {
        let ranked = idle.into_iter();
        let ranked = ranked.map(|idle| ((idle.has_state(), idle.since()), idle));
        ranked.min_by_key(|(rank, _)| *rank).map(|(_, idle)| idle)
    });
    match chosen.await {
        Ok(Some(chosen)) => chosen.end(),
        Ok(None) | Err(_) => false,
    }
}
