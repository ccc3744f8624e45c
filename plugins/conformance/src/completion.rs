//! Completions of arguments.

use dormouse_sdk::{Completion, Completions, Reference};

use crate::Fixtures;

impl Completion for Fixtures {
    fn complete(
        of: Reference,
        argument: String,
        value: String,
        _context: Vec<(String, String)>,
    ) -> Result<Completions, String> {
        let known: &[&str] = match (&of, argument.as_str()) {
            (Reference::Prompt(_), "arg1") => &["paris", "park", "party", "test", "testing"],
            (Reference::Prompt(_), "arg2") => &["hello", "world"],
            (Reference::Template(_), "id") => &["1", "12", "123"],
            _ => &[],
        };
        let fitting = known.iter().filter(|one| one.starts_with(&value));
        Ok(fitting.copied().collect())
    }
}
