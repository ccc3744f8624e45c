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
        let Self { what, name, owners } = self;
        let servers: BTreeSet<&str> = owners.iter().map(|(server, _)| server.as_str()).collect();
        let all = if owners.len() == 2 { "both" } else { "all" };
        for (i, (server, own)) in owners.iter().enumerate() {
            let and = if i == 0 { "" } else { " and " };
            match servers.len() {
                1 => write!(f, "{and}{what} `{own}`")?,
                _ => write!(f, "{and}{what} `{own}` of server `{server}`")?,
            }
        }
        if let (1, Some(server)) = (servers.len(), servers.first()) {
            return write!(
                f,
                " of the one server `{server}` would {all} be shown as `{name}`, so none of them is \
                 shown\nhint: whoever wrote the server has to tell them apart"
            );
        }
        write!(
            f,
            " would {all} be shown as `{name}`, so none of them is shown\nhint: "
        )?;
        match *what {
            "tool" | "prompt" => {
                f.write_str("give one of the servers another `prefix` in the configuration")
            }
            // A URI cannot get a prefix: what answers refer to is that URI.
            _ => {
                f.write_str("disable one of the servers")?;
                for (i, server) in servers.iter().enumerate() {
                    let or = if i == 0 { ":" } else { " or" };
                    write!(f, "{or} `dormouse disable {server}`")?;
                }
                Ok(())
            }
        }
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
        assert_eq!(
            told(
                "resource",
                &[
                    ("u:1", "a", "u:1"),
                    ("u:1", "b", "u:1"),
                    ("u:1", "c", "u:1")
                ]
            ),
            [
                "resource `u:1` of server `a` and resource `u:1` of server `b` and resource `u:1` of \
              server `c` would all be shown as `u:1`, so none of them is shown\n\
              hint: disable one of the servers: `dormouse disable a` or `dormouse disable b` or \
              `dormouse disable c`"
            ]
        );
    }
}
