//! Zed: `context_servers`; the program is a string, or a table of its own with
//! `path`, `args` and `env`. `timeout` is for a call, in seconds.

use crate::discovery::document::{DocumentMember, DocumentValue, Node};
use crate::discovery::entries::dialect::{COMMON, EntryDialect, EntryOutcome};
use crate::discovery::entries::entry::{ServerEntry, Unit};
use crate::discovery::entries::oauth;
use crate::discovery::entries::oauth::OAuthKey;

pub(super) const DIALECT: EntryDialect = EntryDialect {
    call_timeout: Some(("timeout", Unit::Seconds)),
    switch: Some("enabled"),
    oauth: OAUTH,
    ..COMMON
};

/// A secret may also be in the keychain, where only Zed finds it.
const OAUTH: oauth::OAuthDialect = oauth::OAuthDialect {
    table: "oauth",
    keys: &[
        ("oauth.client_id", OAuthKey::ClientId),
        ("oauth.client_secret", OAuthKey::ClientSecret),
    ],
};

pub(super) fn read(entry: &mut ServerEntry<'_, '_>) -> EntryOutcome {
    let reached = entry.has("command") || entry.has("url");
    let source = entry.node.get("source").and_then(Node::text);
    if !reached && (source == Some("extension") || entry.has("settings")) {
        let why = "Zed runs it from one of its extensions".to_owned();
        return EntryOutcome::Skipped(why, None);
    }
    let Some(flat) = flattened(entry.node) else {
        return DIALECT.read(entry);
    };
    DIALECT.read(&mut ServerEntry {
        at: entry.at.clone(),
        reader: &mut *entry.reader,
        node: &flat,
    })
}

/// Converts the older shape to the newer one: the keys of `command` go where the others are.
fn flattened(node: &Node) -> Option<Node> {
    let command = node.get("command")?;
    if !matches!(command.value, DocumentValue::Table(_)) {
        return None;
    }
    let outer = node
        .members()
        .iter()
        .filter(|member| member.key != "command");
    let inner = command.members().iter().map(|member| DocumentMember {
        key: match member.key.as_str() {
            "path" => "command".to_owned(),
            other => other.to_owned(),
        },
        ..member.clone()
    });
    Some(Node {
        at: node.at,
        value: DocumentValue::Table(outer.cloned().chain(inner).collect()),
    })
}
