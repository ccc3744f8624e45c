//! What a guest prints: into the log, bounded and escaped, never to the host's
//! own stdout.

use std::borrow::Cow;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use serde_json::Value;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};

use super::GivenSecrets;
use crate::upstream::escaped;

/// The output of one instance, stdout and stderr together, and what it logs.
#[derive(Clone)]
pub(crate) struct Output {
    shared: Arc<Shared>,
}

struct Shared {
    server: String,
    secrets: Arc<GivenSecrets>,
    printed: Budget,
    logged: Budget,
    /// The end of what it printed to stderr, where runtimes say why they gave up.
    last: Mutex<Vec<u8>>,
}

/// How much of stderr is kept for the error of a call, in bytes.
const LAST: usize = 1024;

/// What Rust says below each panic: nobody who reads this can do that.
const NOTE: &str = "note: run with `RUST_BACKTRACE=";

/// What a line of the log takes beside its text, in bytes: the time, the level, the
/// server's name. A guest that says nothing, often, fills a log as well.
const LINE_BYTES: usize = 64;

/// How much of what one call says gets into the log, in bytes.
struct Budget {
    limit: u64,
    used: AtomicU64,
}

/// What is left of a budget for something.
#[derive(Debug, PartialEq, Eq)]
struct Room {
    /// In bytes.
    bytes: usize,
    /// Whether this is the first that there is not enough room for.
    is_exceeded: bool,
}

impl Budget {
    fn new(limit: u64) -> Self {
        Self {
            limit,
            used: AtomicU64::new(0),
        }
    }

    /// How much of something of that size there is still room for.
    fn take(&self, bytes: usize) -> Room {
        let before = self.used.fetch_add(bytes as u64, Ordering::Relaxed);
        let left = self.limit.saturating_sub(before);
        Room {
            bytes: usize::try_from(left).unwrap_or(usize::MAX).min(bytes),
            is_exceeded: before <= self.limit && bytes as u64 > left,
        }
    }
}

impl Output {
    pub(crate) fn new(server: &str, limit: u64, secrets: Arc<GivenSecrets>) -> Self {
        Self {
            shared: Arc::new(Shared {
                server: server.to_owned(),
                secrets,
                printed: Budget::new(limit),
                logged: Budget::new(limit),
                last: Mutex::default(),
            }),
        }
    }

    /// Begins another call: what the one before has said is its own affair.
    pub(crate) fn begin(&self) {
        self.shared.printed.used.store(0, Ordering::Relaxed);
        self.shared.logged.used.store(0, Ordering::Relaxed);
        self.shared.last().clear();
    }

    /// The end of what was printed to stderr, without what would steer a terminal.
    pub(crate) fn last_words(&self) -> String {
        let last = self.shared.last();
        let text = String::from_utf8_lossy(&last);
        let text = self.redact(&text);
        let lines = text.lines().map(str::trim_end);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(NOTE));
        let lines: Vec<_> = lines.map(escaped).collect();
        lines.join("; ")
    }

    /// A text of the guest's without the secrets that it is given.
    pub(crate) fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.shared.secrets.redact(text)
    }

    /// A value of the guest's without the secrets that it is given.
    pub(crate) fn redact_value(&self, value: Value) -> Value {
        self.shared.secrets.redact_value(value)
    }

    /// What it logs, without secrets, which its agent may be told too. Nobody is to be woken by that:
    /// how bad something is for a plugin says little of how bad it is for its host.
    pub(crate) fn log(&self, level: &'static str, logger: Option<&str>, text: &str) {
        let beside = LINE_BYTES + logger.map_or(0, str::len);
        let room = self.shared.logged.take(beside + text.len());
        let server = &self.shared.server;
        if let Some(room) = room.bytes.checked_sub(beside) {
            let shown = || escaped(text.get(..text.floor_char_boundary(room)).unwrap_or(text));
            let logger = || logger.map(escaped);
            match level {
                "debug" | "info" => {
                    tracing::debug!(%server, level, logger = logger(), "{}", shown());
                }
                _ => tracing::info!(%server, level, logger = logger(), "{}", shown()),
            }
        }
        if room.is_exceeded {
            let limit = self.shared.logged.limit;
            tracing::info!(%server, "logged more than {limit} bytes; the rest is dropped");
        }
    }

    pub(crate) fn stream(&self, name: &'static str) -> Stream {
        Stream {
            name,
            shared: Arc::clone(&self.shared),
        }
    }
}

impl Shared {
    fn last(&self) -> MutexGuard<'_, Vec<u8>> {
        // Nothing that is done under this lock can be left half done.
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
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
            let mut last = self.shared.last();
            last.extend_from_slice(
                bytes
                    .get(bytes.len().saturating_sub(LAST)..)
                    .unwrap_or(bytes),
            );
            let over = last.len().saturating_sub(LAST);
            last.drain(..over);
        }
        for line in bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            let room = self.shared.printed.take(LINE_BYTES + line.len());
            if let Some(room) = room.bytes.checked_sub(LINE_BYTES) {
                // Escaped, so that a guest can neither forge lines of the log nor
                // steer a terminal.
                let text = String::from_utf8_lossy(line.get(..room).unwrap_or(line));
                let text = self.shared.secrets.redact(&text);
                tracing::info!(server = %self.shared.server, stream = self.name, "{}", escaped(&text));
            }
            if room.is_exceeded {
                tracing::warn!(
                    server = %self.shared.server,
                    "printed more than {} bytes; the rest is dropped",
                    self.shared.printed.limit
                );
            }
            if room.bytes == 0 {
                break;
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Grants;

    fn none() -> Arc<GivenSecrets> {
        GivenSecrets::new(&Grants::default(), &Arc::default())
    }

    #[test]
    fn last_words_are_those_of_this_call_as_they_were_said() {
        let output = Output::new("odd", 1000, none());
        let stderr = output.stream("stderr");
        stderr.log(b"of the call before\n");
        output.begin();
        stderr.log(b"\nthread 'main' panicked at src/lib.rs:1:2:\r\nno \"soup\" in \x1b[1mC:\\");
        stderr.log(
            "\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n"
                .as_bytes(),
        );
        output.stream("stdout").log(b"something else");
        assert_eq!(
            output.last_words(),
            r#"thread 'main' panicked at src/lib.rs:1:2:; no "soup" in \u{1b}[1mC:\"#
        );
    }

    #[test]
    fn a_call_has_only_so_much_room() {
        let room = |bytes, is_exceeded| Room { bytes, is_exceeded };
        let budget = Budget::new(10);
        assert_eq!(budget.take(4), room(4, false));
        assert_eq!(budget.take(8), room(6, true));
        assert_eq!(budget.take(1), room(0, false));
        let exact = Budget::new(4);
        assert_eq!(exact.take(4), room(4, false));
        assert_eq!(exact.take(1), room(0, true));
        assert_eq!(exact.take(1), room(0, false));
        let none = Budget::new(0);
        assert_eq!(none.take(1), room(0, true));
    }

    #[test]
    fn what_stands_before_a_line_counts_too() {
        let output = Output::new("odd", 1000, none());
        let used = |output: &Output| output.shared.logged.used.load(Ordering::Relaxed);
        output.log("info", None, "");
        assert_eq!(used(&output), LINE_BYTES as u64);
        output.log("info", Some("name"), "text");
        assert_eq!(used(&output), 2 * LINE_BYTES as u64 + 8);
        // Lines that nobody sees are not even looked at.
        output.stream("stdout").log(&b"a\n".repeat(1_000_000));
        let printed = output.shared.printed.used.load(Ordering::Relaxed);
        assert!(printed < 1000 + 3 * (LINE_BYTES as u64 + 1), "{printed}");
    }
}
