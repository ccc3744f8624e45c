//! Tools that the agent of one session has loaded into its list.

use std::collections::{BTreeMap, BTreeSet};

use parking_lot::Mutex;

/// Most tools that one session has loaded: a list that grows without end is what loading is there to
/// avoid.
const MAX_LOADED: usize = 1000;

/// Names of the tools that the agent of one session has loaded into its list.
#[derive(Debug, Default)]
pub(in crate::mcp) struct LoadedTools(Mutex<LoadedToolCalls>);

#[derive(Debug, Default)]
struct LoadedToolCalls {
    /// Number of the call that has loaded each tool last.
    calls: BTreeMap<String, u64>,
    /// Number of calls.
    count: u64,
}

impl LoadedToolCalls {
    /// Returns the names that were loaded last, as many as there is room for.
    fn latest(&self, room: usize) -> BTreeSet<String> {
        let mut all: Vec<_> = self.calls.iter().collect();
        all.sort_by_key(|(_, call)| std::cmp::Reverse(**call));
        let latest = all.into_iter().take(room);
        latest.map(|(name, _)| name.clone()).collect()
    }
}

impl LoadedTools {
    /// Returns the names, or those that were loaded last where there is no room for more.
    pub(super) fn names(&self, room: usize) -> BTreeSet<String> {
        self.0.lock().latest(room)
    }

    /// Adds names, as long as there are not too many. Returns whether the list is another one by that,
    /// which has room for so many.
    pub(super) fn add<'n>(&self, names: impl Iterator<Item = &'n str>, room: usize) -> bool {
        let mut loaded = self.0.lock();
        let before = loaded.latest(room);
        loaded.count += 1;
        let call = loaded.count;
        for name in names {
            if loaded.calls.len() < MAX_LOADED || loaded.calls.contains_key(name) {
                loaded.calls.insert(name.to_owned(), call);
            }
        }
        loaded.latest(room) != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_there_is_no_room_for_all_those_that_were_loaded_last_are_there() {
        let loaded = LoadedTools::default();
        let listed = |room: usize| Vec::from_iter(loaded.names(room));
        assert!(loaded.add(["a", "b"].into_iter(), 2));
        assert!(!loaded.add(["a"].into_iter(), 2));
        assert!(loaded.add(["c"].into_iter(), 2));
        assert_eq!(listed(2), ["a", "c"]);
        assert_eq!(listed(usize::MAX), ["a", "b", "c"]);
        // One that has made room is loaded anew.
        assert!(loaded.add(["b"].into_iter(), 2));
        assert_eq!(listed(2), ["b", "c"]);
        assert!(!loaded.add(["a"].into_iter(), 0) && listed(0).is_empty());
        let many: Vec<_> = (0..2 * MAX_LOADED)
            .map(|number| number.to_string())
            .collect();
        loaded.add(many.iter().map(String::as_str), usize::MAX);
        assert_eq!(loaded.names(usize::MAX).len(), MAX_LOADED);
    }
}
