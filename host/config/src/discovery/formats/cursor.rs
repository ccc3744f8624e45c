//! Cursor: `mcpServers`, with `envFile`. The settings of its command line deny tools.

use dormouse_text::wildcard::matches;

use crate::discovery::document::Node;
use crate::discovery::entries::dialect::{COMMON, EntryDialect};
use crate::discovery::entries::oauth;
use crate::discovery::entries::oauth::OAuthKey;
use crate::discovery::filling::expansion;

use super::tool_names;

pub(super) const DIALECT: EntryDialect = EntryDialect {
    env_file: Some("envFile"),
    expansion: expansion::CURSOR,
    oauth: OAUTH,
    ..COMMON
};

const OAUTH: oauth::OAuthDialect = oauth::OAuthDialect {
    table: "auth",
    keys: &[
        ("auth.CLIENT_ID", OAuthKey::ClientId),
        ("auth.CLIENT_SECRET", OAuthKey::ClientSecret),
        ("auth.scopes", OAuthKey::Scopes),
    ],
};

/// Returns the tools of a server that the settings of Cursor's command line deny: `Mcp(SERVER:TOOL)`,
/// each a pattern. A text that is no such rule is one for something else.
pub(in crate::discovery) fn denied(root: &Node, server: &str) -> Vec<String> {
    let permissions = root.get("permissions");
    if root.is_no_table() || permissions.is_some_and(Node::is_no_table) {
        return tool_names::all();
    }
    let list = permissions.and_then(|it| it.get("deny"));
    let Some(rules) = tool_names::denials(list.into_iter()) else {
        return tool_names::all();
    };
    let rules = rules.into_iter().filter_map(|rule| {
        let (kind, rule) = rule.trim().split_once('(')?;
        let rule = rule.strip_suffix(')')?;
        let (of, tool) = rule.split_once([':', ',']).unwrap_or((rule, "*"));
        let is_it = kind.eq_ignore_ascii_case("mcp") && matches(of.trim(), server);
        is_it.then(|| tool.trim().to_owned())
    });
    rules.collect()
}
