//! Output of a guest: into the log, bounded and escaped, never to the host's own stdout.

use std::borrow::Cow;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use dormouse_launch::redaction::MAX_WRITTEN_PIECE_BYTES;
use dormouse_text::log_text::escaped;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};

use super::GivenSecrets;

/// Output of one instance: stdout and stderr together, and its log messages.
#[derive(Clone)]
pub(crate) struct Output {
    shared: Arc<Shared>,
}

struct Shared {
    server: String,
    secrets: Arc<GivenSecrets>,
    printed: Budget,
    logged: Budget,
    /// Incomplete lines of stdout and of stderr: guests write lines piece by piece, and a secret
    /// may be in several pieces.
    begun: [Mutex<Vec<u8>>; 2],
    /// End of the output to stderr, where runtimes write the reason for a crash.
    last: Mutex<Vec<u8>>,
}

/// Most bytes of stderr that are shown in the error of a call.
const LAST_BYTES: usize = 1024;

/// Most bytes of stderr that are kept for that: a secret in the shown part can be recognised only
/// where its beginning is kept.
const KEPT_BYTES: usize = LAST_BYTES + MAX_WRITTEN_PIECE_BYTES;

/// Longest character of UTF-8, in bytes.
const MAX_CHARACTER_BYTES: usize = 4;

/// Most bytes of a line that are shown.
const MAX_LINE_BYTES: usize = 16 << 10;

/// Beginning of Rust's note below each panic, which is of no use to the reader of an error.
const NOTE: &str = "note: run with `RUST_BACKTRACE=";

/// Size of a line of the log beside its text, in bytes: the time, the level, the server's name. A
/// guest that often prints empty lines fills a log as well.
const LINE_BYTES: usize = 64;

/// Bound on one call's output to the log, in bytes.
struct Budget {
    limit: u64,
    used: AtomicU64,
}

/// Part of a budget that was left for a text.
#[derive(Debug, PartialEq, Eq)]
struct Room {
    /// Bytes left for it.
    bytes: usize,
    /// Whether this is the first text that did not fit.
    is_exceeded: bool,
}

impl Budget {
    fn new(limit: u64) -> Self {
        Self {
            limit,
            used: AtomicU64::new(0),
        }
    }

    /// Takes room for a text of so many bytes, as far as there is some.
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
                begun: Default::default(),
                last: Mutex::default(),
            }),
        }
    }

    /// Begins another call, without output of the one before.
    pub(crate) fn begin(&self) {
        self.shared.printed.used.store(0, Ordering::Relaxed);
        self.shared.logged.used.store(0, Ordering::Relaxed);
        self.shared.last.lock().clear();
    }

    /// Ends a call: its incomplete lines are logged.
    pub(crate) fn end(&self) {
        self.shared.end_lines();
    }

    /// Returns the end of the output to stderr, without control characters for terminals.
    pub(crate) fn last_words(&self) -> String {
        let last = self.shared.last.lock();
        let start = last.len().saturating_sub(LAST_BYTES);
        let rest = last.iter().skip(start).take(MAX_CHARACTER_BYTES);
        let is_within = |byte: &&u8| (0x80..0xc0).contains(*byte);
        let start = start + rest.take_while(is_within).count();
        let (before, shown) = last.split_at_checked(start).unwrap_or((&[], &last));
        let before = String::from_utf8_lossy(before);
        let text = format!("{before}{}", String::from_utf8_lossy(shown));
        let text = self.shared.secrets.redact_end(&text, before.len());
        let lines = text.lines().map(str::trim_end);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(NOTE));
        let lines: Vec<_> = lines.map(escaped).collect();
        lines.join("; ")
    }

    /// Returns the first `bytes` of a guest's text, with its given secrets hidden.
    pub(crate) fn redact_beginning<'t>(&self, text: &'t str, bytes: usize) -> Cow<'t, str> {
        self.shared.secrets.redact_beginning(text, bytes)
    }

    /// Returns a guest's value, with its given secrets hidden.
    pub(crate) fn redact_value(&self, value: Value) -> Value {
        self.shared.secrets.redact_value(value)
    }

    /// Logs a guest's message without secrets, which its agent may get, too. The host's level is
    /// never above `info`: an error of a plugin says little about its host.
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

    pub(crate) fn stream(&self, name: StreamName) -> Stream {
        Stream {
            name,
            shared: Arc::clone(&self.shared),
        }
    }
}

impl Shared {
    /// Logs a line. Returns whether there is room for more.
    fn print(&self, name: StreamName, line: &[u8]) -> bool {
        if line.is_empty() {
            return true;
        }
        let room = self
            .printed
            .take(LINE_BYTES + line.len().min(MAX_LINE_BYTES));
        if let Some(bytes) = room.bytes.checked_sub(LINE_BYTES) {
            // Escaped, so that a guest can neither forge lines of the log nor
            // steer a terminal.
            let text = String::from_utf8_lossy(line);
            let text = self.secrets.redact_beginning(&text, bytes);
            tracing::info!(server = %self.server, stream = name.as_str(), "{}", escaped(&text));
        }
        if room.is_exceeded {
            tracing::warn!(
                server = %self.server,
                "printed more than {} bytes; the rest is dropped",
                self.printed.limit
            );
        } else if line.len() > MAX_LINE_BYTES {
            tracing::warn!(
                server = %self.server,
                "printed a line of more than {MAX_LINE_BYTES} bytes; the rest of it is dropped"
            );
        }
        room.bytes > 0
    }

    /// Logs the incomplete lines.
    fn end_lines(&self) {
        for (name, begun) in [StreamName::Stdout, StreamName::Stderr]
            .into_iter()
            .zip(&self.begun)
        {
            let line = std::mem::take(&mut *begun.lock());
            self.print(name, &line);
        }
    }
}

impl Drop for Shared {
    /// Logs incomplete lines also of a call that was ended from outside.
    fn drop(&mut self) {
        self.end_lines();
    }
}

/// Name of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamName {
    Stdout,
    Stderr,
}

impl StreamName {
    fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// The stdout or stderr of an instance.
#[derive(Clone)]
pub(crate) struct Stream {
    name: StreamName,
    shared: Arc<Shared>,
}

impl Stream {
    fn log(&self, bytes: &[u8]) {
        let [stdout, stderr] = &self.shared.begun;
        let begun = match self.name {
            StreamName::Stdout => stdout,
            StreamName::Stderr => stderr,
        };
        if self.name == StreamName::Stderr {
            let mut last = self.shared.last.lock();
            let start = bytes.len().saturating_sub(KEPT_BYTES);
            last.extend_from_slice(bytes.get(start..).unwrap_or(bytes));
            let over = last.len().saturating_sub(KEPT_BYTES);
            last.drain(..over);
        }
        let mut begun = begun.lock();
        let mut parts = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(part) = parts.next() {
            // One byte more than is shown, so that a line that is too long can be recognised.
            let room = (MAX_LINE_BYTES + MAX_WRITTEN_PIECE_BYTES + 1).saturating_sub(begun.len());
            begun.extend_from_slice(part.get(..room).unwrap_or(part));
            if parts.peek().is_none() {
                break;
            }
            let has_room = self.shared.print(self.name, &begun);
            begun.clear();
            if !has_room {
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
    use dormouse_policy::Grants;

    use super::*;

    fn none() -> Arc<GivenSecrets> {
        GivenSecrets::new(&Grants::default(), &Arc::default())
    }

    #[test]
    fn last_words_are_those_of_this_call_as_they_were_said() {
        let output = Output::new("odd", 1000, none());
        let stderr = output.stream(StreamName::Stderr);
        stderr.log(b"of the call before\n");
        output.begin();
        stderr.log(b"\nthread 'main' panicked at src/lib.rs:1:2:\r\nno \"soup\" in \x1b[1mC:\\");
        stderr.log(
            "\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n"
                .as_bytes(),
        );
        output.stream(StreamName::Stdout).log(b"something else");
        assert_eq!(
            output.last_words(),
            r#"thread 'main' panicked at src/lib.rs:1:2:; no "soup" in \u{1b}[1mC:\"#
        );
    }

    /// Returns the output of a plugin that is given that secret.
    fn given(secret: &str) -> Output {
        let settings = serde_json::json!({ "token": secret });
        let settings = Arc::new(settings.as_object().unwrap().clone());
        Output::new(
            "odd",
            100_000,
            GivenSecrets::new(&Grants::default(), &settings),
        )
    }

    #[test]
    fn a_secret_that_the_beginning_of_the_last_words_goes_through_is_not_shown() {
        let secret: String = (0..400)
            .map(|part| format!("{:04}K", part * 7919 % 10_000))
            .collect();
        let secret = |bytes: usize| secret[..bytes].to_owned();
        for (length, behind) in [(40, 1000), (1009, 30), (1500, 100), (1500, 1023)] {
            let output = given(&secret(length));
            let said = format!(
                "{} was {}{}",
                "x ".repeat(2000),
                secret(length),
                " y".repeat(behind / 2)
            );
            // However it is written.
            for part in said.as_bytes().chunks(100) {
                output.stream(StreamName::Stderr).log(part);
            }
            let told = output.last_words();
            assert!(
                told.chars().all(|c| "xyw as…".contains(c)),
                "{length}: {told}"
            );
            assert!(told.ends_with(" y") && told.contains('…'), "{told}");
        }
        let output = given("s3cret");
        output
            .stream(StreamName::Stderr)
            .log("é".repeat(2000).as_bytes());
        assert_eq!(output.last_words(), "é".repeat(512));
    }

    #[test]
    fn lines_are_looked_at_when_they_are_whole() {
        let output = given("s3cret-of-it");
        let stream = output.stream(StreamName::Stdout);
        let begun = || output.shared.begun[0].lock().clone();
        let used = || output.shared.printed.used.load(Ordering::Relaxed);
        stream.log(b"one\ntwo s3cr");
        assert_eq!(
            (begun(), used()),
            (b"two s3cr".to_vec(), LINE_BYTES as u64 + 3)
        );
        stream.log(b"et-of-it");
        assert_eq!(begun(), b"two s3cret-of-it");
        output.end();
        assert_eq!((begun(), used()), (vec![], 2 * LINE_BYTES as u64 + 19));
        // Of one that does not end only so much is kept.
        (0..100).for_each(|_| stream.log(&[b'x'; 1000]));
        assert!(begun().len() < 2 * MAX_LINE_BYTES, "{}", begun().len());
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
        output
            .stream(StreamName::Stdout)
            .log(&b"a\n".repeat(1_000_000));
        let printed = output.shared.printed.used.load(Ordering::Relaxed);
        assert!(printed < 1000 + 3 * (LINE_BYTES as u64 + 1), "{printed}");
    }

    #[test]
    fn printing_and_logging_take_linear_time() {
        let settings: serde_json::Map<_, _> = (0..100)
            .map(|n| (format!("token{n}"), format!("s3cret-number-{n}-{n}").into()))
            .collect();
        let secrets = GivenSecrets::new(&Grants::default(), &Arc::new(settings));
        let said = |what: &str, size: usize| vec![what.as_bytes().to_vec(); size];
        type Said<'s> = &'s dyn Fn(usize) -> Vec<Vec<u8>>;
        let cases: [(&str, Said<'_>); 4] = [
            ("lines", &|size| said("s3cret-number-7-7 and more\n", size)),
            ("lines of one piece", &|size| vec![b"a\n".repeat(size)]),
            ("pieces of one line", &|size| said("s3cret-number-", size)),
            ("one long piece", &|size| vec![b"s3cret-".repeat(size)]),
        ];
        for (what, said) in cases {
            dormouse_tests::growth::is_linear(what, 1_000, said, |said| {
                let output = Output::new("odd", u64::MAX, Arc::clone(&secrets));
                for part in said {
                    output.stream(StreamName::Stdout).log(part);
                    output.stream(StreamName::Stderr).log(part);
                    let text = std::str::from_utf8(part).unwrap();
                    output.log("info", Some(text), text);
                }
                output.end();
                std::hint::black_box(output.last_words());
            });
        }
    }
}
