//! Tables of servers in a file, with their names, and what all of a file have in common.

use super::*;

/// Data that all servers of one place have in common.
pub(super) struct PlaceContext<'p> {
    pub(super) place: &'p ClientPlace,
    pub(super) keys: String,
    pub(super) questions: BTreeMap<String, String>,
    pub(super) variables: ClientVariables,
    /// Redirect URI for logins, where a server has none.
    pub(super) redirect: Option<String>,
}

impl PlaceContext<'_> {
    pub(super) fn origin(
        &self,
        server: &NamedTable<'_>,
        client: Client,
        reader: &ClientFileReader<'_>,
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
    pub(super) fn member(member: &'d DocumentMember) -> Self {
        Self {
            name: &member.key,
            at: member.at,
            node: &member.node,
        }
    }

    /// Whether it is a comment among servers, as people write them in JSON: `"//": "text"`.
    fn is_comment(&self) -> bool {
        self.name.starts_with(['/', '_', '#', '$']) && self.node.text().is_some()
    }

    /// Returns an item of a list, with its own name; an empty one where it has none.
    fn item(node: &'d Node) -> Self {
        Self {
            name: name_of_item(node).unwrap_or_default(),
            at: node.at,
            node,
        }
    }
}

/// Returns the name that an item of a list has. A block of Continue's hub is named by what it uses.
fn name_of_item(node: &Node) -> Option<&str> {
    let name = node.get("name").or_else(|| node.get("uses"));
    name.and_then(Node::text)
}

/// Servers of a document.
#[derive(Default)]
pub(super) struct DocumentServers<'d> {
    pub(super) servers: Vec<NamedTable<'d>>,
    /// Servers that are not written in the client's way, each with its problem.
    pub(super) unusable: Vec<(NamedTable<'d>, ConfigProblem)>,
}

impl<'d> DocumentServers<'d> {
    /// Reads the servers of the part of a document that is called `at`: a list, or a table.
    pub(super) fn of(
        node: &'d Node,
        at: &str,
        is_list: bool,
        reader: &mut ClientFileReader<'_>,
    ) -> Self {
        let items = node.items().iter().map(NamedTable::item);
        let members = node.members().iter().map(NamedTable::member);
        let expected = match (&node.value, is_list) {
            (DocumentValue::Null, _) => return Self::default(),
            (DocumentValue::Table(_), false) => {
                return Self {
                    servers: members.filter(|member| !member.is_comment()).collect(),
                    unusable: Vec::new(),
                };
            }
            (DocumentValue::List(_), true) => return Self::of_items(items, reader),
            (_, false) => "a table of servers",
            (_, true) => "a list of servers",
        };
        let message = format!("`{at}` has to be {expected}, and is {}", node.kind());
        let problem = reader.told(node.at, message, None);
        let tables = items.chain(members);
        let tables = tables.filter(|table| matches!(table.node.value, DocumentValue::Table(_)));
        Self {
            servers: Vec::new(),
            unusable: tables
                .take(MAX_SERVERS_OF_FILE)
                .map(|table| (table, problem.clone()))
                .collect(),
        }
    }

    fn of_items(
        items: impl Iterator<Item = NamedTable<'d>>,
        reader: &mut ClientFileReader<'_>,
    ) -> Self {
        let mut servers = Self::default();
        for (index, item) in items.enumerate() {
            if name_of_item(item.node).is_some() {
                servers.servers.push(item);
                continue;
            }
            let message = format!("server {} of the list has no `name`", index + 1);
            let problem = reader.told(item.node.at, message, None);
            servers.unusable.push((item, problem));
        }
        servers
    }
}

/// Returns a server's name as a part of an entry's name in messages.
pub(super) fn shown(name: &str) -> String {
    quoted(name).trim_matches('`').to_owned()
}
