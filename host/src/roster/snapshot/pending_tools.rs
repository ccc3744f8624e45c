//! Pending tools that are called by names: whoever calls one asks its user for approval.

use std::collections::HashMap;

use dormouse_policy::exposure::ExposureRules;

use super::Snapshot;
use crate::roster::Server;
use crate::roster::all_tool_names::AllToolNames;

/// Pending tools, as (server, own name), by the names that agents will see them under. None where a
/// call could be meant for any of several.
#[derive(Debug, Default)]
pub(super) struct PendingTools(HashMap<String, Option<(String, String)>>);

impl PendingTools {
    /// Collects the pending tools of servers, but for those that rules hide, and for those whose names
    /// they could not have either if they were approved, by `is_taken`.
    pub(super) fn of<'s>(
        servers: impl Iterator<Item = &'s Server>,
        rules: &ExposureRules,
        is_taken: impl Fn(&Server, &str, &str) -> bool,
    ) -> Self {
        let mut all: HashMap<String, Option<(String, String)>> = HashMap::new();
        for server in servers.filter(|server| server.config().enabled) {
            let config = server.config();
            for tool in server.hidden() {
                let names = AllToolNames::of(config, tool, &rules.deny);
                let is_hidden = rules.hides(names.named(), config.expose).is_some();
                if is_taken(server, tool, &names.shown) {
                    continue;
                }
                let one = (config.name.clone(), tool.to_owned());
                let one = Some(one).filter(|_| !is_hidden);
                let found = all.entry(names.shown).or_insert_with(|| one.clone());
                if *found != one {
                    *found = None;
                }
            }
        }
        Self(all)
    }
}

impl Snapshot {
    /// Returns the tool that is hidden until its user approves it, and that agents would otherwise
    /// see under this name: its server's name and its own. None where there are several of these, and
    /// where the tool could not have that name if it were approved.
    #[must_use]
    pub fn hidden(&self, name: &str) -> Option<(&str, &str)> {
        let (server, tool) = self.pending.0.get(name)?.as_ref()?;
        Some((server, tool))
    }
}
