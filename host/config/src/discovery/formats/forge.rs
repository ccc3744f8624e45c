//! Forge: the `.mcp.json` of Claude Code in its own words: `serverUrl`, `disable`,
//! `{{.env.VAR}}` in headers, and `timeout` for a call in seconds.

use dormouse_launch::HttpTransport;

use crate::discovery::document::Node;
use crate::discovery::entries::dialect::{COMMON, EntryDialect};
use crate::discovery::entries::entry::Unit;
use crate::discovery::filling::expansion;

pub(super) const DIALECT: EntryDialect = EntryDialect {
    urls: &[
        ("url", HttpTransport::Auto),
        ("serverUrl", HttpTransport::Auto),
    ],
    call_timeout: Some(("timeout", Unit::Seconds)),
    switch: Some("disable"),
    expansion: expansion::FORGE,
    ..COMMON
};

/// Whether an entry is written in Forge's own words: another client that reads the
/// same file does not understand it.
pub(in crate::discovery) fn is_own(node: &Node) -> bool {
    let headers = node.get("headers").map(Node::members).unwrap_or_default();
    node.get("serverUrl").is_some()
        || node.get("disable").is_some()
        || headers.iter().any(|member| {
            let value = member.node.text().unwrap_or_default();
            value.contains("{{.env.") || value.contains("{{env.")
        })
}
