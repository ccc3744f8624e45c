//! Gemini CLI: `mcpServers`; `httpUrl` is streamable HTTP and counts before a `url`,
//! which counts before a program. `timeout` is for a call, in milliseconds. Beside
//! the servers, `mcp.allowed` and `mcp.excluded`, which were `allowMCPServers` and
//! `excludeMCPServers`, name those that are on; `tools.exclude`, which was `excludeTools`, has the
//! names of tools that are off.

use dormouse_launch::HttpTransport;

use crate::discovery::document::{DocumentValue, Node};
use crate::discovery::entries::dialect::{COMMON, EntryDialect};
use crate::discovery::entries::entry::Unit;
use crate::discovery::entries::oauth;
use crate::discovery::entries::oauth::OAuthKey;
use crate::discovery::filling::expansion;

use super::server_list::ServerList;
use super::tool_names;

pub(super) const DIALECT: EntryDialect = EntryDialect {
    urls: &[
        ("httpUrl", HttpTransport::Streamable),
        ("url", HttpTransport::Auto),
    ],
    url_first: true,
    call_timeout: Some(("timeout", Unit::Milliseconds)),
    include: Some("includeTools"),
    exclude: Some("excludeTools"),
    expansion: expansion::GEMINI,
    oauth: OAUTH,
    ..COMMON
};

/// `audiences` and `tokenParamName` are for servers that want neither what RFC 8707
/// says nor a header.
pub(super) const OAUTH: oauth::OAuthDialect = oauth::OAuthDialect {
    table: "oauth",
    keys: &[
        ("oauth.enabled", OAuthKey::Enabled),
        ("oauth.clientId", OAuthKey::ClientId),
        ("oauth.clientSecret", OAuthKey::ClientSecret),
        ("oauth.authorizationUrl", OAuthKey::AuthorizationUrl),
        ("oauth.tokenUrl", OAuthKey::TokenUrl),
        ("oauth.scopes", OAuthKey::Scopes),
        ("oauth.redirectUri", OAuthKey::RedirectUri),
        ("authProviderType", OAuthKey::Foreign("dynamic_discovery")),
        ("targetAudience", OAuthKey::Foreign("")),
        ("targetServiceAccount", OAuthKey::Foreign("")),
    ],
};

/// Returns the reason why a server is off, if it is, by a document's settings beside the servers.
pub(in crate::discovery) fn off(root: &Node, server: &str) -> Option<&'static str> {
    let list = |key: &str| ServerList::at(root.get("mcp")?, key);
    // Each of both has an older name.
    let old = |key: &str| ServerList::at(root, key);
    let may_name = |list: Option<ServerList<'_>>| list.is_some_and(|list| list.may_name(server));
    let leaves_out = |list: Option<ServerList<'_>>| {
        list.is_some_and(|list| !list.is_empty() && !list.names(server))
    };
    if may_name(list("excluded")) {
        Some("`mcp.excluded` names it")
    } else if may_name(old("excludeMCPServers")) {
        Some("`excludeMCPServers` names it")
    } else if leaves_out(list("allowed")) {
        Some("`mcp.allowed` does not name it")
    } else if leaves_out(old("allowMCPServers")) {
        Some("`allowMCPServers` does not name it")
    } else {
        None
    }
}

/// Returns the tools of a server that a document turns off.
pub(in crate::discovery) fn excluded(root: &Node, server: &str) -> Vec<String> {
    let tools = root.get("tools");
    if tools.is_some_and(Node::is_no_table) {
        return tool_names::all();
    }
    let nested = tools.and_then(|tools| tools.get("exclude"));
    let lists = [root.get("excludeTools"), nested];
    let opens = [("", "__"), ("mcp_", "_")];
    let opens = opens.map(|(before, behind)| tool_names::open(before, server, behind));
    tool_names::of_server(lists.into_iter().flatten(), &opens)
}

/// Whether a server is off in the file of what `gemini mcp disable` has switched off. Names there
/// have no capitals.
pub(in crate::discovery) fn is_switched_off(root: &Node, server: &str) -> bool {
    let is_named = |name: &str| name.trim().to_lowercase() == server.trim().to_lowercase();
    let mut named = root.members().iter().filter(|entry| is_named(&entry.key));
    // What is no answer may be a no.
    let is_on = |node: &Node| matches!(node.value, DocumentValue::Bool(true) | DocumentValue::Null);
    named.any(|entry| match &entry.node.value {
        DocumentValue::Table(_) => entry.node.get("enabled").is_some_and(|node| !is_on(node)),
        _ => !is_on(&entry.node),
    })
}
