//! Rules in clients' files that deny tools of servers, and are only heard by the client itself.

use crate::Client;
use crate::discovery::document::{Node, Value};

/// Returns the key of such rules in a document, where it has any.
pub(in crate::discovery) fn denials(client: Client, root: &Node) -> Option<&'static str> {
    match client {
        Client::Amp => amp(root),
        Client::OpenCode => opencode(root).then_some("agent"),
        Client::Zed => zed(root).then_some("agent.tool_permissions"),
        _ => None,
    }
}

fn amp(root: &Node) -> Option<&'static str> {
    let rules = |key: &str| root.get(key).map(Node::items).unwrap_or_default();
    let rejects = |rule: &&Node| is(rule.get("action"), "reject");
    let is_of_servers = |rule: &Node| {
        let tool = rule.get("tool").and_then(Node::text);
        tool.is_some_and(|tool| tool.starts_with("mcp__") || tool.starts_with('*'))
    };
    let mut of_tools = rules("amp.permissions").iter().filter(rejects);
    if of_tools.any(is_of_servers) {
        return Some("amp.permissions");
    }
    let mut of_servers = rules("amp.mcpPermissions").iter().filter(rejects);
    of_servers.next().map(|_| "amp.mcpPermissions")
}

/// Each agent of OpenCode's has switches and permissions like those of all.
fn opencode(root: &Node) -> bool {
    let agents = root.get("agent").map(Node::members).unwrap_or_default();
    let lists = agents
        .iter()
        .flat_map(|agent| ["tools", "permission"].map(|key| agent.node.get(key)));
    let mut rules = lists.flatten().flat_map(Node::members);
    rules.any(|rule| {
        // OpenCode's own tools have neither of these in their names.
        let is_of_server = rule.key.contains(['_', '*', '?']);
        is_of_server && (rule.node.value == Value::Bool(false) || is(Some(&rule.node), "deny"))
    })
}

fn zed(root: &Node) -> bool {
    let permissions = root.get("agent").and_then(|it| it.get("tool_permissions"));
    let tools = permissions.and_then(|it| it.get("tools"));
    let mut tools = tools.map(Node::members).unwrap_or_default().iter();
    is(permissions.and_then(|it| it.get("default")), "deny")
        || tools.any(|tool| {
            let is_denied = is(tool.node.get("default"), "deny");
            tool.key.starts_with("mcp:") && (is_denied || tool.node.get("always_deny").is_some())
        })
}

fn is(node: Option<&Node>, text: &str) -> bool {
    node.and_then(Node::text) == Some(text)
}
