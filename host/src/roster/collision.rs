//! Names that more than one thing has.

use std::collections::{BTreeSet, HashSet};
use std::fmt;

/// Things that would be shown under one name, and so are not shown at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collision {
    /// What they are: `tool`, say.
    pub what: &'static str,
    /// The name that agents would see, or the URI.
    pub name: String,
    /// Whose they are, as (server, own name).
    pub owners: Vec<(String, String)>,
}

impl fmt::Display for Collision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = self.what;
        for (i, (server, own)) in self.owners.iter().enumerate() {
            let and = if i == 0 { "" } else { " and " };
            write!(f, "{and}{what} `{own}` of server `{server}`")?;
        }
        let mend = match what {
            "tool" | "prompt" => "give one of the servers another `prefix` in the configuration",
            _ => "disable one of the servers",
        };
        write!(
            f,
            " would all be shown as `{}`, so none of them is shown\nhint: {mend}",
            self.name
        )
    }
}

/// The names that more than one has, of (name, server, own name).
pub(super) fn collisions<'a>(
    what: &'static str,
    all: impl Iterator<Item = (&'a str, &'a str, &'a str)> + Clone,
) -> Vec<Collision> {
    let mut seen = HashSet::new();
    let twice: BTreeSet<&str> = all
        .clone()
        .map(|(name, ..)| name)
        .filter(|name| !seen.insert(*name))
        .collect();
    let owners = |wanted: &str| {
        let those = all.clone().filter(|(name, ..)| *name == wanted);
        those
            .map(|(_, server, own)| (server.to_owned(), own.to_owned()))
            .collect()
    };
    twice
        .into_iter()
        .map(|name| Collision {
            what,
            name: name.to_owned(),
            owners: owners(name),
        })
        .collect()
}
