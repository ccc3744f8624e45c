//! Servers that a file names and that cannot be used as they are written.

use std::collections::BTreeSet;
use std::fmt;

use dormouse_launch::Launch;

use crate::{ConfigProblem, FilledIn, Origin};

/// A server that is not used, because something in its entry is wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct RefusedServer {
    /// Name of the server in the file.
    pub written_name: String,
    /// Place where it is written.
    pub origin: Origin,
    /// Launch, nothing of the user's filled in, where so much of it could be read.
    pub written: Option<Launch>,
    /// The launch with every variable expanded, where it is the user's own.
    pub launch: Option<Launch>,
    /// Sources of the user's own that would be filled in if the server were not refused, and their
    /// places.
    pub filled_in: BTreeSet<FilledIn>,
    /// Reasons for the refusal.
    pub problems: Vec<ConfigProblem>,
}

impl RefusedServer {
    /// Returns the text that anybody may be told, models too: that something is wrong, and where.
    /// What is wrong may be a secret in a wrong place.
    #[must_use]
    pub fn for_models(&self) -> String {
        let count = match self.problems.len() {
            1 => "something is".to_owned(),
            count => format!("{count} things are"),
        };
        let place = match self.origin.client {
            Some(_) => format!("in its entry at {}", self.origin),
            None => format!(
                "in its table in your configuration, line {}",
                self.origin.line
            ),
        };
        format!(
            "{count} wrong {place}, so that it is not used\n\
             hint: `dormouse doctor` says what"
        )
    }
}

impl fmt::Display for RefusedServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            write!(f, "{end}{problem}")?;
        }
        Ok(())
    }
}
