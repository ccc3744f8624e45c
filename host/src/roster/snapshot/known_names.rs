//! Names by which an agent may know a tool that is not shown now: the tool is pending, its server
//! is off, has failed or is removed, or was so before this host began.

use dormouse_config::name::SEPARATOR;

use super::Snapshot;
use crate::roster::{Roster, Server, names};
use crate::store::Gated;

impl Roster {
    /// Checks whether a name may be that of a tool of another server than `owner`, as agents know
    /// it.
    #[must_use]
    pub fn is_name_of_another(&self, owner: &str, name: &str, snapshot: &Snapshot) -> bool {
        // Servers that are removed are known by the form of their tools' names alone.
        if name.contains(SEPARATOR) || names::is_cut(name) {
            return true;
        }
        let mut others = snapshot.servers().values().filter(|server| {
            let config = server.config();
            config.name != owner
        });
        others.any(|server| self.may_be_shown_as(server, name))
    }

    fn may_be_shown_as(&self, server: &Server, name: &str) -> bool {
        let config = server.config();
        let prefix = config.prefix.as_deref();
        if names::beginning(&config.name, prefix).is_some() {
            // It has one of the forms above.
            return false;
        }
        if server.listed().is_some() {
            return server.has_tool_shown_as(name);
        }
        let Some(upstream) = config.bridge().filter(|_| config.component().is_none()) else {
            // A plugin's tools are in its file alone, which cannot be read or is not to be.
            return true;
        };
        let known = self.store.known(&upstream.fingerprint);
        known.is_some_and(|known| {
            let listed = known.listing.tools.iter().map(|tool| tool.name.as_str());
            let waiting = known.pending.iter();
            let waiting = waiting.filter(|item| item.kind == Gated::Tool);
            let mut all = listed.chain(waiting.map(|item| item.name.as_str()));
            all.any(|tool| names::shown(&config.name, prefix, tool) == name)
        })
    }
}
