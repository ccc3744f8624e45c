//! Rules in clients' files that deny tools of servers, and are only heard by the client itself.

use crate::Client;
use crate::discovery::document::{DocumentValue, Node};

/// Returns the key of such rules in a document, where it has any.
pub(in crate::discovery) fn denials(client: Client, root: &Node) -> Option<&'static str> {
    match client {
        Client::Amp => amp(root),
        Client::OpenCode => opencode(root),
        Client::Zed => zed(root),
        Client::Continue => continue_dev(root).then_some("exclude"),
        Client::Gemini => gemini(root).then_some("policies"),
        _ => None,
    }
}

fn amp(root: &Node) -> Option<&'static str> {
    let keys = ["amp.permissions", "amp.mcpPermissions"];
    if let Some(key) = keys
        .into_iter()
        .find(|key| root.get(key).is_some_and(is_no_list))
    {
        return Some(key);
    }
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

/// Each agent of OpenCode's, once called a mode, has switches and permissions like those of all.
fn opencode(root: &Node) -> Option<&'static str> {
    ["agent", "mode"]
        .into_iter()
        .find(|key| root.get(key).is_some_and(agents_deny))
}

fn agents_deny(agents: &Node) -> bool {
    if agents.is_no_table() {
        return true;
    }
    let agents = agents.members();
    let lists = agents
        .iter()
        .flat_map(|agent| ["tools", "permission"].map(|key| agent.node.get(key)));
    let mut rules = lists.flatten().flat_map(Node::members);
    rules.any(|rule| {
        // OpenCode's own tools have neither of these in their names.
        let is_of_server = rule.key.contains(['_', '*', '?']);
        // What denies all denies Dormouse, too.
        let is_of_server = is_of_server && !rule.key.bytes().all(|byte| byte == b'*');
        is_of_server
            && (rule.node.value == DocumentValue::Bool(false) || is(Some(&rule.node), "deny"))
    })
}

/// The file of permissions of Continue's command line.
fn continue_dev(root: &Node) -> bool {
    let excluded = root.get("exclude");
    excluded.is_some_and(|list| is_no_list(list) || !list.items().is_empty())
}

fn zed(root: &Node) -> Option<&'static str> {
    let agent = root.get("agent")?;
    if zed_permissions_deny(agent) {
        return Some("agent.tool_permissions");
    }
    let profiles = agent.get("profiles").map(Node::members).unwrap_or_default();
    let servers = profiles
        .iter()
        .filter_map(|profile| profile.node.get("context_servers"));
    let tools = servers
        .flat_map(Node::members)
        .filter_map(|server| server.node.get("tools"));
    let mut tools = tools.flat_map(Node::members);
    tools
        .any(|tool| tool.node.value == DocumentValue::Bool(false))
        .then_some("agent.profiles")
}

/// Rules of Gemini's files of policies, in which one may go before another.
fn gemini(root: &Node) -> bool {
    if root.get("rule").is_some_and(is_no_list) {
        return true;
    }
    let rules = root.get("rule").map(Node::items).unwrap_or_default();
    let mut denials = rules.iter().filter(|rule| is(rule.get("decision"), "deny"));
    denials.any(|rule| {
        let tool = rule.get("toolName");
        let items = tool.map(Node::items).unwrap_or_default();
        let mut tools = tool.into_iter().chain(items).filter_map(Node::text);
        // Gemini's own tools have neither of these in their names.
        rule.get("mcpName").is_some()
            || tools
                .any(|tool| tool.starts_with("mcp_") || tool.contains("__") || tool.contains('*'))
    })
}

fn zed_permissions_deny(agent: &Node) -> bool {
    let permissions = agent.get("tool_permissions");
    if permissions.is_some_and(Node::is_no_table) {
        return true;
    }
    let tools = permissions.and_then(|it| it.get("tools"));
    let mut tools = tools.map(Node::members).unwrap_or_default().iter();
    is(permissions.and_then(|it| it.get("default")), "deny")
        || tools.any(|tool| {
            let is_denied = is(tool.node.get("default"), "deny");
            tool.key.starts_with("mcp:") && (is_denied || tool.node.get("always_deny").is_some())
        })
}

/// Checks whether something else than a list is here, which may be rules all the same.
fn is_no_list(node: &Node) -> bool {
    matches!(node.value, DocumentValue::Text(_) | DocumentValue::Table(_))
}

fn is(node: Option<&Node>, text: &str) -> bool {
    node.and_then(Node::text) == Some(text)
}
