//! Tables of servers, as they are written into `dormouse.toml`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::bail;
use dormouse_launch::{HttpTransport, Launch, Secret};
use dormouse_policy::{FsMode, Grants};
use dormouse_text::visible::visible_path;
use toml_edit::{Array, InlineTable, Item, Table, Value};

/// Makes the table of a plugin.
///
/// # Errors
/// A path is not UTF-8.
pub fn component_table(
    component: &Path,
    grants: &Grants,
    upstream: Option<Table>,
) -> anyhow::Result<Table> {
    let Some(component) = component.to_str() else {
        bail!(
            "`{}` is not UTF-8, which a configuration file has to be\nhint: move the plugin to a folder that is",
            visible_path(component)
        );
    };
    let mut table = Table::new();
    table.insert("component", Item::Value(component.into()));
    table.extend(upstream.into_iter().flatten());
    if let Some(grants) = grants_table(grants)? {
        table.insert("grants", Item::Table(grants));
    }
    Ok(table)
}

/// Makes the table of a program or an endpoint.
#[must_use]
pub fn launch_table(launch: &Launch) -> Table {
    let (mut table, (key, values)) = launch_keys(launch);
    if !values.is_empty() {
        table.insert(key, Item::Table(secret_table(values)));
    }
    table
}

/// Makes the table of a program or an endpoint without its variables or headers, which come after
/// all plain keys: returns these besides, with their key.
pub(crate) fn launch_keys(launch: &Launch) -> (Table, (&'static str, &BTreeMap<String, Secret>)) {
    let mut table = Table::new();
    let mut put = |key: &str, value: Value| {
        table.insert(key, Item::Value(value));
    };
    let values = match launch {
        Launch::Stdio(stdio) => {
            put("command", stdio.command.as_str().into());
            if !stdio.args.is_empty() {
                put("args", list(&stdio.args));
            }
            if let Some(cwd) = &stdio.cwd {
                put("cwd", cwd.to_string_lossy().as_ref().into());
            }
            ("env", &stdio.env)
        }
        Launch::Http(http) => {
            put("url", http.url.as_str().into());
            match http.transport {
                HttpTransport::Auto => {}
                HttpTransport::Streamable => put("type", "http".into()),
                HttpTransport::Sse => put("type", "sse".into()),
            }
            // Sub-tables come after all plain keys, or these would be theirs.
            if http.oauth.off {
                put("oauth", false.into());
            }
            ("headers", &http.headers)
        }
    };
    (table, values)
}

/// Makes the table of variables or headers.
pub(crate) fn secret_table(values: &BTreeMap<String, Secret>) -> Table {
    let mut table = Table::new();
    for (name, value) in values {
        table.insert(name, Item::Value(value.expose().into()));
    }
    table
}

/// Makes a list of texts.
pub(crate) fn list(texts: &[String]) -> Value {
    Value::Array(texts.iter().map(String::as_str).collect::<Array>())
}

/// Makes the table that lets a plugin stand in front of an upstream; secrets are taken from the
/// environment.
#[must_use]
pub fn upstream_table(command: &[String], url: Option<&str>, secrets: &[String]) -> Table {
    let mut table = Table::new();
    let names = secrets.iter();
    let secrets: InlineTable = names
        .map(|name| (name.as_str(), Value::from(variable(name))))
        .collect();
    if let Some(url) = url {
        table.insert("url", Item::Value(url.into()));
        if !secrets.is_empty() {
            table.insert("headers", Item::Value(secrets.into()));
        }
        return table;
    }
    table.insert("command", Item::Value(list(command)));
    if !secrets.is_empty() {
        table.insert("env", Item::Value(secrets.into()));
    }
    table
}

/// Returns the variable that a secret of this name is taken from.
fn variable(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    format!("${{{name}}}")
}

/// Makes the `grants` table for grants; none where there is nothing to grant.
///
/// # Errors
/// A path is not UTF-8.
pub fn grants_table(grants: &Grants) -> anyhow::Result<Option<Table>> {
    let mut table = Table::new();
    if !grants.fs.is_empty() {
        let mut folders = Array::new();
        for grant in &grants.fs {
            let Some(path) = grant.path.to_str() else {
                bail!(
                    "`{}` is not UTF-8, which a configuration file has to be",
                    visible_path(&grant.path)
                );
            };
            let mut folder = InlineTable::new();
            folder.insert("path", path.into());
            folder.insert(
                "mode",
                match grant.mode {
                    FsMode::ReadOnly => "ro",
                    FsMode::ReadWrite => "rw",
                }
                .into(),
            );
            folders.push(folder);
        }
        table.insert("fs", Item::Value(folders.into()));
    }
    if !grants.env.is_empty() {
        table.insert("env", Item::Value(list(&grants.env)));
    }
    if !grants.http.is_empty() {
        let written: Vec<_> = grants.http.iter().map(ToString::to_string).collect();
        table.insert("http", Item::Value(list(&written)));
    }
    Ok((!table.is_empty()).then_some(table))
}
