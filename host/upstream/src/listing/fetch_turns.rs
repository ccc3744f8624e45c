//! Turns of the connections of one server at fetching their lists.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Most connections of one server that fetch their lists for the first time at once.
const MAX_FIRST: usize = 4;

/// Most connections of one server that fetch their lists again at once.
const MAX_AGAIN: usize = 2;

/// Turns of the connections of one server at fetching their lists: each keeps all that it has fetched
/// until that has been compared with what is known. Those that are being made do not wait for others
/// whose lists have changed.
#[derive(Clone)]
pub(crate) struct FetchTurns {
    first: Arc<Semaphore>,
    again: Arc<Semaphore>,
}

/// Turn of one connection, until this is dropped: once what it has fetched has been compared.
pub(crate) struct FetchTurn {
    _permit: Option<OwnedSemaphorePermit>,
}

impl Default for FetchTurns {
    fn default() -> Self {
        Self {
            first: Arc::new(Semaphore::new(MAX_FIRST)),
            again: Arc::new(Semaphore::new(MAX_AGAIN)),
        }
    }
}

impl FetchTurns {
    /// Waits for the turn of a connection that is being made.
    pub(crate) async fn first(&self) -> FetchTurn {
        turn(&self.first).await
    }

    /// Waits for the turn of a connection whose lists are wanted again.
    pub(crate) async fn again(&self) -> FetchTurn {
        turn(&self.again).await
    }
}

async fn turn(places: &Arc<Semaphore>) -> FetchTurn {
    let permit = Arc::clone(places).acquire_owned().await;
    FetchTurn {
        // They are never closed.
        _permit: permit.ok(),
    }
}
