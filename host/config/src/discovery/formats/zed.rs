//! Zed: `context_servers`; the program is a string, or a table of its own with
//! `path`, `args` and `env`. `timeout` is for a call, in seconds.

use crate::discovery::document::{Member, Node, Value};
use crate::discovery::entries::dialect::{COMMON, Dialect, Outcome};
use crate::discovery::entries::entry::{Entry, Unit};
use crate::discovery::entries::oauth;
use crate::discovery::entries::oauth::Means;

pub(super) const DIALECT: Dialect = Dialect {
    call_timeout: Some(("timeout", Unit::Seconds)),
    switch: Some("enabled"),
    oauth: OAUTH,
    ..COMMON
};

/// A secret may also be in the keychain, where only Zed finds it.
const OAUTH: oauth::Dialect = oauth::Dialect {
    table: "oauth",
    keys: &[
        ("oauth.client_id", Means::ClientId),
        ("oauth.client_secret", Means::ClientSecret),
    ],
};

pub(super) fn read(entry: &mut Entry<'_, '_>) -> Outcome {
    let reached = entry.has("command") || entry.has("url");
    let source = entry.node.get("source").and_then(Node::text);
    if !reached && (source == Some("extension") || entry.has("settings")) {
        let why = "Zed runs it from one of its extensions".to_owned();
        return Outcome::Skipped(why, None);
    }
    let Some(flat) = flattened(entry.node) else {
        return DIALECT.read(entry);
    };
    DIALECT.read(&mut Entry {
        at: entry.at.clone(),
        reader: &mut *entry.reader,
        node: &flat,
    })
}

/// Converts the older shape to the newer one: the keys of `command` go where the others are.
fn flattened(node: &Node) -> Option<Node> {
    let command = node.get("command")?;
    if !matches!(command.value, Value::Table(_)) {
        return None;
    }
    let outer = node
        .members()
        .iter()
        .filter(|member| member.key != "command");
    let inner = command.members().iter().map(|member| Member {
        key: match member.key.as_str() {
            "path" => "command".to_owned(),
            other => other.to_owned(),
        },
        ..member.clone()
    });
    Some(Node {
        at: node.at,
        value: Value::Table(outer.cloned().chain(inner).collect()),
    })
}
