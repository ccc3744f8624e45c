//! Turns of the connections of one server at fetching their lists.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Most connections of one server that fetch their lists at once.
const MAX_FETCHING: usize = 2;

/// Turns of the connections of one server at fetching their lists: each keeps all that it has fetched
/// until that has been compared with what is known.
#[derive(Clone)]
pub(crate) struct FetchTurns(Arc<Semaphore>);

/// Turn of one connection, until this is dropped: once what it has fetched has been compared.
pub(crate) struct FetchTurn {
    _permit: Option<OwnedSemaphorePermit>,
}

impl Default for FetchTurns {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_FETCHING)))
    }
}

impl FetchTurns {
    /// Waits for a turn.
    pub(crate) async fn take(&self) -> FetchTurn {
        let permit = Arc::clone(&self.0).acquire_owned().await;
        FetchTurn {
            // It is never closed.
            _permit: permit.ok(),
        }
    }
}
