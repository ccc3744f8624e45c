//! VS Code: `servers`, and the `inputs` that it asks its user for when one starts.

use std::collections::BTreeMap;

use crate::discovery::document::Node;
use crate::discovery::entries::dialect::{COMMON, EntryDialect};
use crate::discovery::entries::oauth;
use crate::discovery::entries::oauth::OAuthKey;
use crate::discovery::filling::expansion;

pub(super) const DIALECT: EntryDialect = EntryDialect {
    env_file: Some("envFile"),
    expansion: expansion::VSCODE,
    oauth: OAUTH,
    ..COMMON
};

const OAUTH: oauth::OAuthDialect = oauth::OAuthDialect {
    table: "oauth",
    keys: &[("oauth.clientId", OAuthKey::ClientId)],
};

/// Returns the descriptions of the questions, by their ids.
pub(in crate::discovery) fn questions(root: &Node) -> BTreeMap<String, String> {
    let inputs = root.get("inputs").map(Node::items).unwrap_or_default();
    let about = inputs.iter().filter_map(|input| {
        let id = input.get("id")?.text()?.to_owned();
        Some((id, input.get("description")?.text()?.to_owned()))
    });
    about.collect()
}
