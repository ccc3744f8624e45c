//! Names of what is withheld because it is not what its user knows: until they have decided, nothing
//! of another server is shown under them, which an agent would take for it.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Server, names};
use crate::store::Gated;

/// Names of one kind, each with the server and its own name for it.
pub(super) struct WaitingNames<'s>(HashMap<String, (&'s Arc<Server>, &'s str)>);

impl<'s> WaitingNames<'s> {
    /// Those of tools or prompts of these servers.
    pub(super) fn of(kind: Gated, servers: impl Iterator<Item = &'s Arc<Server>>) -> Self {
        let all = servers.flat_map(|server| {
            let config = server.config();
            // What nobody knows yet takes no name from anybody.
            let known = server.withheld(kind).filter(|(_, is_known)| *is_known);
            known.map(move |(own, _)| {
                let name = names::shown(&config.name, config.prefix.as_deref(), own);
                (name, (server, own))
            })
        });
        Self(all.collect())
    }

    /// The owner of a name that something of a server would be shown under, as (server, own name).
    /// None where it is nobody's, or its own. A project's names are kept from projects alone.
    pub(super) fn taken_by(&self, server: &Arc<Server>, shown: &str) -> Option<(&'s str, &'s str)> {
        let (owner, own) = self.0.get(shown)?;
        let owner = owner.config();
        let is_other = owner.name != server.config().name;
        let counts = !owner.is_of_project() || server.config().is_of_project();
        (is_other && counts).then_some((owner.name.as_str(), *own))
    }
}
