//! Stderr of a child: logged, bounded and escaped, with its end kept for the errors of callers.

use std::collections::VecDeque;
use std::sync::Arc;

use dormouse_jsonrpc::{Line, LineReader};
use dormouse_launch::environment;
use dormouse_launch::redaction::MAX_WRITTEN_PIECE_BYTES;
use dormouse_policy::LogBudget;
use dormouse_text::log_text::escaped;
use dormouse_text::visible::first_names;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, BufReader};
use tracing::Level;

use crate::server_secrets::ServerSecrets;

/// Most lines that are kept, and most bytes of each.
const MAX_LINES: usize = 20;
const MAX_LINE_BYTES: usize = 1 << 10;

/// The last words of a child.
pub(super) struct StderrTail {
    server: String,
    /// Secrets that are taken out of each line.
    secrets: Arc<ServerSecrets>,
    log: Arc<LogBudget>,
    /// Variables that are passed to the child, beside those that all get.
    pass_env: Vec<String>,
    last: Mutex<VecDeque<String>>,
}

impl StderrTail {
    pub(super) fn new(
        server: &str,
        secrets: Arc<ServerSecrets>,
        log: Arc<LogBudget>,
        pass_env: Vec<String>,
    ) -> Self {
        Self {
            pass_env,
            server: server.to_owned(),
            secrets,
            log,
            last: Mutex::default(),
        }
    }

    /// Reads stderr to its end.
    pub(super) async fn hear(&self, stderr: impl AsyncRead + Unpin) {
        let mut lines = LineReader::new(
            BufReader::new(stderr),
            MAX_LINE_BYTES + MAX_WRITTEN_PIECE_BYTES,
        );
        loop {
            // Of a long one its beginning is enough.
            let Ok(Line::Whole(line) | Line::Unfinished(line) | Line::TooLong(line)) =
                lines.next().await
            else {
                return;
            };
            let text = String::from_utf8_lossy(&line);
            let text = self.secrets.texts().redact_beginning(&text, MAX_LINE_BYTES);
            // Escaped, so that nothing can forge lines of the log or steer a terminal.
            let text = escaped(text.trim_end());
            if text.is_empty() {
                continue;
            }
            if tracing::enabled!(Level::INFO)
                && let Some(text) = self.log.take(&text)
            {
                tracing::info!(server = %self.server, stream = "stderr", "{text}");
            }
            let mut last = self.last.lock();
            if last.len() == MAX_LINES {
                last.pop_front();
            }
            last.push_back(text);
        }
    }

    /// Returns the first `bytes` of a text of the child, without secrets.
    pub(super) fn without_secrets(&self, text: &str, bytes: usize) -> String {
        let end = text.floor_char_boundary(bytes + MAX_WRITTEN_PIECE_BYTES);
        let hidden = self.secrets.texts();
        hidden.redact_beginning(text.get(..end).unwrap_or(text), bytes)
    }

    /// Returns the last lines below `what`, which is said of the child.
    pub(super) fn below(&self, what: &str) -> String {
        let last = self.last.lock();
        if last.is_empty() {
            return what.to_owned();
        }
        // Each is marked as its own: a model reads this, and hints of ours stand below it.
        let lines = last.iter().map(|line| format!("\n> {line}"));
        let lines: String = lines.collect();
        format!(
            "{what}; its last words:{lines}{}",
            self.hint_at_variables(&lines)
        )
    }

    /// Returns a hint where the lines name variables that are set here and not passed to the child,
    /// or complain of the lack of what such variables hold.
    fn hint_at_variables(&self, lines: &str) -> String {
        let names = environment::withheld(lines, &self.pass_env);
        if names.is_empty() {
            return String::new();
        }
        let verb = if names.len() == 1 { "is" } else { "are" };
        format!(
            "\nhint: {} {verb} set here and not passed to it: `pass_env` in `[servers.{}]` of \
             dormouse.toml names what is",
            first_names(&names),
            self.server
        )
    }
}
