//! Problems in the files of the user's clients.

use std::collections::HashSet;

use super::Configured;
use crate::ConfigProblem;
use crate::discovery::SourceState;

impl Configured {
    /// Returns the problems in the files of the user's clients, and of projects that they trust, each
    /// once.
    #[must_use]
    pub fn problems_of_files(&self) -> Vec<ConfigProblem> {
        let sources = self.found.sources.iter();
        let sources = sources.filter(|source| self.is_trusted_scope(&source.scope));
        let problems = sources.flat_map(|source| match &source.state {
            SourceState::Missing => &[],
            SourceState::Read { problems, .. } => problems.as_slice(),
        });
        let mut told = HashSet::new();
        problems
            .filter(|problem| told.insert(*problem))
            .cloned()
            .collect()
    }
}
