//! Calls that wait for an instance that another call is busy with.

use tokio::sync::watch;

/// Tells a call whether others wait for the instance that it is busy with.
#[derive(Debug, Clone)]
pub struct Awaited(watch::Receiver<usize>);

impl Awaited {
    /// Makes one from the number of calls that wait.
    #[must_use]
    pub fn new(waiting: watch::Receiver<usize>) -> Self {
        Self(waiting)
    }

    /// Returns once another call waits: at once, if one does already.
    pub async fn begins(&mut self) {
        if self.0.wait_for(|count| *count > 0).await.is_err() {
            // The instance is forgotten, and nobody can wait for it any more.
            std::future::pending::<()>().await;
        }
    }
}
