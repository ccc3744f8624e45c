//! Listener of a call that was begun on the command line.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;

use dormouse_protocol::{Answer, AskError, Capability, Listener, Question};
use dormouse_text::visible::visible_line;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::Value;

use super::output;
use super::person::Person;
use super::progress::ProgressLine;

/// Listener that shows a call's messages while it runs, and asks the user at the terminal its
/// questions.
pub(super) struct Terminal {
    shown: Arc<TerminalOutput>,
    /// User who answers; none where there is no terminal to read and to type on.
    person: Option<Arc<tokio::sync::Mutex<Person>>>,
}

#[derive(Default)]
struct TerminalOutput(Mutex<TerminalState>);

#[derive(Default)]
struct TerminalState {
    progress: Option<ProgressLine>,
    /// Number of questions that wait: a progress line would overwrite the typed text.
    asking: usize,
    /// Log messages that came meanwhile: the user sees the question alone, and nothing that looks
    /// like another one.
    held: HeldLogs,
}

/// Most bytes of log messages that are held while a question waits.
const MAX_HELD_BYTES: usize = 64 << 10;

/// Log messages that wait until a question is answered.
#[derive(Default)]
struct HeldLogs {
    lines: Vec<String>,
    bytes: usize,
    left_out: usize,
}

impl HeldLogs {
    fn hold(&mut self, line: String) {
        if self.bytes + line.len() > MAX_HELD_BYTES {
            self.left_out += 1;
            return;
        }
        self.bytes += line.len();
        self.lines.push(line);
    }

    fn into_lines(self) -> Vec<String> {
        let mut lines = self.lines;
        if self.left_out > 0 {
            let messages = output::counted(self.left_out as u64, "log message");
            lines.push(format!("{messages} that came meanwhile left out"));
        }
        lines
    }
}

/// Returns a log message with its level and logger at each of its lines, so that none of them looks
/// like Dormouse's own.
fn marked(level: &str, logger: Option<&str>, text: &str) -> String {
    let logger = logger.map(|logger| format!(" {logger}"));
    let mark = format!("{level}{}: ", logger.unwrap_or_default());
    let lines: Vec<_> = text.lines().map(|line| format!("{mark}{line}")).collect();
    match lines.is_empty() {
        true => mark,
        false => lines.join("\n"),
    }
}

/// Hides the progress line and holds log messages until this is dropped.
struct Still(Arc<TerminalOutput>);

impl Still {
    fn keep(shown: &Arc<TerminalOutput>) -> Self {
        let mut state = shown.0.lock();
        state.progress = None;
        state.asking += 1;
        Self(Arc::clone(shown))
    }
}

impl Drop for Still {
    fn drop(&mut self) {
        let mut state = self.0.0.lock();
        state.asking -= 1;
        if state.asking > 0 {
            return;
        }
        let held = std::mem::take(&mut state.held);
        drop(state);
        for line in held.into_lines() {
            output::say(&line);
        }
    }
}

impl Terminal {
    /// Makes the listener of a call.
    pub(super) fn new() -> Self {
        let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        let show = |text: &str| {
            // Where there is no stderr, nobody will answer either.
            let _ = std::io::stderr().write_all(text.as_bytes());
        };
        let person = || Arc::new(tokio::sync::Mutex::new(Person::new(show)));
        Self {
            shown: Arc::default(),
            person: terminal.then(person),
        }
    }
}

impl Listener for Terminal {
    fn progress(&self, progress: f64, total: Option<f64>, message: Option<String>) {
        let mut state = self.shown.0.lock();
        if state.asking == 0 {
            let shown = state.progress.get_or_insert_with(|| ProgressLine::new(""));
            shown.at(progress, total, message.as_deref());
        }
    }

    fn preparing(&self, what: String) {
        self.progress(0.0, None, Some(what));
    }

    fn log(&self, level: &'static str, logger: Option<String>, data: Value) {
        let data = match data {
            Value::String(text) => text,
            other => other.to_string(),
        };
        let logger = logger.as_deref().map(visible_line);
        let line = marked(level, logger.as_deref(), &output::clean(&data));
        let mut state = self.shown.0.lock();
        if state.asking > 0 {
            state.held.hold(line);
            return;
        }
        drop(state);
        output::say(&line);
    }

    /// Asks for all logs.
    fn level(&self) -> Option<&'static str> {
        Some("debug")
    }

    /// Returns true for forms and pages where a user sits at the terminal. Answers from a script
    /// would not be a person's.
    fn supports(&self, capability: Capability) -> bool {
        use Capability::{ElicitationForm, ElicitationUrl};
        self.person.is_some() && matches!(capability, ElicitationForm | ElicitationUrl)
    }

    /// The command ends with its call, and with it the page that a login comes back to.
    fn outlives_call(&self) -> bool {
        false
    }

    /// Returns true at a terminal, because the person there is the user.
    fn may_decide(&self) -> bool {
        self.person.is_some()
    }

    fn lacks(&self, lacked: &[Capability]) -> String {
        use Capability::{ElicitationForm, ElicitationUrl};
        let Some(lacked) = lacked.first() else {
            return String::new();
        };
        match lacked {
            ElicitationForm | ElicitationUrl => format!(
                "nobody can be asked here (`{lacked}`)\n\
                 hint: run it on a terminal, with neither stdin nor stderr redirected"
            ),
            _ => format!("the command line has no `{lacked}`\nhint: call it from an agent"),
        }
    }

    fn ask(&self, questions: Vec<Question>) -> BoxFuture<'static, Result<Vec<Answer>, AskError>> {
        let needed: Vec<_> = questions.iter().flat_map(Question::needs).collect();
        let Some(person) = self.person.clone() else {
            let lacks = AskError::Unsupported(self.lacks(&needed));
            return Box::pin(std::future::ready(Err(lacks)));
        };
        let shown = Arc::clone(&self.shown);
        Box::pin(async move {
            let mut person = person.lock().await;
            let _still = Still::keep(&shown);
            let mut answers = Vec::with_capacity(questions.len());
            for question in &questions {
                answers.push(person.answer(question).await?);
            }
            Ok(answers)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_a_log_message_says_whose_it_is() {
        for (text, expected) in [
            ("one", "info x: one"),
            (
                "one\ntwo\r\n\nlast\n",
                "info x: one\ninfo x: two\ninfo x: \ninfo x: last",
            ),
            ("", "info x: "),
        ] {
            assert_eq!(marked("info", Some("x"), text), expected);
        }
        assert_eq!(marked("info", None, "one"), "info: one");
    }

    #[test]
    fn log_messages_wait_for_the_answer_to_a_question() {
        let shown = Arc::new(TerminalOutput::default());
        let still = Still::keep(&shown);
        let again = Still::keep(&shown);
        for _ in 0..3 {
            shown.0.lock().held.hold("x".repeat(MAX_HELD_BYTES / 2));
        }
        drop(still);
        assert_eq!(shown.0.lock().held.lines.len(), 2);
        drop(again);
        assert!(shown.0.lock().held.lines.is_empty());
        let mut held = HeldLogs::default();
        held.hold("a".to_owned());
        held.hold("x".repeat(MAX_HELD_BYTES));
        let expected = ["a", "1 log message that came meanwhile left out"];
        assert_eq!(held.into_lines(), expected);
    }
}
