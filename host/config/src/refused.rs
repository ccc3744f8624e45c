//! Servers that a file names and that nobody could use as they are written.

use std::collections::BTreeSet;
use std::fmt;

use dormouse_launch::Launch;

use super::{FilledIn, Origin, Problem};

/// A server that is not used, because something in its entry is wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct RefusedServer {
    /// Its name in the file.
    pub written_name: String,
    /// Where it is written.
    pub origin: Origin,
    /// How it is reached, nothing of the user's filled in, where so much of it could be read.
    pub written: Option<Launch>,
    /// The same, every variable expanded, where it is the user's own.
    pub launch: Option<Launch>,
    /// What of the user's own would be filled in if it were not refused, and where.
    pub filled_in: BTreeSet<FilledIn>,
    /// Reasons for the refusal.
    pub problems: Vec<Problem>,
}

impl RefusedServer {
    /// What anybody may be told of it, models too: that something is wrong, and where. What it
    /// is may be a secret in a wrong place.
    #[must_use]
    pub fn for_models(&self) -> String {
        let count = match self.problems.len() {
            1 => "something is".to_owned(),
            count => format!("{count} things are"),
        };
        format!(
            "{count} wrong in its table in your configuration, line {}, so that it is not used\n\
             hint: `dormouse doctor` says what",
            self.origin.line
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
