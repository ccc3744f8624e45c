//! Gemini CLI: `mcpServers`; `httpUrl` is streamable HTTP and counts before a `url`,
//! which counts before a program. `timeout` is for a call, in milliseconds. Beside
//! the servers, `mcp.allowed` and `mcp.excluded` name those that are on.

use dormouse_launch::HttpTransport;

use crate::discovery::dialect::{COMMON, Dialect};
use crate::discovery::document::Node;
use crate::discovery::entry::Unit;
use crate::discovery::expansion;
use crate::discovery::oauth::{self, Means};

pub(super) const DIALECT: Dialect = Dialect {
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
pub(super) const OAUTH: oauth::Dialect = oauth::Dialect {
    table: "oauth",
    keys: &[
        ("oauth.enabled", Means::Enabled),
        ("oauth.clientId", Means::ClientId),
        ("oauth.clientSecret", Means::ClientSecret),
        ("oauth.authorizationUrl", Means::AuthorizationUrl),
        ("oauth.tokenUrl", Means::TokenUrl),
        ("oauth.scopes", Means::Scopes),
        ("oauth.redirectUri", Means::RedirectUri),
        ("authProviderType", Means::Foreign("dynamic_discovery")),
        ("targetAudience", Means::Foreign("")),
        ("targetServiceAccount", Means::Foreign("")),
    ],
};

/// Why a server is off by what a document says beside the servers, if it is.
pub(in crate::discovery) fn off(root: &Node, server: &str) -> Option<&'static str> {
    let settings = root.get("mcp")?;
    let names = |key: &str| settings.get(key).map(Node::items);
    let named = |names: &[Node]| names.iter().any(|name| name.text() == Some(server));
    if names("excluded").is_some_and(named) {
        return Some("`mcp.excluded` names it");
    }
    let unnamed = |names: &[Node]| !names.is_empty() && !named(names);
    names("allowed")
        .is_some_and(unnamed)
        .then_some("`mcp.allowed` does not name it")
}
