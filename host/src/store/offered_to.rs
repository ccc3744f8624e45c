//! Kinds of clients, and the tools that each of them is offered.

use std::collections::BTreeSet;

use rmcp::model::ProtocolVersion;
use serde::{Deserialize, Serialize};

use crate::upstream::{Able, MODERN, Offered};

/// Most kinds of clients of which it is kept.
const MAX_KINDS_OF_CLIENTS: usize = 16;

/// What stands for a revision of MCP with a handshake that is not known.
const SOME_HANDSHAKE: &str = "handshake";

/// The tools that clients of one kind were last offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OfferedTo {
    /// The kind (see [`Clients`](super::unseen::Clients)); empty for all that an older Dormouse has asked for.
    pub(super) clients: String,
    /// Capabilities: what they can be asked.
    pub(super) able: Able,
    /// The tools by name.
    pub(super) tools: BTreeSet<String>,
}

impl OfferedTo {
    /// Puts it in place of what these clients were offered before. Gives all that is offered to
    /// any kind. What these clients had, and have no longer, nobody has: it has gone, but for
    /// those that are asked later and are offered it again. So has what is not offered to those
    /// who can be asked all that others can.
    pub(super) fn replace_in(self, all: &mut Vec<Self>, withdrawn: &[String]) -> BTreeSet<String> {
        let before = all.iter().position(|of| of.clients == self.clients);
        let before = before.map(|index| all.remove(index));
        let before = before.iter().flat_map(|before| &before.tools);
        let gone = before.filter(|name| !self.tools.contains(*name));
        let gone: BTreeSet<&String> = gone.chain(withdrawn).collect();
        for other in &mut *all {
            let is_covered = self.is_of_revision_of(other) && self.able.covers(&other.able);
            other
                .tools
                .retain(|name| !gone.contains(name) && (!is_covered || self.tools.contains(name)));
        }
        all.push(self);
        let too_many = all.len().saturating_sub(MAX_KINDS_OF_CLIENTS);
        all.drain(..too_many);
        all.iter().flat_map(|of| &of.tools).cloned().collect()
    }

    fn is_of_revision_of(&self, other: &Self) -> bool {
        let revision = |of: &Self| of.clients.split(' ').next().map(str::to_owned);
        // Of some an older Dormouse has not kept it.
        other.clients.is_empty()
            || other.clients.starts_with(SOME_HANDSHAKE)
            || revision(self) == revision(other)
    }
}

/// The kind of clients that something was offered to (see [`Clients`](super::unseen::Clients)).
pub(super) fn kind_of_clients(offered: &Offered) -> String {
    // A server may name whatever revision it likes, and must not make a kind of each.
    let is_known = |revision: &ProtocolVersion| revision.as_str() == offered.protocol;
    let revision = match offered.protocol.as_str() {
        MODERN => "stateless",
        revision if ProtocolVersion::KNOWN_VERSIONS.iter().any(is_known) => revision,
        _ => SOME_HANDSHAKE,
    };
    let able = serde_json::to_string(&offered.able).unwrap_or_default();
    format!("{revision} {able}")
}
