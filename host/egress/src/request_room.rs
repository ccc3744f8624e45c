//! Room of the requests over HTTP of one server's plugins.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Most requests of one server that are on their way, or whose responses are being read. More wait.
const MAX_OPEN_REQUESTS: usize = 128;

/// Most lookups of names of one server that are on their way, also where their requests are not any
/// more. More wait.
const MAX_LOOKUPS: usize = 8;

/// Room of the requests of one server's plugins, which whoever has its name after a change shares with
/// those of before, as long as calls of these go on.
#[derive(Clone)]
pub struct RequestRoom {
    server: Arc<str>,
    open: Arc<Semaphore>,
    /// Lookups of names that are on their way.
    pub(crate) lookups: Arc<Semaphore>,
}

/// Room of a request among those that are open, until its response has been read, and what was begun for
/// it has ended.
#[derive(Clone)]
pub struct OpenRequest(
    #[allow(dead_code, reason = "held until the last one is dropped")] Arc<OwnedSemaphorePermit>,
);

impl Default for RequestRoom {
    /// Returns the room of a server without a name.
    fn default() -> Self {
        Self::new("")
    }
}

impl RequestRoom {
    /// Returns the room of a server, on whose thread its plugins' requests are read.
    #[must_use]
    pub fn new(server: &str) -> Self {
        Self {
            server: server.into(),
            open: Arc::new(Semaphore::new(MAX_OPEN_REQUESTS)),
            lookups: Arc::new(Semaphore::new(MAX_LOOKUPS)),
        }
    }

    /// Returns the name of the server.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// Waits until one more request may be open.
    pub(crate) async fn open(&self) -> Option<OpenRequest> {
        // It is never closed.
        let permit = Arc::clone(&self.open).acquire_owned().await.ok()?;
        Some(OpenRequest(Arc::new(permit)))
    }
}
