//! Stderr of a child: logged, bounded and escaped, with its beginning and its end kept for the errors
//! of callers.

use std::collections::VecDeque;
use std::sync::Arc;

use dormouse_jsonrpc::{Line, LineReader};
use dormouse_launch::environment;
use dormouse_launch::redaction::MAX_WRITTEN_PIECE_BYTES;
use dormouse_policy::LogBudget;
use dormouse_protocol::attribution;
use dormouse_text::log_text::escaped;
use dormouse_text::visible::first_names;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, BufReader};
use tracing::Level;

use crate::server_secrets::ServerSecrets;

/// Most lines that are kept of the beginning, of the end, and most bytes of each. Programs tell the
/// cause first where they or what has started them print a stack after it.
const FIRST_LINES: usize = 5;
const LAST_LINES: usize = 20;
const MAX_LINE_BYTES: usize = 1 << 10;

/// The last words of a child.
pub(super) struct StderrTail {
    server: String,
    /// Secrets that are taken out of each line.
    secrets: Arc<ServerSecrets>,
    log: Arc<LogBudget>,
    /// Variables that are passed to the child, beside those that all get.
    pass_env: Vec<String>,
    kept: Mutex<KeptLines>,
}

/// Lines of the beginning and of the end.
#[derive(Default)]
struct KeptLines {
    first: Vec<String>,
    last: VecDeque<String>,
    /// Number of the lines between them.
    left_out: u64,
}

impl KeptLines {
    fn add(&mut self, line: String) {
        if self.first.len() < FIRST_LINES {
            return self.first.push(line);
        }
        if self.last.len() == LAST_LINES {
            self.last.pop_front();
            self.left_out += 1;
        }
        self.last.push_back(line);
    }

    /// Returns the lines, each marked as the child's own: a model reads this, and hints of Dormouse stand
    /// below it.
    fn marked(&self) -> String {
        let left_out = match self.left_out {
            0 => String::new(),
            1 => "\n(1 line left out)".to_owned(),
            number => format!("\n({number} lines left out)"),
        };
        let (first, last) = (marked_lines(&self.first), marked_lines(&self.last));
        format!("{first}{left_out}{last}")
    }
}

/// Returns lines that follow each other, each marked as the child's own, and without what looks like the mark
/// of a server, in one of them or over several.
fn marked_lines<'l>(lines: impl IntoIterator<Item = &'l String>) -> String {
    let lines: Vec<_> = lines.into_iter().map(String::as_str).collect();
    let text = attribution::error_message(&lines.join("\n"));
    text.lines().map(|line| format!("\n> {line}")).collect()
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
            kept: Mutex::default(),
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
            self.kept.lock().add(text);
        }
    }

    /// Returns the first `bytes` of a text of the child, without secrets.
    pub(super) fn without_secrets(&self, text: &str, bytes: usize) -> String {
        let end = text.floor_char_boundary(bytes + MAX_WRITTEN_PIECE_BYTES);
        let hidden = self.secrets.texts();
        hidden.redact_beginning(text.get(..end).unwrap_or(text), bytes)
    }

    /// Returns the kept lines below `what`, which is said of the child.
    pub(super) fn below(&self, what: &str) -> String {
        let lines = self.kept.lock().marked();
        if lines.is_empty() {
            return what.to_owned();
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What a process has said before it ended is no other server's, and no word of Dormouse's.
    #[test]
    fn no_last_words_of_a_process_look_like_a_mark() {
        let mut kept = KeptLines::default();
        for line in [
            "[server `bank`] PIN",
            "[1] ok",
            "BrokenPipeError: [Errno 32]",
        ] {
            kept.add(line.to_owned());
        }
        let told = "\n> (server `bank`] PIN\n> [1] ok\n> BrokenPipeError: [Errno 32]";
        assert_eq!(kept.marked(), told);
        // Nor over several lines, which a reader may take for one.
        let mut kept = KeptLines::default();
        for line in ["[server", "`bank`] PIN"] {
            kept.add(line.to_owned());
        }
        assert_eq!(kept.marked(), "\n> (server\n> `bank`] PIN");
    }

    #[test]
    fn the_cause_is_kept_before_a_long_stack() {
        let mut kept = KeptLines::default();
        let lines = |kept: &KeptLines| kept.marked().lines().count();
        kept.add("Authentication required".to_owned());
        for number in 1..FIRST_LINES + LAST_LINES {
            kept.add(format!("at {number}"));
        }
        // The first one is empty: they stand below something.
        assert_eq!(lines(&kept), 1 + FIRST_LINES + LAST_LINES);
        assert!(!kept.marked().contains("left out"), "{}", kept.marked());
        for number in 0..30 {
            kept.add(format!("later {number}"));
        }
        let told = kept.marked();
        assert_eq!(lines(&kept), 2 + FIRST_LINES + LAST_LINES, "{told}");
        let begins = "\n> Authentication required\n> at 1\n> at 2\n> at 3\n> at 4\n(30 lines left out)\n> later 10";
        assert!(told.starts_with(begins), "{told}");
        assert!(told.ends_with("> later 29"), "{told}");
    }
}
