//! Answers that were made, and that their client has not read yet.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// How much may wait to be read by a client, in bytes. Nothing more is read from it while
/// more waits.
const MAX_UNREAD_BYTES: usize = 64 << 20;

/// Memory of a message beside its text, in bytes.
const OVERHEAD_BYTES: usize = 4 << 10;

/// How long a client that has to read first may read nothing at all.
const STALLED_TIMEOUT: Duration = Duration::from_secs(60);

/// Counts the messages that wait to be read.
pub(super) struct Backlog {
    /// How many bytes may wait.
    most: usize,
    timeout: Duration,
    bytes: AtomicUsize,
    /// Since when a client has read nothing that has to.
    stalled: Mutex<Option<Instant>>,
    freed: Notify,
}

/// A client has read nothing for too long.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stalled;

/// A message that waits. It counts until it is dropped.
pub(super) struct Waiting {
    backlog: Arc<Backlog>,
    bytes: usize,
}

impl Default for Backlog {
    fn default() -> Self {
        Self::new(MAX_UNREAD_BYTES, STALLED_TIMEOUT)
    }
}

impl Backlog {
    fn new(most: usize, timeout: Duration) -> Self {
        Self {
            most,
            timeout,
            bytes: AtomicUsize::default(),
            stalled: Mutex::default(),
            freed: Notify::new(),
        }
    }

    /// Counts a message.
    pub(super) fn add(self: &Arc<Self>, bytes: usize) -> Waiting {
        let bytes = bytes.saturating_add(OVERHEAD_BYTES);
        self.bytes.fetch_add(bytes, Ordering::AcqRel);
        Waiting {
            backlog: Arc::clone(self),
            bytes,
        }
    }

    /// Waits until there is room for more. Cancel safe.
    ///
    /// # Errors
    /// There is none, and the client reads nothing.
    pub(super) async fn room(&self) -> Result<(), Stalled> {
        loop {
            let freed = self.freed.notified();
            if self.bytes.load(Ordering::Acquire) < self.most {
                return Ok(());
            }
            let since = {
                let mut stalled = self.stalled();
                if stalled.is_none() {
                    tracing::warn!(
                        "the client does not read its answers, of which {} MiB wait; nothing \
                         more is read from it until it does",
                        self.most >> 20
                    );
                }
                *stalled.get_or_insert_with(Instant::now)
            };
            if tokio::time::timeout_at(since + self.timeout, freed)
                .await
                .is_err()
            {
                tracing::error!(
                    "the client has read nothing for {} s; its connection is ended",
                    self.timeout.as_secs()
                );
                return Err(Stalled);
            }
        }
    }

    fn stalled(&self) -> MutexGuard<'_, Option<Instant>> {
        self.stalled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.backlog.bytes.fetch_sub(self.bytes, Ordering::AcqRel);
        *self.backlog.stalled() = None;
        self.backlog.freed.notify_waiters();
        self.backlog.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nothing_is_read_while_too_much_waits() {
        let backlog = Arc::new(Backlog::new(1 << 20, Duration::from_millis(300)));
        let half = backlog.add(1 << 19);
        assert_eq!(backlog.room().await, Ok(()));
        let other = backlog.add(1 << 19);
        let room = tokio::time::timeout(Duration::from_millis(10), backlog.room());
        assert!(room.await.is_err());
        drop(half);
        assert_eq!(backlog.room().await, Ok(()));
        let _half = backlog.add(1 << 19);
        assert_eq!(backlog.room().await, Err(Stalled));
        drop(other);
        assert_eq!(backlog.room().await, Ok(()));
    }
}
