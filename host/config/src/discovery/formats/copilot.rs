//! GitHub Copilot CLI: `mcpServers`; `tools` are those that are shown (`*` is all of
//! them), `timeout` is for a call, in milliseconds.

use super::claude_code;
use super::server_list::ServerList;
use crate::discovery::document::{DocumentValue, Node};
use crate::discovery::entries::dialect::{COMMON, EntryDialect};
use crate::discovery::entries::entry::Unit;
use crate::discovery::entries::oauth;
use crate::discovery::entries::oauth::OAuthKey;
use crate::discovery::filling::expansion;

pub(super) const DIALECT: EntryDialect = EntryDialect {
    call_timeout: Some(("timeout", Unit::Milliseconds)),
    include: Some("tools"),
    expansion: expansion::COPILOT,
    oauth: OAUTH,
    ..COMMON
};

/// Keys of Copilot's own, and those of Claude Code, whose `.mcp.json` Copilot reads.
const OAUTH: oauth::OAuthDialect = oauth::OAuthDialect {
    table: "oauth",
    keys: &[
        ("oauthClientId", OAuthKey::ClientId),
        (
            "auth.redirectPort",
            OAuthKey::CallbackPort("http://127.0.0.1:PORT/"),
        ),
        ("oauthPublicClient", OAuthKey::Nothing),
        ("oauthGrantType", OAuthKey::Foreign("authorization_code")),
        ("oauth.clientId", OAuthKey::ClientId),
        ("oauth.callbackPort", claude_code::CALLBACK),
        ("oauth.authServerMetadataUrl", OAuthKey::MetadataUrl),
        ("oauth.scopes", OAuthKey::Scopes),
    ],
};

/// Whether a whole document is the table of servers: Copilot reads a `.mcp.json`
/// without `mcpServers` around them, too.
pub(in crate::discovery) fn is_bare(root: &Node) -> bool {
    let servers = root.members();
    !servers.is_empty()
        && servers.iter().all(|member| {
            matches!(member.node.value, DocumentValue::Table(_))
                && (member.node.get("command").is_some() || member.node.get("url").is_some())
        })
}

/// Whether the settings of Copilot's command line switch a server off.
pub(in crate::discovery) fn is_disabled(root: &Node, server: &str) -> bool {
    let keys = ["disabledMcpServers", "disabled_mcp_servers"];
    let mut lists = keys.iter().filter_map(|key| ServerList::at(root, key));
    lists.any(|list| list.may_name(server))
}
