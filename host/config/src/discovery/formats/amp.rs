//! Amp: the literal key `amp.mcpServers`; `includeTools` are patterns. Beside the servers,
//! `amp.tools.disable` has the names of tools that are off.

use crate::discovery::dialect::{COMMON, Dialect};
use crate::discovery::document::Node;
use crate::discovery::expansion;

use super::tool_names;

pub(super) const DIALECT: Dialect = Dialect {
    include: Some("includeTools"),
    expansion: expansion::AMP,
    ..COMMON
};

/// Returns the tools of a server that a document turns off. Amp's own have `builtin:` before them.
pub(in crate::discovery) fn disabled(root: &Node, server: &str) -> Vec<String> {
    let names = root.get("amp.tools.disable").map(Node::items);
    let names = names.unwrap_or_default().iter().filter_map(Node::text);
    let names = names.filter(|name| !name.starts_with("builtin:"));
    tool_names::of_server(names, &[tool_names::open("mcp__", server, "__")])
}
