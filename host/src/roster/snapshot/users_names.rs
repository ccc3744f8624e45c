//! Names of the user's own servers, which no item of a project may take: its author chooses how its
//! servers and their tools are called, and an agent goes by names.

use std::collections::BTreeSet;
use std::sync::Arc;

use dormouse_config::name::{SEPARATOR, alike};
use dormouse_config::{ReservedNames, ServerConfig};

use crate::roster::{Server, names};

/// Names and beginnings of names that belong to the user's own servers, in the form in which they
/// [look](alike). None where no project has a server, which is all that they are kept from.
#[derive(Default)]
pub(super) struct UsersNames<'r> {
    /// Names of all servers of the user's, also of those that are not among the shown ones: a
    /// client may have them itself.
    reserved: Option<&'r ReservedNames>,
    /// Prefixes of the names of all items of a server.
    beginnings: BTreeSet<String>,
    /// Names of their items, shown or not.
    names: BTreeSet<String>,
}

impl<'r> UsersNames<'r> {
    /// Collects the names of the user's own among all servers: those of their shown and of their
    /// known items. A server that is switched off keeps its beginning.
    pub(super) fn of<'a, 'n>(
        servers: impl Iterator<Item = &'a Arc<Server>> + Clone,
        shown: impl Iterator<Item = &'n str>,
        known: impl Fn(&'a Server) -> Vec<&'a str>,
        reserved: &'r ReservedNames,
    ) -> Self {
        let mut all = Self::default();
        // Most users have hundreds of names, and no project's server.
        if !servers
            .clone()
            .any(|server| server.config().is_of_project())
        {
            return all;
        }
        all.reserved = Some(reserved);
        all.add(shown);
        for server in servers.filter(|server| !server.config().is_of_project()) {
            let config = server.config();
            let prefix = config.prefix.as_deref();
            // With no beginning of their own, they have the names themselves. One under which
            // nothing is shown now may be the next one's.
            if !all.add_beginning(&config.name, prefix) {
                let known = known(server).into_iter();
                let shown = known.map(|name| names::shown(&config.name, prefix, name));
                all.names.extend(shown.map(|name| alike(&name)));
            }
        }
        all
    }

    /// Adds the beginning of the names of all items of a server. Returns false if there is none.
    fn add_beginning(&mut self, server: &str, prefix: Option<&str>) -> bool {
        let Some(beginning) = names::beginning(server, prefix) else {
            return false;
        };
        let beginning = alike(&beginning);
        // One that was cut ends in nothing that stands between.
        self.beginnings
            .insert(match beginning.strip_suffix(SEPARATOR) {
                Some(prefix) => prefix.trim_end_matches('_').to_owned() + SEPARATOR,
                None => beginning,
            });
        true
    }

    /// Adds the names of something that is shown.
    fn add<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        self.names.extend(names.map(alike));
    }

    /// Checks whether a name under which an item of a project's server is shown is one of theirs,
    /// or looks like one.
    pub(super) fn have(&self, of_project: &ServerConfig, shown: &str) -> bool {
        let users = self.reserved.and_then(|names| names.whose_beginning(shown));
        users.is_some_and(|users| !users.is_overridden_by(of_project)) || self.has(shown)
    }

    fn has(&self, shown: &str) -> bool {
        let name = alike(shown);
        // A shown name is short.
        let ends = 1..=name.len().min(names::MAX_NAME_CHARS);
        let mut beginnings = ends.filter_map(|end| name.get(..end));
        self.names.contains(&name)
            || beginnings.any(|beginning| self.beginnings.contains(beginning))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_in_linear_time() {
        let servers = |number: usize| -> Vec<String> {
            let long = "a_".repeat(names::MAX_NAME_CHARS);
            (0..number).map(|at| format!("{long}{at}")).collect()
        };
        dormouse_tests::growth::is_linear("servers", 500, servers, |servers: &Vec<String>| {
            let mut users = UsersNames::default();
            for server in servers {
                users.add_beginning(server, None);
            }
            users.add(servers.iter().map(String::as_str));
            for server in servers {
                std::hint::black_box(users.has(server));
            }
        });
    }

    #[test]
    fn names_that_begin_like_the_users_are_theirs() {
        let long = "x".repeat(60);
        let servers = [("gh", None), ("a_", None), ("s", Some("")), (&*long, None)];
        let mut users = UsersNames::default();
        for (server, prefix) in servers {
            users.add_beginning(server, prefix);
        }
        users.add(["own"].into_iter());
        for (server, prefix, tool, is_theirs) in [
            ("gh", None, "x", true),
            ("zz", Some("gh"), "x", true),
            ("zz", Some("gh_"), "x", true),
            ("gh__sub", None, "x", true),
            ("zz", Some(""), "gh__x", true),
            ("zz", Some(""), "own", true),
            ("a_", None, "x", true),
            ("zz", Some(&*long), "y", true),
            ("zz", None, "gh__x", false),
            ("zz", None, "own", false),
            ("gha", None, "x", false),
            ("g", None, "h__x", false),
            ("a", None, "x", true),
            ("GH", None, "x", true),
            ("gh-", None, "x", true),
            ("A-", None, "x", true),
            ("zz", Some(""), "OWN", true),
            ("ab", None, "x", false),
            ("s", None, "x", false),
        ] {
            let name = names::shown(server, prefix, tool);
            assert_eq!(users.has(&name), is_theirs, "{name}");
        }
    }
}
