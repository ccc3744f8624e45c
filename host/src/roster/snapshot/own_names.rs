//! Names of tools that Dormouse keeps for its own: no server's tool has one of them.
//!
//! The name of the tool that connects a server of which nothing is known is kept after the server is
//! known, too: a session may still list it as one that only reads.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use dormouse_config::name;

use super::{ShownTool, Snapshot};
use crate::roster::Server;
use crate::roster::all_tool_names::AllToolNames;
use crate::roster::server::DISCOVER;

/// Takes the tools out whose names are Dormouse's own, by the servers that there are.
pub(super) fn taken_out(
    tools: &mut Vec<ShownTool>,
    servers: &BTreeMap<String, Arc<Server>>,
    may_defer: bool,
) -> Vec<ShownTool> {
    // A server of a project keeps no name from the user's own.
    let mut kept: HashMap<String, bool> = HashMap::new();
    for server in servers.values() {
        if let Some(name) = server.discover_name() {
            let is_users = !server.config().is_of_project();
            *kept.entry(name).or_default() |= is_users;
        }
    }
    let is_own = |tool: &mut ShownTool| {
        let name = tool.name.as_str();
        if name::is_own(name) || may_defer && name::is_of_meta_tool(name) {
            return true;
        }
        let is_discover = tool.server.is_unknown() && tool.server.is_discover(tool.tool());
        let is_kept = kept
            .get(name)
            .is_some_and(|is_users| *is_users || tool.server.config().is_of_project());
        is_kept && !is_discover
    };
    tools.extract_if(.., is_own).collect()
}

/// Returns the server that a name is kept for, as that of the tool that connects it: one of the user's
/// own, if there are several.
pub(super) fn kept_for<'s>(
    name: &str,
    servers: &'s BTreeMap<String, Arc<Server>>,
) -> Option<&'s str> {
    if name::is_own(name) || name::is_of_meta_tool(name) {
        // It is kept whatever servers there are.
        return None;
    }
    let all = servers.values();
    let all = all.filter(|server| server.discover_name().as_deref() == Some(name));
    let kept_for = all.min_by_key(|server| server.config().is_of_project());
    kept_for.map(|server| server.config().name.as_str())
}

impl Snapshot {
    /// Returns the server that is known by now, and whose tool that connects it an agent still calls by
    /// this name: its name, and its name for the tool. None where that could be several, and where a
    /// rule of exposure hides it.
    #[must_use]
    pub fn discovered(&self, name: &str) -> Option<(&str, &str)> {
        let servers = self.servers.values();
        let mut found = servers.filter(|server| server.discover_name().as_deref() == Some(name));
        let (one, another) = (found.next()?, found.next());
        let is_known = another.is_none() && !one.is_unknown() && one.listed().is_some();
        let config = one.config();
        let is_shown = || {
            let names = AllToolNames::of(config, DISCOVER, &self.rules.deny);
            let hidden = self.rules.hides(names.named(), config.expose);
            hidden.is_none()
        };
        (is_known && is_shown()).then_some((config.name.as_str(), DISCOVER))
    }
}
