//! Settings of single agents and profiles that name all servers or tools which these have: what is
//! not named there, they do not have.

use crate::Client;
use crate::discovery::document::{DocumentMember, DocumentValue, Node};

/// Returns the reason why an agent or a profile would not have a server that takes the place of those
/// that are named for it, if there is one.
pub(in crate::discovery) fn unnamed(client: Client, root: &Node, server: &str) -> Option<String> {
    let agents = root.get("agent")?;
    match client {
        Client::OpenCode => {
            let mut agents = agents.members().iter();
            let agent = agents.find(|agent| {
                let tools = agent.node.get("tools").map(Node::members);
                let tools = tools.unwrap_or_default();
                let of_server = format!("{server}_");
                is_all_off(tools) && is_on(tools, "") && !is_on(tools, &of_server)
            })?;
            let name = agent.key.escape_debug();
            Some(format!("`agent.{name}.tools` names the only tools it has"))
        }
        Client::Zed => {
            let mut profiles = agents.get("profiles")?.members().iter();
            let profile = profiles.find(|profile| {
                let all = profile.node.get("enable_all_context_servers");
                let named = profile.node.get("context_servers").map(Node::members);
                let named = named.unwrap_or_default();
                all.is_some_and(|all| all.value == DocumentValue::Bool(false))
                    && !named.is_empty()
                    && !named.iter().any(|named| named.key == server)
            })?;
            let name = profile.key.escape_debug();
            Some(format!(
                "`agent.profiles.{name}.context_servers` names the only servers it has"
            ))
        }
        _ => None,
    }
}

/// Whether all tools are off that are not named.
fn is_all_off(tools: &[DocumentMember]) -> bool {
    let mut all = tools.iter().filter(|tool| tool.key == "*");
    all.any(|tool| tool.node.value == DocumentValue::Bool(false))
}

/// Whether tools are on whose names or patterns begin in this way.
fn is_on(tools: &[DocumentMember], begin: &str) -> bool {
    let mut named = tools.iter().filter(|tool| tool.key.starts_with(begin));
    named.any(|tool| tool.node.value == DocumentValue::Bool(true))
}
