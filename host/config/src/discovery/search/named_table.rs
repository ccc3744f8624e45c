//! Tables of servers in a file, with their names, and what all of a file have in common.

use super::*;

/// Data that all servers of one place have in common.
pub(super) struct Context<'p> {
    pub(super) place: &'p Place,
    pub(super) keys: String,
    pub(super) questions: BTreeMap<String, String>,
    pub(super) variables: ClientVariables,
    /// Redirect URI for logins, where a server has none.
    pub(super) redirect: Option<String>,
}

impl Context<'_> {
    pub(super) fn origin(
        &self,
        server: &NamedTable<'_>,
        client: Client,
        reader: &Reader<'_>,
    ) -> Origin {
        Origin {
            file: self.place.file.clone(),
            line: reader.lines.line(server.at),
            client: Some(client),
            scope: self.place.scope.clone(),
            profile: self.place.profile.clone(),
        }
    }
}

/// A server's table, with its name and its place.
pub(super) struct NamedTable<'d> {
    pub(super) name: &'d str,
    pub(super) at: usize,
    pub(super) node: &'d Node,
}

impl<'d> NamedTable<'d> {
    pub(super) fn member(member: &'d Member) -> Self {
        Self {
            name: &member.key,
            at: member.at,
            node: &member.node,
        }
    }

    pub(super) fn item(node: &'d Node, index: usize, reader: &mut Reader<'_>) -> Option<Self> {
        // A block of Continue's hub is named by what it uses.
        let name = node.get("name").or_else(|| node.get("uses"));
        let Some(name) = name.and_then(Node::text) else {
            let message = format!("server {} of the list has no `name`", index + 1);
            reader.problem(node.at, message, None);
            return None;
        };
        Some(Self {
            name,
            at: node.at,
            node,
        })
    }
}

/// Returns a server's name as a part of an entry's name in messages.
pub(super) fn shown(name: &str) -> String {
    quoted(name).trim_matches('`').to_owned()
}
