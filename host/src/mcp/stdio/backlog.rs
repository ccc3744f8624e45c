//! Answers that were made, and that their client has not read yet.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::AsyncWrite;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Most bytes that may wait to be read by a client. Nothing more is read from it while more wait.
const MAX_UNREAD_BYTES: usize = 64 << 20;

/// Most bytes that may wait before a long result is made an error: calls that have begun go on,
/// however many there are.
const MAX_OWED_BYTES: usize = 256 << 20;

/// Messages up to that length, in bytes, are sent in any case.
const SHORT_BYTES: usize = 16 << 10;

/// Memory of a message beside its text, in bytes.
const OVERHEAD_BYTES: usize = 4 << 10;

/// Most bytes that are written at once, so that it is seen how far a slow client is.
const MAX_WRITE_BYTES: usize = 64 << 10;

/// Time for which a client that has to read first may read nothing at all.
const STALLED_TIMEOUT: Duration = Duration::from_secs(60);

/// Counts the messages that wait to be read.
pub(super) struct Backlog {
    /// Most bytes that may wait.
    most: usize,
    timeout: Duration,
    bytes: AtomicUsize,
    /// Since when a client has read nothing that has to, not even a part of a message.
    stalled: Mutex<Option<Instant>>,
    /// Whether it was logged that nothing more is read, since all had been read last.
    is_logged: AtomicBool,
    freed: Notify,
}

/// A client has read nothing for too long.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stalled;

/// A message that waits. It counts until it is dropped.
pub(super) struct QueuedMessage {
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
            is_logged: AtomicBool::new(false),
            freed: Notify::new(),
        }
    }

    /// Counts a message.
    pub(super) fn add(self: &Arc<Self>, bytes: usize) -> QueuedMessage {
        let bytes = bytes.saturating_add(OVERHEAD_BYTES);
        self.bytes.fetch_add(bytes, Ordering::AcqRel);
        QueuedMessage {
            backlog: Arc::clone(self),
            bytes,
        }
    }

    /// Checks whether a result of that length is too long to wait as well.
    pub(super) fn has_no_room_for(&self, bytes: usize) -> bool {
        let waiting = self.bytes.load(Ordering::Acquire);
        bytes > SHORT_BYTES && waiting > 0 && waiting.saturating_add(bytes) > self.most_owed()
    }

    /// Returns the most bytes that may wait, but for short messages.
    fn most_owed(&self) -> usize {
        self.most.saturating_mul(MAX_OWED_BYTES / MAX_UNREAD_BYTES)
    }

    /// Waits until there is room for more. Cancel safe.
    ///
    /// # Errors
    /// There is no room, and the client reads nothing.
    pub(super) async fn room(&self) -> Result<(), Stalled> {
        loop {
            let freed = self.freed.notified();
            if self.bytes.load(Ordering::Acquire) < self.most {
                return Ok(());
            }
            let since = {
                // A client that is slow comes to this with each message.
                if !self.is_logged.swap(true, Ordering::Relaxed) {
                    tracing::warn!(
                        "the client does not read its answers, of which {} MiB wait; nothing \
                         more is read from it until it does",
                        self.most >> 20
                    );
                }
                *self.stalled.lock().get_or_insert_with(Instant::now)
            };
            let freed = tokio::time::timeout_at(since + self.timeout, freed).await;
            if freed.is_err() && *self.stalled.lock() == Some(since) {
                tracing::error!(
                    "the client has read nothing for {} s; its connection is ended",
                    self.timeout.as_secs()
                );
                return Err(Stalled);
            }
        }
    }

    /// The client has read something.
    fn has_read(&self) {
        if let Some(since) = self.stalled.lock().as_mut() {
            *since = Instant::now();
        }
    }
}

impl Drop for QueuedMessage {
    fn drop(&mut self) {
        let before = self.backlog.bytes.fetch_sub(self.bytes, Ordering::AcqRel);
        if before == self.bytes {
            self.backlog.is_logged.store(false, Ordering::Relaxed);
        }
        *self.backlog.stalled.lock() = None;
        self.backlog.freed.notify_waiters();
        self.backlog.freed.notify_one();
    }
}

/// A stream to a client, which tells its backlog of all that the client takes.
pub(super) struct CountedOutput<W> {
    output: W,
    backlog: Arc<Backlog>,
}

impl<W> CountedOutput<W> {
    pub(super) fn new(output: W, backlog: Arc<Backlog>) -> Self {
        Self { output, backlog }
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for CountedOutput<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let bytes = bytes.get(..MAX_WRITE_BYTES).unwrap_or(bytes);
        let written = Pin::new(&mut self.output).poll_write(context, bytes);
        if matches!(written, Poll::Ready(Ok(written)) if written > 0) {
            self.backlog.has_read();
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.output).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.output).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// Sending one message may take longer than a client may read nothing.
    #[tokio::test]
    async fn a_client_that_reads_a_part_of_a_message_has_read_something() {
        const TIMEOUT: Duration = Duration::from_secs(2);
        let backlog = Arc::new(Backlog::new(1 << 20, TIMEOUT));
        let _message = backlog.add(1 << 20);
        let (ours, mut theirs) = tokio::io::duplex(1 << 10);
        let mut output = CountedOutput::new(ours, Arc::clone(&backlog));
        let writing = tokio::spawn(async move {
            // It ends with the reader.
            let _ = output.write_all(&vec![0; 1 << 20]).await;
        });
        let begun = Instant::now();
        let room = backlog.room();
        let reading = async {
            let mut part = vec![0; 1 << 10];
            while begun.elapsed() < TIMEOUT * 2 {
                theirs.read_exact(&mut part).await.unwrap();
                tokio::time::sleep(TIMEOUT / 20).await;
            }
        };
        let ended = tokio::select! {
            room = room => Some(room),
            () = reading => None,
        };
        assert_eq!(ended, None, "it was given up after {:?}", begun.elapsed());
        // From here on, it reads nothing.
        assert_eq!(backlog.room().await, Err(Stalled));
        drop(theirs);
        writing.await.unwrap();
    }

    #[test]
    fn long_results_do_not_wait_without_end() {
        let backlog = Arc::new(Backlog::new(1 << 20, STALLED_TIMEOUT));
        let mut waiting = Vec::new();
        while !backlog.has_no_room_for(1 << 20) {
            waiting.push(backlog.add(1 << 20));
        }
        assert_eq!(waiting.len(), 3);
        assert!(!backlog.has_no_room_for(SHORT_BYTES));
        waiting.pop();
        assert!(!backlog.has_no_room_for(1 << 20));
    }

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
