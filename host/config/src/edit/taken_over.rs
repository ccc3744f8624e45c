//! Servers of clients that are put into the file.

use super::*;

/// Change of one `[servers.NAME]` table.
#[derive(Debug, Clone)]
pub enum ServerTableChange {
    /// Puts this table in its place, or adds it.
    Table(Box<Table>),
    /// Sets its `from` to the clients that load the server themselves.
    From(Vec<Client>),
    /// Adds these rules for single clients to its `clients`.
    Rules(ClientRules),
}

/// Returns the text of a configuration file with servers changed, and everything else in it as it
/// was.
///
/// # Errors
/// The text is no configuration, or written in a way that nothing can be added to.
pub fn with_servers(
    file: &Path,
    text: &str,
    changes: Vec<(String, ServerTableChange)>,
) -> anyhow::Result<String> {
    changed(file, text, |document| {
        for (name, change) in changes {
            match change {
                ServerTableChange::Table(mut table) => {
                    keep_overlay(document, &name, &mut table);
                    insert(document, &name, *table, true)?;
                }
                ServerTableChange::From(clients) => {
                    let servers = document.get_mut("servers");
                    if let Some(server) = servers.and_then(|servers| servers.get_mut(&name)) {
                        set_from(table_like(server, &name)?, &clients);
                    }
                }
                ServerTableChange::Rules(rules) => {
                    let servers = document.get_mut("servers");
                    if let Some(server) = servers.and_then(|servers| servers.get_mut(&name)) {
                        add_rules(table_like(server, &name)?, &rules)?;
                    }
                }
            }
        }
        Ok(())
    })
}

/// Merges the overlay that a user has written for a server that was configured elsewhere into the
/// server's table when it comes here.
fn keep_overlay(document: &DocumentMut, server: &str, table: &mut Table) {
    let servers = document.get("servers").and_then(Item::as_table_like);
    let old = servers.and_then(|servers| servers.get(server)?.as_table_like());
    let Some(old) = old else {
        return;
    };
    if ["component", "command", "url"]
        .iter()
        .any(|key| old.contains_key(key))
    {
        return;
    }
    overlaid::merge(old, table);
}

fn add_rules(table: &mut dyn TableLike, rules: &ClientRules) -> anyhow::Result<()> {
    let Some(old) = table.get_mut("clients") else {
        table.insert("clients", Item::Value(rules.value().into()));
        return Ok(());
    };
    let old = table_like(old, "clients")?;
    for (client, rule) in rules.iter() {
        old.insert(client.name(), Item::Value(rule.value().into()));
    }
    Ok(())
}

fn set_from(table: &mut dyn TableLike, clients: &[Client]) {
    if clients.is_empty() {
        table.remove("from");
        return;
    }
    let names = clients.iter().map(|client| client.name());
    let mut value = Value::from(names.collect::<Array>());
    match table.get_mut("from") {
        Some(Item::Value(old)) => {
            // The comment behind a value is part of it.
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        _ => {
            table.insert("from", Item::Value(value));
        }
    }
}

/// Returns a document's text after a change.
pub(super) fn changed(
    file: &Path,
    text: &str,
    change: impl FnOnce(&mut DocumentMut) -> anyhow::Result<()>,
) -> anyhow::Result<String> {
    let (mark, body) = match text.strip_prefix('\u{feff}') {
        Some(body) => ("\u{feff}", body),
        None => ("", text),
    };
    // A document is printed with plain ends of lines, whatever it was read with.
    let windows = body.contains('\n') && !body.replace("\r\n", "").contains('\n');
    let plain = match windows {
        true => Cow::Owned(body.replace("\r\n", "\n")),
        false => Cow::Borrowed(body),
    };
    let Ok(mut document) = plain.parse::<DocumentMut>() else {
        // The reader words it better, and knows the place.
        let (_, problems) = file::parse(file, text);
        return Err(crate::Invalid { problems })
            .context("the configuration is left as it is, because it cannot be read");
    };
    change(&mut document)?;
    let after = document.to_string();
    // TOML can be written in ways that no edit fits into (a table of servers by
    // dotted keys). Such an edit must not cost the user their file.
    if after.parse::<DocumentMut>().is_err() {
        bail!(
            "`{}` is written in a way that this cannot be added to\nhint: edit it by hand",
            visible_path(file)
        );
    }
    let after = match windows {
        true => after.replace('\n', "\r\n"),
        false => after,
    };
    Ok(format!("{mark}{after}"))
}
