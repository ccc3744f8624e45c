//! Problems of configuration files, and their places.

use std::fmt;
use std::path::PathBuf;

use dormouse_text::visible::{line_beginning, short_name, visible_path};

/// Problem in a configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ConfigProblem {
    /// The file.
    pub file: PathBuf,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// Message, with the wrong value in backticks.
    pub message: String,
    /// Advice on what to do about it.
    pub hint: Option<String>,
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}:{}: {}",
            visible_path(&self.file),
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
    pub problems: Vec<ConfigProblem>,
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

/// Most problems that are reported of one file: more than these come from one mistake.
pub(super) const MAX_PROBLEMS: usize = 100;

/// Shortens a message with parts of a file in it, and makes it safe to show.
pub(super) fn shown_message(text: &str) -> String {
    line_beginning(text, MAX_MESSAGE_CHARACTERS)
}

/// Returns the place of a key within a table, for messages. It is short however long the key is,
/// because it is repeated for everything within.
pub(super) fn within(at: &str, key: &str) -> String {
    format!("{at}.{}", without_backticks(&short_name(key)))
}

/// Returns a value of the file for a message: in backticks, on one line, nothing hidden in it, and
/// not too long.
pub(super) fn quoted(value: &str) -> String {
    format!("`{}`", unquoted(value))
}

/// Returns a value as [`quoted`] does, but without the backticks, for a message that has them
/// around more than the value.
pub(super) fn unquoted(value: &str) -> String {
    without_backticks(&line_beginning(value, MAX_VALUE_CHARACTERS))
}

/// Escapes backticks, so that a text cannot end those around it.
fn without_backticks(text: &str) -> String {
    text.replace('`', "\\u{60}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Origin;

    #[test]
    fn a_place_is_one_line_with_nothing_hidden_in_it() {
        let file = PathBuf::from("/x\n\u{1b}[31m\u{202e}/.mcp.json");
        let shown = "/x\\n\\u{1b}[31m\\u{202e}/.mcp.json:3";
        let origin = Origin {
            file: file.clone(),
            line: 3,
            ..Origin::default()
        };
        assert_eq!(origin.to_string(), shown);
        let problem = ConfigProblem {
            file,
            line: 3,
            column: 1,
            message: "it is wrong".to_owned(),
            hint: None,
        };
        assert_eq!(problem.to_string(), format!("{shown}:1: it is wrong"));
    }

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
