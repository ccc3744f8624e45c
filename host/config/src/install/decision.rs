//! What becomes of each server that the clients have.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::discovery::Found;
use crate::{
    Client, ClientConsensus, ClientRules, Config, Filter, Fingerprint, Scope, ServerConfig,
};

/// What becomes of one server, which several clients may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Its name in `dormouse.toml`.
    pub name: String,
    /// What happens there.
    pub action: Action,
    /// Which of those that were found it is: the first is the one that is taken.
    pub found: Vec<usize>,
}

impl Decision {
    /// What each client that has it is shown of it.
    #[must_use]
    pub fn said(&self, found: &[Found]) -> Option<ClientConsensus> {
        let all = self.found.iter().filter_map(|index| found.get(*index));
        ClientConsensus::of(all.filter_map(Found::rule))
    }

    /// How long the calls of it may take: as long as the most patient of its clients lets them.
    #[must_use]
    pub fn call_timeout(&self, found: &[Found]) -> Option<Duration> {
        let all = self.found.iter().filter_map(|index| found.get(*index));
        all.map(|found| found.server.limits.timeout).max()
    }

    /// What single clients are forbidden of a server that is in `dormouse.toml` already, where
    /// that does not say so yet.
    #[must_use]
    pub fn more_rules(&self, found: &[Found], known: &ServerConfig) -> ClientRules {
        let mut more = ClientRules::default();
        let Some(bridge) = known.bridge() else {
            return more;
        };
        let all = self.found.iter().filter_map(|index| found.get(*index));
        for (client, mut rule) in all.filter_map(Found::rule) {
            if bridge.rules.has(client) {
                continue;
            }
            if rule.filter == bridge.filter {
                rule.filter = Filter::default();
            }
            rule.enabled |= !known.enabled;
            more.restrict(client, rule);
        }
        more
    }
}

/// What happens to a server in `dormouse.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It is added.
    Add,
    /// It is put in place of another one of its name.
    Replace,
    /// It is there already.
    Keep,
}

/// Decides on all servers that users have written for themselves and that their
/// clients take. Those of the `chosen` clients are taken over; what others have,
/// too, is noted, because they load it themselves.
///
/// Two clients that reach a server in the same way mean the same server, whatever
/// they call it. Two servers of one name do not: the second one is named after its
/// client, too, or replaces what is in the configuration, with `force`.
#[must_use]
pub(super) fn decide(
    found: &[Found],
    chosen: &[Client],
    config: &Config,
    force: bool,
) -> Vec<Decision> {
    let mut decisions: Vec<(Fingerprint, Decision)> = Vec::new();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for (index, one) in candidates(found) {
        if !client(one).is_some_and(|client| chosen.contains(&client)) {
            continue;
        }
        let fingerprint = Fingerprint::of(&one.own.launch);
        let twin = decisions.iter_mut().find(|(other, decision)| {
            let same = decision.found.iter().filter_map(|index| found.get(*index));
            let mut same = same.clone();
            *other == fingerprint
                && same.all(|same| client(same) != client(one) && same.own.asked == one.own.asked)
        });
        if let Some((_, decision)) = twin {
            decision.found.push(index);
            continue;
        }
        let name = &one.server.name;
        let there = |name: &str| {
            let server = config.servers.get(name);
            server
                .and_then(|server| server.bridge())
                .map(|bridge| &bridge.fingerprint)
        };
        let known = config
            .servers
            .keys()
            .find(|known| there(known) == Some(&fingerprint) && !taken.contains(known.as_str()));
        let (name, action) = match known {
            Some(known) => (known.clone(), Action::Keep),
            None if taken.contains(name) => (free(one, config, &taken), Action::Add),
            None if !config.servers.contains_key(name) => (name.clone(), Action::Add),
            None if force => (name.clone(), Action::Replace),
            None => (free(one, config, &taken), Action::Add),
        };
        taken.insert(name.clone());
        let found = vec![index];
        decisions.push((
            fingerprint,
            Decision {
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
        let fingerprint = Fingerprint::of(&one.own.launch);
        let is_same = |decision: &Decision| {
            let first = decision.found.first().and_then(|first| found.get(*first));
            first.is_some_and(|first| first.own.asked == one.own.asked)
        };
        let twin = decisions
            .iter_mut()
            .find(|(other, decision)| *other == fingerprint && is_same(decision));
        if let Some((_, decision)) = twin {
            decision.found.push(index);
        }
    }
    decisions
        .into_iter()
        .map(|(_, decision)| decision)
        .collect()
}

/// What a user has written for all they do, and what their client takes and allows.
fn candidates(found: &[Found]) -> impl Iterator<Item = (usize, &Found)> {
    let found = found.iter().enumerate();
    found.filter(|(_, one)| {
        let server = &one.server;
        server.origin.scope == Scope::User && one.shadowed_by.is_none() && server.denied.is_none()
    })
}

fn client(found: &Found) -> Option<Client> {
    found.server.origin.client
}

/// A name that nobody has.
fn free(one: &Found, config: &Config, taken: &BTreeSet<String>) -> String {
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
