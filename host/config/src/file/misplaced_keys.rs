//! Keys that no table of theirs knows, as far as what they say may have been meant to deny something:
//! nobody knows what, so that nothing is allowed. A key for the top of the file that is written below
//! the head of some table is one of that table.

use dormouse_text::nearest::{is_within_one_edit, nearest};
use toml_edit::{Array, Item, TableLike};

use super::TOP;
use crate::Config;

/// Keys of `[exposure]` that say which tools can be called.
const OF_EXPOSURE: &[&str] = &["allow", "deny", "confirm"];

/// Keys of a server's table that say which of its tools can be called.
const OF_SERVER: &[&str] = &["include_tools", "exclude_tools"];

/// Key of `[discovery]` that says whose servers are shown.
const OF_DISCOVERY: &[&str] = &["clients"];

/// Returns all keys that are looked for where they do not belong, but for those of the top.
fn of_tables() -> impl Iterator<Item = &'static str> {
    let all = OF_EXPOSURE.iter().chain(OF_SERVER).chain(OF_DISCOVERY);
    all.copied()
}

/// Keys that are not where they belong, by what they keep from being known.
#[derive(Debug, Default)]
pub(crate) struct MisplacedKeys {
    /// Whether it is open which tools can be called.
    is_exposure_open: bool,
    /// Whether it is open which clients' servers are shown.
    is_discovery_open: bool,
}

impl MisplacedKeys {
    /// Returns where an unknown key of a table with these keys belongs, if it is one of another table
    /// beyond doubt.
    pub(crate) fn place_of(key: &str, known: &[&str]) -> Option<&'static str> {
        if known.iter().any(|known| is_within_one_edit(key, known)) {
            return None;
        }
        let key = of_tables().find(|of_table| is_within_one_edit(key, of_table))?;
        Some(match key {
            key if OF_EXPOSURE.contains(&key) => "`[exposure]`",
            key if OF_SERVER.contains(&key) => "the table of its server",
            _ => "`[discovery]`",
        })
    }

    /// Adds an unknown key of a table with these keys.
    pub(crate) fn add(&mut self, key: &str, item: &Item, known: &[&str]) {
        match meant(key, item, known) {
            Some(meant) if TOP.contains(&meant) => {
                self.note(meant);
                // What was written below the head of a misspelt table may be a key for the top.
                each_key(item, &mut |key, item| {
                    if item.is_array() && matches!(key, "allow" | "deny") {
                        self.note(key);
                    }
                });
            }
            Some(meant) if known.contains(&meant) => {}
            Some(meant) => self.note(meant),
            // A table of any other name is known by what it says.
            None => each_key(item, &mut |key, item| {
                if let Some(meant) = meant(key, item, &[]) {
                    self.note(meant);
                }
            }),
        }
    }

    /// Adds an array that is in the place of something else, by its key: where any name may be a key, as
    /// in `[servers]`, none is unknown.
    pub(crate) fn add_array(&mut self, at: &str) {
        let key = at.rsplit_once('.').map_or(at, |(_, key)| key);
        if let Some(meant) = of_tables().find(|of_table| is_within_one_edit(key, of_table)) {
            self.note(meant);
        }
    }

    fn note(&mut self, key: &str) {
        self.is_exposure_open |=
            key == "exposure" || OF_EXPOSURE.contains(&key) || OF_SERVER.contains(&key);
        self.is_discovery_open |= key == "discovery" || OF_DISCOVERY.contains(&key);
    }

    /// Allows nothing of what is open, whatever the tables of the right names say.
    pub(super) fn close(self, config: &mut Config) {
        if self.is_exposure_open {
            config.exposure.allow = Some(Vec::new());
        }
        if self.is_discovery_open {
            config.discovery.clients = Some(Vec::new());
        }
    }
}

/// Returns where a key belongs of which nothing is known where it is written, if it is one of a table
/// of Dormouse's beyond doubt.
#[must_use]
pub fn place_of_key(key: &str) -> Option<&'static str> {
    MisplacedKeys::place_of(key, &[])
}

/// Returns what was probably meant by an unknown key of a table with these keys.
fn meant<'k>(key: &str, item: &Item, known: &'k [&'k str]) -> Option<&'k str> {
    // What says which tools can be called is a list: a table is none of these that is only like them.
    let is_table = item.is_table_like() || item.is_array_of_tables();
    let of_tables = of_tables().filter(|of_table| !is_table || is_within_one_edit(key, of_table));
    let of_tables = of_tables.map(|of_table| -> &'k str { of_table });
    let known = known.iter().copied().chain(TOP.iter().copied());
    nearest(key, known.chain(of_tables))
}

/// Calls a function with the keys of all tables in an item, and what they have. How deep these lie, the
/// parser limits.
fn each_key(item: &Item, each: &mut impl FnMut(&str, &Item)) {
    let tables = item.as_array_of_tables().into_iter().flatten();
    let tables = tables.map(|table| -> &dyn TableLike { table });
    for table in tables.chain(item.as_table_like()) {
        each_key_of_table(table, each);
    }
    if let Some(array) = item.as_array() {
        each_key_of_array(array, each);
    }
}

fn each_key_of_table(table: &dyn TableLike, each: &mut impl FnMut(&str, &Item)) {
    for (key, item) in table.iter() {
        each(key, item);
        each_key(item, each);
    }
}

fn each_key_of_array(array: &Array, each: &mut impl FnMut(&str, &Item)) {
    for value in array {
        if let Some(table) = value.as_inline_table() {
            each_key_of_table(table, each);
        }
        if let Some(array) = value.as_array() {
            each_key_of_array(array, each);
        }
    }
}
