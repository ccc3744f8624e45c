//! Amp: the literal key `amp.mcpServers`; `includeTools` are patterns. Beside the servers,
//! `amp.tools.disable` has the names of tools that are off.

use crate::discovery::document::Node;
use crate::discovery::entries::dialect::{COMMON, EntryDialect};
use crate::discovery::filling::expansion;

use super::tool_names;

pub(super) const DIALECT: EntryDialect = EntryDialect {
    include: Some("includeTools"),
    expansion: expansion::AMP,
    ..COMMON
};

/// Returns the tools of a server that a document turns off. Amp's own have `builtin:` before them.
pub(in crate::discovery) fn disabled(root: &Node, server: &str) -> Vec<String> {
    let list = root.get("amp.tools.disable").into_iter();
    let mut names = tool_names::of_server(list, &[tool_names::open("mcp__", server, "__")]);
    names.retain(|name| !name.starts_with("builtin:"));
    names
}
