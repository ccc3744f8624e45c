//! Settings and secrets of a plugin in `dormouse.toml`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::bail;
use dormouse_files::replace::Access;
use dormouse_policy::HttpSecret;
use dormouse_wit::SecretRequest;
use serde_json::{Map, Value as Json};
use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::{Editor, list, table_like, told};
use crate::file;

/// Key of a secret whose text a login brings.
const LOGIN: &str = "login";

/// Settings and secrets of a plugin that are to be written.
#[derive(Debug, Clone, Default)]
pub struct PluginInputs {
    /// Values of settings: texts, numbers and switches.
    pub settings: Map<String, Json>,
    /// Tables of secrets.
    pub secrets: BTreeMap<String, InlineTable>,
}

impl PluginInputs {
    /// Whether there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.settings.is_empty() && self.secrets.is_empty()
    }

    /// Returns a server's secrets as the file that they are written into is read, with the providers of
    /// logins that it has.
    ///
    /// # Errors
    /// One of them is none: it goes to no such host, or its place is no place of a request.
    pub fn http_secrets(&self, server: &str, file: &Path) -> anyhow::Result<Vec<HttpSecret>> {
        let mut document: DocumentMut = "[servers]".parse()?;
        let mut table = Table::new();
        table.insert("component", Item::Value("plugin.wasm".into()));
        self.put_into(&mut table)?;
        if let Some(servers) = document.get_mut("servers") {
            table_like(servers, "servers")?.insert(server, Item::Table(table));
        }
        let own = std::fs::read_to_string(file).unwrap_or_default();
        if self.secrets.values().any(|table| table.contains_key(LOGIN))
            && let Ok(own) = own.parse::<DocumentMut>()
            && let Some(providers) = own.get("providers")
        {
            document.insert("providers", providers.clone());
        }
        let (mut config, problems) = file::parse(file, &document.to_string());
        if !problems.is_empty() {
            bail!("{}", told(&problems));
        }
        let server = config.servers.remove(server);
        Ok(server.map(|server| server.secrets).unwrap_or_default())
    }

    /// Puts all of this into a server's table, each in place of what has its name there.
    ///
    /// # Errors
    /// `settings` or `secrets` is there, and is no table.
    pub fn put_into(&self, table: &mut dyn TableLike) -> anyhow::Result<()> {
        let settings = self.settings.iter();
        let settings = settings.filter_map(|(name, value)| Some((name, toml_value(value)?)));
        put(table, "settings", settings)?;
        let secrets = self.secrets.iter();
        let secrets = secrets.map(|(name, table)| (name, Value::from(table.clone())));
        put(table, "secrets", secrets)
    }
}

impl Editor {
    /// Gives a server settings and secrets, and returns whether that changed anything.
    ///
    /// # Errors
    /// There is no server of that name in this file, or the file cannot be edited.
    pub fn set_inputs(&self, server: &str, inputs: &PluginInputs) -> anyhow::Result<bool> {
        inputs.http_secrets(server, &self.file)?;
        // A setting may be a secret, whatever its plugin calls it.
        self.edit(Access::Private, |document| {
            let servers = self.servers(document, server)?;
            match servers.get_mut(server) {
                Some(item) => inputs.put_into(table_like(item, server)?),
                None => Ok(()),
            }
        })
    }

    /// Takes settings and secrets away from a server, by their names, and returns whether it had one
    /// of them.
    ///
    /// # Errors
    /// There is no server of that name in this file, or the file cannot be edited.
    pub fn remove_inputs(
        &self,
        server: &str,
        settings: &[String],
        secrets: &[String],
    ) -> anyhow::Result<bool> {
        self.edit(Access::Kept, |document| {
            let servers = self.servers(document, server)?;
            let Some(item) = servers.get_mut(server) else {
                return Ok(());
            };
            let table = table_like(item, server)?;
            for (key, names) in [("settings", settings), ("secrets", secrets)] {
                let Some(item) = table.get_mut(key) else {
                    continue;
                };
                let all = table_like(item, key)?;
                for name in names {
                    all.remove(name);
                }
                if all.is_empty() {
                    table.remove(key);
                }
            }
            Ok(())
        })
    }
}

/// Makes the table of a secret that a plugin asks for, whose text comes from `source`: a key of
/// `[servers.NAME.secrets]` with its value.
#[must_use]
pub fn requested_secret_table(request: &SecretRequest, source: (&str, Value)) -> InlineTable {
    let mut table = InlineTable::new();
    let (key, value) = source;
    table.insert(key, value);
    table.insert("hosts", list(&request.hosts));
    let members = [
        ("header", &request.header),
        ("value", &request.value),
        ("query", &request.query),
        ("placeholder", &request.placeholder),
    ];
    for (name, value) in members {
        if let Some(value) = value {
            table.insert(name, value.as_str().into());
        }
    }
    if key == LOGIN && !request.scopes.is_empty() {
        table.insert("scopes", list(&request.scopes));
    }
    table
}

fn put<'n>(
    table: &mut dyn TableLike,
    key: &str,
    values: impl Iterator<Item = (&'n String, Value)>,
) -> anyhow::Result<()> {
    let mut values = values.peekable();
    if values.peek().is_none() {
        return Ok(());
    }
    if !table.contains_key(key) {
        table.insert(key, Item::Table(Table::new()));
    }
    let Some(item) = table.get_mut(key) else {
        return Ok(());
    };
    let all = table_like(item, key)?;
    for (name, value) in values {
        all.insert(name, Item::Value(value));
    }
    Ok(())
}

/// Returns a value as TOML has it; none for one that is neither a text, a number nor a switch.
fn toml_value(value: &Json) -> Option<Value> {
    match value {
        Json::String(text) => Some(text.as_str().into()),
        Json::Bool(switch) => Some((*switch).into()),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Some(whole.into()),
            None => number.as_f64().map(Value::from),
        },
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}
