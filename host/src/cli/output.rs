//! Output: data to stdout, everything else to stderr.
//!
//! Much of the printed text was written by strangers, the authors of plugins. It must not reach a
//! terminal unchanged: [`clean`] removes the control characters.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::builder::styling::{AnsiColor, Style};
use dormouse_text::broken_lines::broken_lines;
pub(super) use dormouse_text::visible::first_line;
use dormouse_text::visible::{visible, visible_json, visible_prose};
use serde::Serialize;

use super::stderr::AboveProgress;
use crate::roster::OfferRefusal;

/// Style of errors.
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();
/// Style of warnings.
pub(super) const DOUBTFUL: Style = AnsiColor::Yellow.on_default().bold();
/// Style of states that are as they should be.
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
/// Style of hints.
pub(super) const HINT: Style = AnsiColor::Cyan.on_default();
/// Style of headings and names.
pub(super) const STRONG: Style = Style::new().bold();
/// Style of text that needs none.
pub(super) const PLAIN: Style = Style::new();
/// Style of text that is there for completeness.
pub(super) const FAINT: Style = Style::new().dimmed();

/// Checks whether colours are wanted (`NO_COLOR`, `TERM`).
pub(super) fn colours_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Returns a text in a style, where stdout is a terminal.
pub(super) fn styled(style: Style, text: impl std::fmt::Display) -> String {
    paint(style, &text, io::stdout().is_terminal())
}

fn paint(style: Style, text: &dyn std::fmt::Display, terminal: bool) -> String {
    if terminal && colours_wanted() {
        format!("{style}{text}{style:#}")
    } else {
        text.to_string()
    }
}

/// Returns a number with its noun.
pub(super) fn counted<N: Copy + PartialEq + From<u8> + std::fmt::Display>(
    count: N,
    what: &str,
) -> String {
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// Prints to stdout, ending with a line break. A reader that stops early (`dormouse tools | head`)
/// is no error.
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    let end = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    written(&[text.as_bytes(), end.as_bytes()])
}

/// Prints bytes to stdout unchanged.
pub(super) fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    written(&[bytes])
}

fn written(parts: &[&[u8]]) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    let mut parts = parts.iter();
    let written = parts.try_for_each(|part| stdout.write_all(part));
    match written.and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(anyhow::Error::new(error).context("stdout cannot be written to"))
        }
        _ => Ok(()),
    }
}

/// Prints the text of a tool. A file or another program gets it unchanged; on a terminal it could
/// do harm.
pub(super) fn print_foreign(text: &str) -> anyhow::Result<()> {
    if io::stdout().is_terminal() {
        print(&visible_prose(text))
    } else {
        print(text)
    }
}

/// Prints a value as JSON, for people to read and programs to parse.
pub(super) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    print_json_text(&serde_json::to_string_pretty(value)?)
}

/// Prints a text that is JSON, with characters that a terminal would hide as escapes.
pub(super) fn print_json_text(text: &str) -> anyhow::Result<()> {
    print(&visible_json(text))
}

/// Prints a message for the user to stderr, in no fixed format.
pub(super) fn say(text: &str) {
    // Where there is no stderr, there is nobody to tell so.
    let _ = AboveProgress.write_all(format!("{text}\n").as_bytes());
}

/// Prints a warning to stderr.
pub(super) fn warn(text: &str) {
    say(&marked("warning", DOUBTFUL, text));
}

/// Prints an error of the arguments, or the help that they ask for, and returns the exit code. A
/// file name from others may be among them: if it has control characters, nothing is coloured and
/// they are shown as escapes.
#[must_use]
pub fn misuse(error: &clap::Error) -> ExitCode {
    let is_plain = std::env::args_os()
        .all(|argument| matches!(visible(&argument.to_string_lossy()), Cow::Borrowed(_)));
    // Nobody is left to be told that this cannot be told.
    let _ = match is_plain {
        true => error.print(),
        false => writeln!(io::stderr(), "{}", visible(&error.render().to_string())),
    };
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Prints the error of a command to stderr, with all causes and the hints, and returns the exit
/// code.
pub fn failure(error: &anyhow::Error) -> ExitCode {
    // What is wrong with arguments shows only when they are seen together.
    if let Some(error) = error.downcast_ref() {
        return misuse(error);
    }
    match error.downcast_ref() {
        Some(OfferRefusal::Upstream { message, .. }) => tool_failure(message),
        _ => say(&marked("error", BAD, &told(error))),
    }
    ExitCode::FAILURE
}

/// Prints the text of a failed tool, or of another refusal of a server's, to stderr. Its words may be
/// the server's own, so no line of it is shown as a hint of Dormouse's.
pub(super) fn tool_failure(text: &str) {
    let terminal = io::stderr().is_terminal();
    let text = clean(text).replace('\n', "\n  ");
    say(&format!("{}: {text}", paint(BAD, &"error", terminal)));
}

/// Returns an error and its causes, one a line.
fn told(error: &anyhow::Error) -> String {
    let mut told = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        // Some messages have their cause in them already.
        if !told.contains(&cause) {
            told.push_str(&cause);
            told.push('\n');
        }
    }
    told
}

/// Returns a message behind its mark, with its hints in their own style.
fn marked(mark: &str, style: Style, text: &str) -> String {
    let terminal = io::stderr().is_terminal();
    let mut marked = format!("{}:", paint(style, &mark, terminal));
    for (number, line) in clean(text).lines().enumerate() {
        match line.strip_prefix("hint: ") {
            Some(hint) => {
                let _ = write!(marked, "\n{}: {hint}", paint(HINT, &"hint", terminal));
            }
            None if number == 0 => {
                let _ = write!(marked, " {line}");
            }
            None => {
                let _ = write!(marked, "\n  {line}");
            }
        }
    }
    marked
}

/// Returns a stranger's text without characters that would move a terminal's cursor, change its
/// colours or worse. Line breaks and tabs stay.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    visible(text)
}

/// Returns a text that is shown to be judged, its lines broken as the terminal would break them, but
/// so that what goes on is seen to do so. Behind a pipe they stay whole.
pub(super) fn judged(text: &str) -> Cow<'_, str> {
    match terminal_columns() {
        Some(columns) => broken_lines(text, columns),
        None => Cow::Borrowed(text),
    }
}

/// Number of columns of the terminal; none where there is none.
#[cfg(unix)]
fn terminal_columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout());
    match size.map(|size| usize::from(size.ws_col)) {
        Ok(columns) if columns > 0 => Some(columns),
        _ => None,
    }
}

#[cfg(not(unix))]
fn terminal_columns() -> Option<usize> {
    None
}

/// Table with aligned columns.
#[derive(Debug)]
pub(super) struct AlignedTable {
    rows: Vec<Vec<(Style, String)>>,
}

impl AlignedTable {
    /// Makes a table with these headings.
    pub(super) fn new(headings: &[&str]) -> Self {
        let headings = headings.iter().map(|text| (STRONG, (*text).to_owned()));
        Self {
            rows: vec![headings.collect()],
        }
    }

    /// Adds a row.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = (Style, String)>) {
        let cells = cells.into_iter();
        self.rows.push(
            cells
                .map(|(style, text)| (style, clean(&text).replace('\n', " ")))
                .collect(),
        );
    }

    /// Returns the table's text.
    pub(super) fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells
                    .map(|(_, text)| text.chars().count())
                    .max()
                    .unwrap_or_default()
            })
            .collect();
        let mut table = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for ((style, text), width) in row.iter().zip(&widths) {
                let pad = width.saturating_sub(text.chars().count()) + 2;
                line.push_str(&styled(*style, text));
                line.push_str(&" ".repeat(pad));
            }
            table.push_str(line.trim_end());
            table.push('\n');
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strangers_text_is_harmless() {
        assert_eq!(clean("a\tb\nä"), "a\tb\nä");
        assert_eq!(
            clean("\u{1b}[2Jx\u{7}\r\u{9b}\u{202e}"),
            "\\u{1b}[2Jx\\u{7}\\r\\u{9b}\\u{202e}"
        );
    }

    #[test]
    fn failures_tell_their_causes_and_hints_once() {
        let error = anyhow::anyhow!("inner\nhint: do this")
            .context("outer: inner\nhint: do this")
            .context("most");
        assert_eq!(
            marked("error", BAD, &told(&error)),
            "error: most\n  outer: inner\nhint: do this"
        );
    }

    #[test]
    fn columns_are_aligned() {
        let mut table = AlignedTable::new(&["NAME", "X"]);
        table.row([(GOOD, "ä".to_owned()), (BAD, "1\n2".to_owned())]);
        table.row([(GOOD, "longer".to_owned()), (BAD, "3".to_owned())]);
        assert_eq!(table.render(), "NAME    X\nä       1 2\nlonger  3\n");
    }
}
