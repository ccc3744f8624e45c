//! Decisions on the servers that the clients have.

use std::collections::BTreeSet;
use std::time::Duration;

use dormouse_launch::Launch;

use super::variables::names_variables;
use crate::discovery::FoundServer;
use crate::servers::client_rules::by_client;
use crate::{
    Client, ClientConsensus, ClientRules, Config, Filter, Fingerprint, Scope, ServerConfig,
};

/// Decision on one server, which several clients may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportDecision {
    /// Name of the server in `dormouse.toml`.
    pub name: String,
    /// Action in `dormouse.toml`.
    pub action: ImportAction,
    /// Indexes of the server among those that were found: the first is the one that is taken.
    pub found: Vec<usize>,
}

impl ImportDecision {
    /// Combines what each client that has the server is shown of it.
    #[must_use]
    pub fn said(&self, found: &[FoundServer]) -> Option<ClientConsensus> {
        let all = self.found.iter().filter_map(|index| found.get(*index));
        ClientConsensus::of(all.filter_map(FoundServer::rule))
    }

    /// Returns the longest time for calls of the server: as long as the most patient of its clients
    /// lets them take.
    #[must_use]
    pub fn call_timeout(&self, found: &[FoundServer]) -> Option<Duration> {
        let all = self.found.iter().filter_map(|index| found.get(*index));
        all.map(|found| found.server.limits.timeout).max()
    }

    /// Returns the rules of single clients for a server that is in `dormouse.toml` already, where
    /// these forbid more than its own. What either of both forbids stays forbidden: a client's file
    /// may have come to deny more since the server was taken over.
    #[must_use]
    pub fn more_rules(&self, found: &[FoundServer], known: &ServerConfig) -> ClientRules {
        let mut more = ClientRules::default();
        let Some(bridge) = known.bridge() else {
            return more;
        };
        let all = self.found.iter().filter_map(|index| found.get(*index));
        for (client, mut rule) in by_client(all.filter_map(FoundServer::rule)) {
            if rule.filter == bridge.filter {
                rule.filter = Filter::default();
            }
            rule.enabled |= !known.enabled;
            let mut both = bridge.rules.of(client).cloned().unwrap_or_default();
            if both.restrict(&rule) {
                more.restrict(client, both);
            }
        }
        more
    }
}

/// Action on a server in `dormouse.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportAction {
    /// Adds the server.
    Add,
    /// Puts the server in place of another one of its name.
    Replace,
    /// Leaves the server that is there already.
    Keep,
}

/// Decides on all servers that users have written for themselves and that their clients take. Those
/// of the `chosen` clients are taken over; servers that other clients have, too, are noted, because
/// these load them themselves.
///
/// Two clients that reach a server in the same way mean the same server, whatever
/// they call it; a variable and its value are not the same, since it may have another one, or none,
/// where another client starts. Two servers of one name are not the same either: the second one is
/// named after its client, too, or replaces what is in the configuration, with `force`.
#[must_use]
pub(super) fn decide(
    found: &[FoundServer],
    chosen: &[Client],
    config: &Config,
    force: bool,
) -> Vec<ImportDecision> {
    let mut decisions: Vec<(ServerIdentity, ImportDecision)> = Vec::new();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let identity = |one: &FoundServer| {
        let launch = &one.own.launch;
        ServerIdentity::of(Fingerprint::of(launch), launch, &one.server)
    };
    let known: Vec<(&String, ServerIdentity)> = config
        .servers
        .iter()
        .filter_map(|(name, server)| {
            let bridge = server.bridge()?;
            let written = bridge.fingerprint.clone();
            Some((name, ServerIdentity::of(written, &bridge.written, server)))
        })
        .collect();
    let is_same = |one: &FoundServer,
                   identity: &ServerIdentity,
                   other: (&ServerIdentity, &ImportDecision)| {
        let (others, decision) = other;
        let first = decision.found.first().and_then(|first| found.get(*first));
        let asked = first.is_some_and(|first| first.own.asked == one.own.asked);
        (identity.written == others.written && asked) || identity.comes_to(others)
    };
    for (index, one) in candidates(found) {
        if !client(one).is_some_and(|client| chosen.contains(&client)) {
            continue;
        }
        let identity = identity(one);
        let twin = decisions.iter_mut().find(|(others, decision)| {
            let mut same = decision.found.iter().filter_map(|index| found.get(*index));
            same.all(|same| client(same) != client(one))
                && is_same(one, &identity, (others, decision))
        });
        if let Some((_, decision)) = twin {
            decision.found.push(index);
            continue;
        }
        let name = &one.server.name;
        // That table is about a project's server of the name, and has no room for another.
        let is_of_project = |name: &str| {
            let overlay = config.overlays.get(name);
            overlay.is_some_and(|overlay| overlay.project.is_some())
        };
        let mut known = known.iter();
        let known = known.find(|(name, known)| {
            let is_same = known.written == identity.written || known.comes_to(&identity);
            is_same && !taken.contains(name.as_str())
        });
        let (name, action) = match known {
            Some((known, _)) => ((*known).clone(), ImportAction::Keep),
            None if taken.contains(name) || is_of_project(name) => {
                (free(one, config, &taken), ImportAction::Add)
            }
            None if !config.servers.contains_key(name) => (name.clone(), ImportAction::Add),
            None if force => (name.clone(), ImportAction::Replace),
            None => (free(one, config, &taken), ImportAction::Add),
        };
        taken.insert(name.clone());
        let found = vec![index];
        decisions.push((
            identity,
            ImportDecision {
                name,
                action,
                found,
            },
        ));
    }
    for (index, one) in candidates(found) {
        if client(one).is_some_and(|client| chosen.contains(&client)) {
            continue;
        }
        let identity = identity(one);
        let twin = decisions
            .iter_mut()
            .find(|(others, decision)| is_same(one, &identity, (others, decision)));
        if let Some((_, decision)) = twin {
            decision.found.push(index);
        }
    }
    let decisions = decisions.into_iter();
    decisions.map(|(_, decision)| decision).collect()
}

/// Ways to tell whether two servers are one.
struct ServerIdentity {
    /// Fingerprint of the launch, nothing filled in.
    written: Fingerprint,
    /// Fingerprint of the launch as it is started, where nothing is filled into it; none where
    /// something is: the same today may be another server tomorrow, and only one of both spellings
    /// is kept.
    fixed: Option<Fingerprint>,
}

impl ServerIdentity {
    /// Returns the identity of a server that is written in these words.
    fn of(written: Fingerprint, launch: &Launch, server: &ServerConfig) -> Self {
        let bridge = server.bridge().filter(|bridge| {
            bridge.needs.is_empty() && bridge.filled_in.is_empty() && !names_variables(launch)
        });
        Self {
            written,
            fixed: bridge.map(|bridge| Fingerprint::of(&bridge.launch)),
        }
    }

    /// Whether both are started in the same way, wherever that is, as where one of them spells a
    /// path in another way.
    fn comes_to(&self, other: &Self) -> bool {
        self.fixed.is_some() && self.fixed == other.fixed
    }
}

/// Returns the servers that a user has written for all they do, and that their client takes and
/// allows.
fn candidates(found: &[FoundServer]) -> impl Iterator<Item = (usize, &FoundServer)> {
    let found = found.iter().enumerate();
    found.filter(|(_, one)| {
        let server = &one.server;
        server.origin.scope == Scope::User && one.shadowed_by.is_none() && server.denied.is_none()
    })
}

fn client(found: &FoundServer) -> Option<Client> {
    found.server.origin.client
}

/// Returns a name that no server has.
fn free(one: &FoundServer, config: &Config, taken: &BTreeSet<String>) -> String {
    let client = client(one).map_or("other", Client::name);
    let name = format!("{}-{client}", one.server.name);
    let names = std::iter::once(name.clone()).chain((2..).map(|number| format!("{name}-{number}")));
    let mut free = names.filter(|name| {
        !taken.contains(name)
            && !config.servers.contains_key(name)
            && !config.overlays.contains_key(name)
    });
    free.next().unwrap_or(name)
}
