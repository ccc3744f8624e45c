//! Names that more than one item has.

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use dormouse_config::name;
use dormouse_text::visible::short_name;

use crate::roster::uris::split;

/// Most items that a message names one by one: servers choose how many there are.
const MAX_NAMED: usize = 20;

/// Items that would be shown under one name, or under a name that is another's, and so are not
/// shown.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Collision {
    /// Kind of the items: `tool`, say.
    pub what: &'static str,
    /// Name that agents would see, or URI.
    pub name: String,
    /// Owners of the items, as (server, own name).
    pub owners: Vec<(String, String)>,
    /// Whether the item is a project's, and the name is that of the user's own server.
    pub is_of_project: bool,
    /// Server that the name is kept for, as that of the tool by which Dormouse connects it.
    pub kept_for: Option<String>,
}

impl Collision {
    /// Makes the collision of a server's item, by the server's `own` name for it, with a name that
    /// Dormouse keeps for itself.
    pub(super) fn with_dormouse(what: &'static str, name: &str, server: &str, own: &str) -> Self {
        Self {
            what,
            name: name.to_owned(),
            owners: vec![(server.to_owned(), own.to_owned())],
            is_of_project: false,
            kept_for: None,
        }
    }

    /// Names the server that the name is kept for, if it is one.
    pub(super) fn kept_for(self, server: Option<&str>) -> Self {
        Self {
            kept_for: server.map(str::to_owned),
            ..self
        }
    }

    /// Makes the collision of an item, as (server, own name), with the name of another, withheld
    /// item.
    pub(super) fn with_waiting(what: &'static str, name: &str, owners: [(&str, &str); 2]) -> Self {
        let owned = |(server, own): (&str, &str)| (server.to_owned(), own.to_owned());
        Self {
            what,
            name: name.to_owned(),
            owners: owners.map(owned).into(),
            is_of_project: false,
            kept_for: None,
        }
    }

    /// Makes the collision of an item of a project's server, by the server's `own` name for it, with
    /// one of the user's own servers: it would have the name of one of their items, or look like one
    /// of theirs.
    pub(super) fn with_user(what: &'static str, name: &str, server: &str, own: &str) -> Self {
        Self {
            is_of_project: true,
            ..Self::with_dormouse(what, name, server, own)
        }
    }
}

impl fmt::Display for Collision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            what, name, owners, ..
        } = self;
        let name = short_name(name);
        if let [(server, own)] = owners.as_slice() {
            let own = short_name(own);
            write!(
                f,
                "{what} `{own}` of server `{server}` is not shown, because "
            )?;
            if self.is_of_project {
                write!(
                    f,
                    "it is a project's and `{name}` would be a name of your own servers'"
                )?;
                return write!(
                    f,
                    "\nhint: whoever wrote the project has to name the server or the {what} \
                     otherwise"
                );
            }
            let prefix = "give the server another `prefix` in the configuration";
            if matches!(*what, "resource" | "resource template")
                && split(self.name.as_str()).is_some()
            {
                return f.write_str(
                    "a URI that ends like that is one in which Dormouse names a server\n\
                     hint: whoever wrote the server has to name it otherwise",
                );
            }
            if *what == "tool" && name::is_of_meta_tool(self.name.as_str()) {
                return write!(
                    f,
                    "`{name}` looks like a tool by which Dormouse finds and calls others\nhint: {prefix}"
                );
            }
            if let Some(kept_for) = &self.kept_for {
                return write!(
                    f,
                    "`{name}` is the tool by which Dormouse connects server `{kept_for}` while it does \
                     not know it\n\
                     hint: server `{kept_for}` needs none if `tools` of its table in dormouse.toml names \
                     some of its tools"
                );
            }
            let (begins, hint) = match *what {
                "prompt" if name::is_command(self.name.as_str()) => {
                    return write!(f, "the prompt `{name}` is Dormouse's own\nhint: {prefix}");
                }
                "tool" | "prompt" => ("dormouse__", prefix),
                _ => (
                    "dormouse:",
                    "whoever wrote the server has to name it otherwise",
                ),
            };
            return write!(
                f,
                "what begins with `{begins}` is Dormouse's own\nhint: {hint}"
            );
        }
        let servers: BTreeSet<&str> = owners.iter().map(|(server, _)| server.as_str()).collect();
        let all = if owners.len() == 2 { "both" } else { "all" };
        for (i, (server, own)) in owners.iter().take(MAX_NAMED).enumerate() {
            let and = if i == 0 { "" } else { " and " };
            let own = short_name(own);
            match servers.len() {
                1 => write!(f, "{and}{what} `{own}`")?,
                _ => write!(f, "{and}{what} `{own}` of server `{server}`")?,
            }
        }
        if let Some(more @ 1..) = owners.len().checked_sub(MAX_NAMED) {
            write!(f, " and {more} more")?;
        }
        if let (1, Some(server)) = (servers.len(), servers.first()) {
            return write!(
                f,
                " of the one server `{server}` would {all} be shown as `{name}`, so none of them is \
                 shown\nhint: whoever wrote the server has to tell them apart"
            );
        }
        // URIs that several servers have are told apart by these.
        write!(
            f,
            " would {all} be shown as `{name}`, so none of them is shown\n\
             hint: give one of the servers another `prefix` in the configuration"
        )
    }
}

/// Returns the names that more than one item has, of (name, server, own name).
pub(super) fn collisions<'a>(
    what: &'static str,
    all: impl Iterator<Item = (&'a str, &'a str, &'a str)>,
) -> Vec<Collision> {
    let mut all: Vec<_> = all.collect();
    // One list for all, which is in order already where no server has a prefix of its own. What has
    // one name stays in its order.
    all.sort_by_key(|(name, ..)| *name);
    let owned = |(_, server, own): &(&str, &str, &str)| ((*server).to_owned(), (*own).to_owned());
    all.chunk_by(|(one, ..), (other, ..)| one == other)
        .filter(|owners| owners.len() > 1)
        .filter_map(|owners| {
            let (name, ..) = owners.first()?;
            Some(Collision {
                what,
                name: (*name).to_owned(),
                owners: owners.iter().map(owned).collect(),
                is_of_project: false,
                kept_for: None,
            })
        })
        .collect()
}

/// Returns the names that collide.
pub(super) fn colliding(collisions: &[Collision]) -> HashSet<String> {
    let names = collisions.iter().map(|collision| collision.name.clone());
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_helps() {
        let told = |what, all: &[(&str, &str, &str)]| {
            let found = collisions(what, all.iter().copied());
            found.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(
            told("tool", &[("a__x", "a", "x"), ("b__x", "b", "x")]),
            [""; 0]
        );
        let uri = "dormouse://status";
        let own = Collision::with_dormouse("resource", uri, "a", uri).to_string();
        assert!(
            own.starts_with("resource `dormouse://status` of server `a` is not shown"),
            "{own}"
        );
        assert_eq!(
            told("tool", &[("x", "a", "x"), ("x", "b", "x")]),
            [
                "tool `x` of server `a` and tool `x` of server `b` would both be shown as `x`, so \
              none of them is shown\n\
              hint: give one of the servers another `prefix` in the configuration"
            ]
        );
        assert_eq!(
            told("tool", &[("a__x", "a", "x"), ("a__x", "a", "x")]),
            [
                "tool `x` and tool `x` of the one server `a` would both be shown as `a__x`, so none \
              of them is shown\nhint: whoever wrote the server has to tell them apart"
            ]
        );
    }

    #[test]
    fn colliding_names_take_linear_time() {
        for different in [2, 1000] {
            let names = |number: usize| {
                let names = (0..number).map(|one| format!("name{}", one % (number / different)));
                names.collect::<Vec<_>>()
            };
            dormouse_tests::growth::is_linear("collisions", 4_000, names, |names: &Vec<String>| {
                let all = names
                    .iter()
                    .map(|name| (name.as_str(), "server", name.as_str()));
                let found = collisions("tool", all);
                let colliding = colliding(&found);
                assert!(names.iter().all(|name| colliding.contains(name)));
            });
        }
    }
}
