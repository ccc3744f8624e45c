//! Output of a guest: into the log, bounded and escaped, never to the host's own stdout.

mod budget;
mod stream;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;

use dormouse_launch::redaction::MAX_WRITTEN_PIECE_BYTES;
use dormouse_protocol::attribution;
use dormouse_text::log_text::escaped;
use parking_lot::Mutex;
use serde_json::Value;

pub(crate) use stream::{StandardStream, StreamName};

use self::budget::OutputBudget;
use super::GivenSecrets;

/// Output of one instance: stdout and stderr together, and its log messages.
#[derive(Clone)]
pub(crate) struct InstanceOutput {
    shared: Arc<SharedOutput>,
}

struct SharedOutput {
    server: String,
    secrets: Arc<GivenSecrets>,
    printed: OutputBudget,
    logged: OutputBudget,
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

impl InstanceOutput {
    pub(crate) fn new(server: &str, limit: u64, secrets: Arc<GivenSecrets>) -> Self {
        Self {
            shared: Arc::new(SharedOutput {
                server: server.to_owned(),
                secrets,
                printed: OutputBudget::new(limit),
                logged: OutputBudget::new(limit),
                begun: Default::default(),
                last: Mutex::default(),
            }),
        }
    }

    /// Begins another call, without output of the one before.
    pub(crate) fn begin(&self) {
        self.shared.printed.begin();
        self.shared.logged.begin();
        self.shared.last.lock().clear();
    }

    /// Ends a call: its incomplete lines are logged.
    pub(crate) fn end(&self) {
        self.shared.end_lines();
    }

    /// Returns the end of the output to stderr, for an error: without control characters for terminals, and
    /// without what looks like the mark of a server.
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
        attribution::error_message(&lines.join("; "))
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
            let limit = self.shared.logged.limit();
            tracing::info!(%server, "logged more than {limit} bytes; the rest is dropped");
        }
    }

    pub(crate) fn stream(&self, name: StreamName) -> StandardStream {
        StandardStream {
            name,
            shared: Arc::clone(&self.shared),
        }
    }
}

impl SharedOutput {
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
                self.printed.limit()
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

impl Drop for SharedOutput {
    /// Logs incomplete lines also of a call that was ended from outside.
    fn drop(&mut self) {
        self.end_lines();
    }
}
