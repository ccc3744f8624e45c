//! Names of withheld items under which something else was seen before: until their user has decided,
//! no item of another server is shown under these names, because an agent would take it for the
//! withheld one.

use std::collections::HashMap;
use std::sync::Arc;

use crate::roster::{Server, names};
use crate::store::Gated;

/// Names of one kind, each with the items that would be shown under it.
pub(super) struct WaitingNames<'s>(HashMap<String, Vec<WaitingItem<'s>>>);

/// Withheld item of a server, by its own name.
#[derive(Clone, Copy, PartialEq, Eq)]
struct WaitingItem<'s> {
    server: &'s str,
    own: &'s str,
    is_of_project: bool,
}

impl<'s> WaitingNames<'s> {
    /// Collects the withheld tools or prompts of these servers under whose names something else was
    /// seen before.
    pub(super) fn of(kind: Gated, servers: impl Iterator<Item = &'s Arc<Server>>) -> Self {
        let mut all = Self(HashMap::new());
        for server in servers {
            let config = server.config();
            // What nobody knows yet takes no name from anybody.
            let known = server.withheld(kind).filter(|item| item.is_known);
            for own in known.map(|item| item.name.as_str()) {
                let name = names::shown(&config.name, config.prefix.as_deref(), own);
                let item = WaitingItem {
                    server: &config.name,
                    own,
                    is_of_project: config.is_of_project(),
                };
                all.add(name, item);
            }
        }
        all
    }

    fn add(&mut self, name: String, item: WaitingItem<'s>) {
        let items = self.0.entry(name).or_default();
        let alike = items.iter();
        let alike = alike.filter(|other| other.is_of_project == item.is_of_project);
        // Of two, one is another than whatever is asked about.
        if alike.count() < 2 && !items.contains(&item) {
            items.push(item);
        }
    }

    /// Returns the withheld item under the name that an item of a server, by its own name, would be
    /// shown under, as (server, own name). None if there is only that item itself. Names of a
    /// project's withheld items are kept from projects' items alone.
    pub(super) fn taken_by(
        &self,
        server: &Server,
        own: &str,
        shown: &str,
    ) -> Option<(&'s str, &'s str)> {
        let config = server.config();
        let mut items = self.0.get(shown)?.iter();
        let other = items.find(|item| {
            let is_itself = item.server == config.name && item.own == own;
            !is_itself && (!item.is_of_project || config.is_of_project())
        })?;
        Some((other.server, other.own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_wait_are_noted_in_linear_time() {
        // As many names as servers, and one that all of them have.
        for different in [true, false] {
            let names = |size: usize| -> Vec<String> { (0..size).map(|n| n.to_string()).collect() };
            dormouse_tests::growth::is_linear("names", 500, names, |names: &Vec<String>| {
                let mut all = WaitingNames(HashMap::new());
                for (number, own) in names.iter().enumerate() {
                    let item = WaitingItem {
                        server: own,
                        own,
                        is_of_project: number % 2 == 0,
                    };
                    let shown = if different { own } else { "same" };
                    all.add(shown.to_owned(), item);
                }
                let most = all.0.values().map(Vec::len).max().unwrap();
                assert_eq!(most, if different { 1 } else { 4 });
            });
        }
    }
}
