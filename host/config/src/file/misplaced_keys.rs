//! Keys at the top of the file that are none of its keys, as far as what they say may have been meant
//! to deny something: nobody knows what, so that nothing is allowed.

use dormouse_text::nearest::nearest;
use toml_edit::{Item, TableLike};

use super::TOP;
use crate::Config;

/// Keys of `[exposure]` that say which tools can be called.
const OF_EXPOSURE: &[&str] = &["allow", "deny", "confirm"];

/// Keys of a server's table that say which of its tools can be called.
const OF_SERVER: &[&str] = &["include_tools", "exclude_tools"];

/// Key of `[discovery]` that says whose servers are shown.
const OF_DISCOVERY: &[&str] = &["clients"];

/// Keys that are not where they belong, by what they keep from being known.
#[derive(Debug, Default)]
pub(super) struct MisplacedKeys {
    /// Whether it is open which tools can be called.
    is_exposure_open: bool,
    /// Whether it is open which clients' servers are shown.
    is_discovery_open: bool,
}

impl MisplacedKeys {
    /// Adds an unknown key at the top. Returns where it belongs, if it is one of another table.
    pub(super) fn add(&mut self, key: &str, item: &Item) -> Option<&'static str> {
        let of_tables = OF_EXPOSURE.iter().chain(OF_SERVER).chain(OF_DISCOVERY);
        let candidates = TOP.iter().chain(of_tables).copied();
        let meant = |key: &str| nearest(key, candidates.clone());
        let key = meant(key);
        let belongs = match key {
            Some(key) if OF_EXPOSURE.contains(&key) => Some("`[exposure]`"),
            Some(key) if OF_SERVER.contains(&key) => Some("the table of its server"),
            Some(key) if OF_DISCOVERY.contains(&key) => Some("`[discovery]`"),
            Some(_) | None => None,
        };
        match key {
            Some(key) => self.note(key),
            // A table of any other name is known by what it says.
            None => each_key(item, &mut |key| {
                if let Some(key) = meant(key) {
                    self.note(key);
                }
            }),
        }
        belongs
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

/// Calls a function with the keys of all tables in an item. How deep these lie, the parser limits.
fn each_key(item: &Item, each: &mut impl FnMut(&str)) {
    let tables = item.as_array_of_tables().into_iter().flatten();
    let tables = tables.map(|table| -> &dyn TableLike { table });
    for table in tables.chain(item.as_table_like()) {
        for (key, item) in table.iter() {
            each(key);
            each_key(item, each);
        }
    }
}
