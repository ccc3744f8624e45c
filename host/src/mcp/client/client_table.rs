//! Table of clients (`clients.json`): what each does with what a server offers, by the name that it
//! gives itself.

use std::collections::BTreeSet;

use dormouse_config::Client;
use dormouse_policy::exposure::ClientTraits;
use dormouse_text::nearest::nearest;
use serde::Deserialize;

/// The table, each row with its source.
const TABLE: &str = include_str!("clients.json");

#[derive(Deserialize)]
struct ClientTable {
    clients: Vec<ClientRow>,
}

#[derive(Deserialize)]
struct ClientRow {
    names: Vec<String>,
    /// The client's name on our command line, where it has one.
    id: Option<String>,
    #[serde(flatten)]
    client: KnownClient,
}

/// Facts about a client. An unknown client needs none of them.
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

fn rows() -> Vec<ClientRow> {
    let table = serde_json::from_str::<ClientTable>(TABLE).ok();
    table.map(|table| table.clients).unwrap_or_default()
}

/// Returns the name that a client gives itself in its handshake: by its name on our command line, or by
/// that name itself.
///
/// # Errors
/// No client that is known has that name: with what was probably meant.
pub fn announced_name(name: &str) -> Result<String, String> {
    let rows = rows();
    let of_id = rows.iter().find(|row| row.id.as_deref() == Some(name));
    if let Some(announced) = of_id.and_then(|row| row.names.first()) {
        return Ok(announced.clone());
    }
    let announced = || rows.iter().flat_map(|row| &row.names).map(String::as_str);
    if announced().any(|one| one == name) {
        return Ok(name.to_owned());
    }
    match name.parse::<Client>() {
        // What it calls itself is not known.
        Ok(client) => Ok(client.name().to_owned()),
        Err(clients) => match nearest(name, announced()) {
            Some(near) if !clients.starts_with("did you mean") => {
                Err(format!("did you mean `{near}`? Otherwise, {clients}"))
            }
            _ => Err(clients),
        },
    }
}

/// Returns the numbers of bytes that clients keep of a tool's description, each once: none for those
/// that keep all.
pub(in crate::mcp) fn description_bytes() -> BTreeSet<Option<usize>> {
    let known = rows().into_iter();
    let known = known.map(|row| row.client.description_bytes);
    known.chain([None]).collect()
}

/// Returns what is known of the client that calls itself by that name.
pub(in crate::mcp) fn of(name: &str) -> KnownClient {
    let row = rows()
        .into_iter()
        .find(|row| row.names.iter().any(|one| one == name));
    row.map(|row| row.client).unwrap_or_default()
}

#[cfg(test)]
mod tests {
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
            if let Some(id) = row.get("id") {
                let id = id.as_str().unwrap();
                assert!(id.parse::<dormouse_config::Client>().is_ok(), "{id}");
                let announced = row["names"][0].as_str().unwrap();
                assert_eq!(announced_name(id), Ok(announced.to_owned()));
                assert_eq!(announced_name(announced), Ok(announced.to_owned()));
            }
            let known = [
                "id",
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
    fn a_name_that_no_client_has_is_refused_with_the_one_that_was_meant() {
        for (name, hint) in [
            ("cursr", "did you mean `cursor`? The clients are `"),
            (
                "cline",
                "did you mean `Cline`? Otherwise, the clients are `",
            ),
            ("xyz", "the clients are `"),
        ] {
            let error = announced_name(name).unwrap_err();
            assert!(error.starts_with(hint), "{error}");
        }
        // One that is in no row of the table.
        assert_eq!(announced_name("chatmd"), Ok("chatmd".to_owned()));
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
