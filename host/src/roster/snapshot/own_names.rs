//! Names of tools that Dormouse keeps for its own: no server's tool has one of them.
//!
//! The name of the tool that connects a server of which nothing is known is kept after the server is
//! known, too: a session may still list it as one that only reads.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use dormouse_config::name::{self, META_TOOLS};
use dormouse_policy::exposure::ExposureRules;

use super::{Snapshot, may_defer};
use crate::roster::Server;
use crate::roster::server::DISCOVER;

/// Names of tools that are Dormouse's own, by the servers that there are. Those of the tools that find
/// and call others are kept whatever the mode is, as sessions outlive it; what looks like them only where
/// an agent may have them.
pub(super) struct OwnNames {
    /// Whether some agents may have the tools that find and call others.
    may_defer: bool,
    /// Names of the tools that connect servers, each with whether one of these is the user's own: a
    /// server of a project keeps no name from those.
    discover: HashMap<String, bool>,
}

impl OwnNames {
    /// Collects the names that are kept while there are these servers, by these rules.
    pub(super) fn of(servers: &BTreeMap<String, Arc<Server>>, rules: &ExposureRules) -> Self {
        let mut discover: HashMap<String, bool> = HashMap::new();
        for server in servers.values() {
            if let Some(name) = server.discover_name() {
                let is_users = !server.config().is_of_project();
                *discover.entry(name).or_default() |= is_users;
            }
        }
        Self {
            may_defer: may_defer(rules, servers),
            discover,
        }
    }

    /// Checks whether a server's `tool`, by its own name, may not be shown as `shown`.
    pub(super) fn are_kept_from(&self, server: &Server, tool: &str, shown: &str) -> bool {
        let is_of_meta_tool = match self.may_defer {
            true => name::is_of_meta_tool(shown),
            false => META_TOOLS.contains(&shown),
        };
        if name::is_own(shown) || is_of_meta_tool {
            return true;
        }
        let is_discover = server.is_unknown() && server.is_discover(tool);
        let kept = self.discover.get(shown);
        let is_kept = kept.is_some_and(|is_users| *is_users || server.config().is_of_project());
        is_kept && !is_discover
    }
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
        let is_shown = is_known && !self.hides_by_rules(one, DISCOVER);
        is_shown.then_some((config.name.as_str(), DISCOVER))
    }
}
