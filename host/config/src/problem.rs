//! What is wrong with a configuration file, and where.

use std::fmt;
use std::path::PathBuf;

use dormouse_text::visible::{line_beginning, short_name};

/// One thing that is wrong in a configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Problem {
    /// The file.
    pub file: PathBuf,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// What is wrong, with the value in backticks.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}:{}: {}",
            self.file.display(),
            self.line,
            self.column,
            self.message
        )?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

/// A configuration file that cannot be used, with everything that is wrong in it:
/// whoever has made two mistakes wants to hear of both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// The problems, in the order of the file.
    pub problems: Vec<Problem>,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Invalid {}

/// Most characters of a message.
const MAX_MESSAGE_CHARACTERS: usize = 1000;

/// Most characters of a value within a message.
const MAX_VALUE_CHARACTERS: usize = 60;

/// Most things that are said of what is wrong in one file: whoever has made more mistakes has
/// made one.
pub(super) const MAX_PROBLEMS: usize = 100;

/// A message in which something of a file may stand, whatever that is.
pub(super) fn shown_message(text: &str) -> String {
    line_beginning(text, MAX_MESSAGE_CHARACTERS)
}

/// Place of a key within a table, for a message. It is short however long the key is: it is
/// said of each thing within.
pub(super) fn within(at: &str, key: &str) -> String {
    format!("{at}.{}", without_backticks(&short_name(key)))
}

/// A value as it stands in the file, fit to be shown in a message: in backticks,
/// on one line, nothing hidden in it, and not too long.
pub(super) fn quoted(value: &str) -> String {
    format!("`{}`", unquoted(value))
}

/// The same without the backticks, for a message that has them around more than the value.
pub(super) fn unquoted(value: &str) -> String {
    without_backticks(&line_beginning(value, MAX_VALUE_CHARACTERS))
}

/// A text that cannot end the backticks around it.
fn without_backticks(text: &str) -> String {
    text.replace('`', "\\u{60}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_one_line_with_nothing_hidden_in_it_and_ends_where_its_quotes_do() {
        let long = "x".repeat(61);
        for (value, shown) in [
            ("a b", "`a b`"),
            ("a\nhint: do b", "`a\\nhint: do b`"),
            ("a` (b", "`a\\u{60} (b`"),
            (
                "\u{202e}\u{1b}[31m\u{e0041}",
                "`\\u{202e}\\u{1b}[31m\\u{e0041}`",
            ),
            (&long, &format!("`{}…`", "x".repeat(60))),
        ] {
            assert_eq!(quoted(value), shown);
        }
        assert_eq!(within("env", "A`\u{202e}"), "env.A\\u{60}\\u{202e}");
    }
}
