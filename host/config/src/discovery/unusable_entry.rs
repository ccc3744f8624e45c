//! Entries of clients' files that cannot be used as they are written.

use std::collections::BTreeSet;

use dormouse_launch::Launch;

use super::Discovery;
use crate::{Adapter, Client, ConfigProblem, Origin, RefusedServer, Scope, ServerConfig};

/// An entry that cannot be used as it is written. It stands in the place of those of its name that
/// its client reads before it, and what it may deny stays denied.
#[derive(Debug, Clone, PartialEq)]
pub struct UnusableEntry {
    /// Place where the entry is written.
    pub origin: Origin,
    /// Name of the entry in the file; empty where it has none.
    pub written_name: String,
    /// The same name, as one that is fit for a server.
    pub name: String,
    /// Program with its arguments and folder, or URL, as far as it can be read, with everything filled
    /// in; none where the entry is a project's.
    pub launch: Option<Launch>,
    /// Problems of the entry; none where something is no server that could be bridged.
    pub problems: Option<Vec<ConfigProblem>>,
    /// Number of servers of [`Discovery::found`](super::Discovery::found) that are read before it.
    pub(super) place: usize,
}

impl UnusableEntry {
    /// Returns its client and the name that this has for it.
    pub(super) fn key(&self) -> (Option<Client>, &str) {
        (self.origin.client, &self.written_name)
    }

    /// Whether the entry is written in a file of a project's.
    #[must_use]
    pub fn is_of_project(&self) -> bool {
        matches!(self.origin.scope, Scope::Project(_))
    }

    /// Returns the server that the entry is shown as: one that is never started, and says why. None
    /// where the entry has no name, or nothing is wrong in it.
    pub(super) fn refused(&self) -> Option<ServerConfig> {
        let problems = self.problems.clone()?;
        if self.written_name.is_empty() {
            return None;
        }
        let refused = RefusedServer {
            written_name: self.written_name.clone(),
            origin: self.origin.clone(),
            written: None,
            launch: self.launch.clone(),
            filled_in: BTreeSet::new(),
            problems,
        };
        let adapter = Adapter::Refused(Box::new(refused));
        Some(ServerConfig::new(&self.name, adapter, self.origin.clone()))
    }
}

impl Discovery {
    /// Returns the user's entry that a server's client takes in place of that, and that cannot be
    /// used. `index` is the server's among those that were found.
    pub(crate) fn unusable_in_place_of(&self, index: usize) -> Option<&UnusableEntry> {
        let found = self.found.get(index)?;
        let key = (found.server.origin.client, found.written_name.as_str());
        let mut entries = self.unusable.iter();
        entries.find(|entry| !entry.is_of_project() && entry.key() == key && entry.place > index)
    }
}
