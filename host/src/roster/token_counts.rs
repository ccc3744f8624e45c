//! Counting the tokens of what agents may be shown.

use std::sync::Arc;

use dormouse_tokens::KeptCounts;

use super::{Roster, Snapshot};
use crate::child_commands::count_command;

impl Roster {
    /// Counts those of these texts whose number of tokens is not known yet, in a process of its own,
    /// and keeps the numbers: they decide from the next snapshot on. Returns all that are known.
    ///
    /// # Errors
    /// The process fails, or the numbers cannot be written.
    pub fn count_tokens(
        &self,
        texts: impl IntoIterator<Item = String>,
    ) -> anyhow::Result<KeptCounts> {
        // Two at once would count the same.
        let _counting = self.counting.lock();
        KeptCounts::complete(&self.places.token_counts(), texts, count_command)
    }

    /// Returns the numbers of tokens that are known.
    #[must_use]
    pub fn token_counts(&self) -> KeptCounts {
        KeptCounts::read(&self.places.token_counts())
    }

    /// Returns a snapshot of the same servers as now, in which the numbers of tokens decide that have
    /// been counted since.
    pub fn snapshot_anew(&self) -> Arc<Snapshot> {
        let old = self.snapshot();
        let config = self.config();
        Arc::new(Snapshot::new(
            old.servers().clone(),
            old.named().clone(),
            old.untrusted().cloned(),
            config.reserved_names(),
            old.rules().clone(),
            self.snapshot_files.clone(),
        ))
    }
}
