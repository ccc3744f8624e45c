//! Table of clients (`clients.json`): what each does with what a server offers, by the name that it
//! gives itself.

use dormouse_policy::exposure::ClientTraits;
use serde::Deserialize;

/// The table, each row with its source.
const TABLE: &str = include_str!("clients.json");

#[derive(Deserialize)]
struct Table {
    clients: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    names: Vec<String>,
    #[serde(flatten)]
    client: KnownClient,
}

/// What is known of a client. What is not known needs nothing of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(in crate::mcp) struct KnownClient {
    /// Number of tools from which on it defers them by itself.
    defers_from: Option<u32>,
    /// Whether it lists again when it is told that the list has changed.
    #[serde(default)]
    list_changed: bool,
    /// Most tools that it takes.
    most_tools: Option<u32>,
    /// Bytes that it keeps of instructions.
    pub(in crate::mcp) instructions_bytes: Option<usize>,
    /// Bytes that it keeps of a tool's description.
    pub(in crate::mcp) description_bytes: Option<usize>,
}

impl KnownClient {
    /// Returns what of it decides how tools are shown.
    pub(in crate::mcp) fn traits(&self) -> ClientTraits {
        ClientTraits {
            defers_from: self.defers_from,
            honours_list_changed: self.list_changed,
            most_tools: self.most_tools,
        }
    }
}

/// Returns what is known of the client that calls itself by that name.
pub(in crate::mcp) fn of(name: &str) -> KnownClient {
    let table = serde_json::from_str::<Table>(TABLE).ok();
    let rows = table.map(|table| table.clients).unwrap_or_default();
    let row = rows
        .into_iter()
        .find(|row| row.names.iter().any(|one| one == name));
    row.map(|row| row.client).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::roster::names::MAX_NAME_CHARS;

    #[test]
    fn each_row_has_a_source_and_names_of_its_own() {
        let table: Value = serde_json::from_str(TABLE).unwrap();
        let rows = table["clients"].as_array().unwrap();
        let mut names = BTreeSet::new();
        for row in rows {
            assert!(
                row["source"].as_str().is_some_and(|text| text.len() > 10),
                "{row}"
            );
            for name in row["names"].as_array().unwrap() {
                assert!(names.insert(name.as_str().unwrap()), "{name}");
            }
            // Clients put a prefix of up to 12 characters before our names.
            let chars = row["name_chars"].as_u64().unwrap_or(64);
            assert!(chars >= MAX_NAME_CHARS as u64 + 12, "{row}");
            let known = [
                "names",
                "source",
                "name_chars",
                "defers_from",
                "list_changed",
            ];
            let limits = ["most_tools", "instructions_bytes", "description_bytes"];
            for key in row.as_object().unwrap().keys() {
                assert!(
                    known.contains(&key.as_str()) || limits.contains(&key.as_str()),
                    "{key}"
                );
            }
        }
        assert!(names.len() > 15);
    }

    #[test]
    fn clients_are_known_by_their_names() {
        assert_eq!(of("claude-code").instructions_bytes, Some(2048));
        assert_eq!(of("claude-code").traits().defers_from, Some(0));
        assert!(of("Cline").traits().honours_list_changed);
        assert_eq!(of("Windsurf").traits().most_tools, Some(100));
        assert_eq!(of("nobody"), KnownClient::default());
    }
}
