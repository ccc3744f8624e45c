//! Items by which requests to an upstream are judged.

use std::collections::BTreeSet;

use super::needed_lists::NeededLists;

/// Items of an upstream by which a request to it is judged, by their names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JudgedItems {
    /// Its tools.
    pub tools: BTreeSet<String>,
    /// Its prompts.
    pub prompts: BTreeSet<String>,
}

impl JudgedItems {
    /// Returns the items that are of any of both.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.tools.extend(other.tools);
        self.prompts.extend(other.prompts);
        self
    }

    /// Returns the lists that the items are in.
    pub(crate) fn lists(&self) -> NeededLists {
        NeededLists {
            tools: !self.tools.is_empty(),
            prompts: !self.prompts.is_empty(),
        }
    }
}
