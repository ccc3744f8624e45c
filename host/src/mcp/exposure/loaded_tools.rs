//! Tools that the agent of one session has loaded into its list.

use std::collections::BTreeSet;

use parking_lot::Mutex;

/// Most tools that one session has loaded: a list that grows without end is what loading is there to
/// avoid.
const MAX_LOADED: usize = 1000;

/// Names of the tools that the agent of one session has loaded into its list.
#[derive(Debug, Default)]
pub(in crate::mcp) struct LoadedTools(Mutex<BTreeSet<String>>);

impl LoadedTools {
    /// Returns the names.
    pub(super) fn names(&self) -> BTreeSet<String> {
        self.0.lock().clone()
    }

    /// Adds names, as long as there is room. Returns whether there is anything new among them.
    pub(super) fn add<'n>(&self, names: impl Iterator<Item = &'n str>) -> bool {
        let mut loaded = self.0.lock();
        let before = loaded.len();
        for name in names {
            if loaded.len() < MAX_LOADED {
                loaded.insert(name.to_owned());
            }
        }
        loaded.len() > before
    }
}
