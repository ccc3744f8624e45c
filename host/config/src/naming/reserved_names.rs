//! Names that belong to the user's own servers: no server of a project's has one of these, nor
//! one that looks like it.

use std::collections::BTreeMap;

use super::name::{SEPARATOR, likeness};
use crate::{Origin, Scope, ServerConfig};

/// A server of the user's that a name is reserved for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsersServer {
    pub(crate) name: String,
    /// Place where the server is written.
    pub(crate) origin: Origin,
}

impl UsersServer {
    /// Whether a project's server stands in place of this one: both are in files of one client,
    /// which takes the project's itself.
    #[must_use]
    pub fn is_overridden_by(&self, of_project: &ServerConfig) -> bool {
        let Origin { client, scope, .. } = &self.origin;
        // What is said for one folder or for all users goes before a project's in a client, too.
        let is_of_client = client.is_some() && *scope == Scope::User;
        is_of_client && *client == of_project.origin.client && self.name == of_project.name
    }
}

/// Names of the user's own servers, and beginnings of the names of their tools, by what these look
/// like.
#[derive(Debug, Clone, Default)]
pub struct ReservedNames(BTreeMap<String, UsersServer>);

impl ReservedNames {
    /// Adds the names of a server, as far as no other server has them.
    pub(crate) fn add(&mut self, name: &str, prefix: Option<&str>, origin: &Origin) {
        let prefix = prefix.filter(|prefix| !prefix.is_empty());
        for taken in [Some(name), prefix].into_iter().flatten() {
            self.0
                .entry(likeness(taken))
                .or_insert_with(|| UsersServer {
                    name: name.to_owned(),
                    origin: origin.clone(),
                });
        }
    }

    /// Returns the server of the user's whose name or prefix this name looks like or begins with.
    pub(crate) fn whose(&self, name: &str) -> Option<&UsersServer> {
        let likeness = likeness(name);
        let ends = likeness.match_indices(SEPARATOR).map(|(end, _)| end);
        let mut beginnings = ends
            .chain([likeness.len()])
            .filter_map(|end| likeness.get(..end));
        beginnings.find_map(|beginning| self.0.get(beginning))
    }

    /// Returns the server of the user's whose names of tools and prompts begin like this one,
    /// whether it is shown or not.
    #[must_use]
    pub fn whose_beginning(&self, shown: &str) -> Option<&UsersServer> {
        let likeness = likeness(shown);
        let mut ends = likeness.match_indices(SEPARATOR).map(|(end, _)| end);
        ends.find_map(|end| self.0.get(likeness.get(..end)?.trim_end_matches('_')))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_looks_like_a_users_is_theirs() {
        let mut names = ReservedNames::default();
        names.add("gh", None, &Origin::default());
        names.add("My-Hub", Some("hub"), &Origin::default());
        names.add("all", Some(""), &Origin::default());
        for (name, whose) in [
            ("gh", Some("gh")),
            ("GH", Some("gh")),
            ("gh-", Some("gh")),
            ("gh__sub", Some("gh")),
            ("gh___", Some("gh")),
            ("gh_cli", None),
            ("g", None),
            ("xgh", None),
            ("my_hub", Some("My-Hub")),
            ("Hub_", Some("My-Hub")),
            ("all", Some("all")),
            ("", None),
        ] {
            let found = names.whose(name).map(|server| server.name.as_str());
            assert_eq!(found, whose, "{name}");
        }
        for (shown, whose) in [
            ("gh__x", Some("gh")),
            ("GH-_x", Some("gh")),
            ("gh____x", Some("gh")),
            ("hub__a__b", Some("My-Hub")),
            ("gh", None),
            ("x__gh__y", None),
            ("gh_x", None),
            ("__x", None),
        ] {
            let found = names.whose_beginning(shown);
            let found = found.map(|server| server.name.as_str());
            assert_eq!(found, whose, "{shown}");
        }
    }
}
