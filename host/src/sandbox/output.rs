//! What a guest prints: into the log, bounded and escaped, never to the host's
//! own stdout.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};

/// The output of one instance, stdout and stderr together.
#[derive(Clone)]
pub(crate) struct Output {
    shared: Arc<Shared>,
}

struct Shared {
    server: String,
    limit: u64,
    written: AtomicU64,
    /// The end of what it printed to stderr, where runtimes say why they gave up.
    last: Mutex<Vec<u8>>,
}

/// How much of stderr is kept for the error of a call, in bytes.
const LAST: usize = 1024;

impl Output {
    pub(crate) fn new(server: &str, limit: u64) -> Self {
        Self {
            shared: Arc::new(Shared {
                server: server.to_owned(),
                limit,
                written: AtomicU64::new(0),
                last: Mutex::default(),
            }),
        }
    }

    /// The end of what was printed to stderr, escaped.
    pub(crate) fn last_words(&self) -> String {
        let last = self
            .shared
            .last
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&last);
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let lines: Vec<_> = lines.map(|line| line.escape_debug().to_string()).collect();
        lines.join("; ")
    }

    pub(crate) fn stream(&self, name: &'static str) -> Stream {
        Stream {
            name,
            shared: Arc::clone(&self.shared),
        }
    }
}

/// One of the two streams.
#[derive(Clone)]
pub(crate) struct Stream {
    name: &'static str,
    shared: Arc<Shared>,
}

impl Stream {
    fn log(&self, bytes: &[u8]) {
        if self.name == "stderr" {
            let mut last = self
                .shared
                .last
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            last.extend_from_slice(
                bytes
                    .get(bytes.len().saturating_sub(LAST)..)
                    .unwrap_or(bytes),
            );
            let over = last.len().saturating_sub(LAST);
            last.drain(..over);
        }
        let before = self
            .shared
            .written
            .fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let room = usize::try_from(self.shared.limit.saturating_sub(before)).unwrap_or(usize::MAX);
        let shown = bytes.get(..room.min(bytes.len())).unwrap_or(bytes);
        for line in shown
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            // Escaped, so that a guest can neither forge lines of the log nor
            // steer a terminal.
            let text = String::from_utf8_lossy(line);
            tracing::info!(server = %self.shared.server, stream = self.name, "{}", text.escape_debug());
        }
        if room > 0 && room < bytes.len() {
            tracing::warn!(
                server = %self.shared.server,
                "printed more than {} bytes; the rest is dropped",
                self.shared.limit
            );
        }
    }
}

impl IsTerminal for Stream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Stream {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.log(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
