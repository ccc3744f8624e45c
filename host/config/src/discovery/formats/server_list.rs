//! Lists in which a client names servers that are on or off.

use crate::discovery::document::Node;

use super::tool_names;

/// Names in such a list.
pub(super) struct ServerList<'n> {
    /// None where nobody finds out what is named.
    names: Option<Vec<&'n str>>,
    /// Whether one text stands in place of the list: clients look for a name anywhere in it.
    is_text: bool,
}

impl<'n> ServerList<'n> {
    /// Returns the list under a key, where there is one; also where something else than a table is
    /// in the table's place.
    pub(super) fn at(table: &'n Node, key: &str) -> Option<Self> {
        if table.is_no_table() {
            return Some(Self {
                names: None,
                is_text: false,
            });
        }
        let list = table.get(key)?;
        let text = list.text();
        Some(Self {
            names: text.map_or_else(|| tool_names::denials_of(list), |text| Some(vec![text])),
            is_text: text.is_some(),
        })
    }

    /// Checks whether the list may name a server: also where nobody finds out what it names.
    pub(super) fn may_name(&self, server: &str) -> bool {
        self.names.as_ref().is_none_or(|names| {
            let mut names = names.iter();
            names.any(|name| *name == server || self.is_text && name.contains(server))
        })
    }

    /// Checks whether the list names a server.
    pub(super) fn names(&self, server: &str) -> bool {
        let mut names = self.names.iter().flatten();
        names.any(|name| *name == server)
    }

    /// Checks whether the list names no server.
    pub(super) fn is_empty(&self) -> bool {
        self.names.as_ref().is_some_and(Vec::is_empty)
    }
}
