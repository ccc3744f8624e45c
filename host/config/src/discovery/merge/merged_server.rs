//! Servers as they are once it is decided which of the entries are taken: with the rules of all
//! entries for the same server.

use std::collections::{BTreeMap, HashMap};

use super::{
    ChosenServer, MergeDecision, MergedServers, Merging, Overridden, filled_launch, is_of_project,
};
use crate::discovery::FoundServer;
use crate::discovery::settle::OFF;
use crate::naming::name::likeness;
use crate::{Client, ClientConsensus, ClientRule, ClientRules, Fingerprint, Origin, ServerConfig};

/// Restricts a server of a project's, which has these entries, to what the user's own for the same
/// server allow: the project's stands in their place for the clients alone that have both.
fn keep_users_rules(of_user: &[&FoundServer], entries: &[&FoundServer], server: &mut ServerConfig) {
    let users = ClientConsensus::of(of_user.iter().filter_map(|found| found.rule()));
    let (Some(users), Some(bridge)) = (users, server.bridge_mut()) else {
        return;
    };
    let stands_in_place = |entry: &&&FoundServer| {
        let origin = &entry.server.origin;
        let mut same_client = of_user
            .iter()
            .filter(|user| user.server.origin.client == origin.client);
        is_of_project(entry) && same_client.any(|user| user.written_name == entry.written_name)
    };
    let overriding = entries.iter().filter(stands_in_place);
    let exempt: BTreeMap<Client, ClientRule> =
        overriding.filter_map(|entry| entry.rule()).collect();
    let for_all = ClientRule {
        enabled: users.enabled,
        filter: users.filter.clone(),
    };
    if users.rules.is_empty() && exempt.values().all(|rule| *rule == for_all) {
        bridge.filter.restrict(&users.filter);
        return;
    }
    for client in Client::all().filter(|client| !exempt.contains_key(client)) {
        let rule = ClientRule {
            enabled: users.enabled && users.rules.enable(Some(client)),
            filter: users.rules.filter(&users.filter, Some(client)),
        };
        let mut of_client = ClientRules::default();
        of_client.restrict(client, rule);
        bridge.rules.restrict_all(&of_client);
    }
}

/// Keeps what the user has denied or switched off of their own entry, for one of a project's that the
/// same client has under the same name: a client that reads both as one entry keeps it, too, unless the
/// project's says that the server is on.
fn keep_denials(
    of_user: &FoundServer,
    says_on: bool,
    server: &mut ServerConfig,
    notes: &mut Vec<String>,
) {
    let origin = &of_user.server.origin;
    if !of_user.server.enabled && server.enabled && !says_on {
        server.enabled = false;
        notes.push(format!(
            "{OFF}your own entry of that name, {origin}, is off"
        ));
    }
    if let (Some(bridge), Some(of_user)) = (server.bridge_mut(), of_user.server.bridge()) {
        bridge.filter.restrict(&of_user.filter);
    }
}

impl<'d> Merging<'d> {
    pub(super) fn result(&self) -> MergedServers {
        let mut merged = MergedServers::default();
        let origin = |index: usize| self.found.get(index).map(|found| &found.server.origin);
        let mut also: BTreeMap<usize, Vec<Origin>> = BTreeMap::new();
        for (index, found) in self.found.iter().enumerate() {
            let by = match self.fate.get(index) {
                Some(MergeDecision::Lost(by)) => origin(*by),
                Some(MergeDecision::Excluded) => found.shadowed_by.as_ref(),
                Some(MergeDecision::Unusable(entry)) => self.entries.origin(*entry),
                Some(MergeDecision::Same(other)) => match self.taken_as(index) {
                    Some(taken) => {
                        if !self.is_part_of_users(taken, found) {
                            let also = also.entry(taken).or_default();
                            also.push(found.server.origin.clone());
                        }
                        None
                    }
                    // It is one of the user's that a project has taken the name of.
                    None => {
                        let other = self.found.get(*other);
                        let other = other.filter(|other| !is_of_project(other));
                        let of_user = other.map(|other| &other.server.origin);
                        of_user.filter(|_| is_of_project(found))
                    }
                },
                Some(MergeDecision::Open) | None => None,
            };
            if let Some(by) = by {
                merged.overridden.push(Overridden {
                    name: found.server.name.clone(),
                    origin: found.server.origin.clone(),
                    by: by.clone(),
                });
            }
        }
        let mut entries = self.entries_of_taken();
        let users: HashMap<_, Vec<_>> = self.by_client_and_name();
        let of_users = self.users_of_taken();
        let overridden = self.users_of_projects(&of_users);
        for (index, found) in self.open() {
            let mut server = found.server.clone();
            let entries = entries.remove(&index).unwrap_or_default();
            // Of a project's: the user's that it stands in place of.
            let of_user = of_users.get(&index).filter(|_| is_of_project(found));
            server.name = match of_user {
                // What the user says of their server is said of its name.
                Some(_) => found.server.name.clone(),
                None => self.name_of(found, &entries),
            };
            let all = ClientConsensus::of(entries.iter().filter_map(|entry| entry.rule()));
            if let (Some(all), Some(bridge)) = (all, server.bridge_mut()) {
                bridge.filter = all.filter;
                bridge.rules = all.rules;
            }
            if let Some(of_user) = of_user {
                keep_users_rules(of_user, &entries, &mut server);
            }
            let launch = filled_launch(found).filter(|_| !is_of_project(found));
            if let Some(overridden) = launch.and_then(|launch| overridden.get(&launch)) {
                keep_users_rules(overridden, &entries, &mut server);
            }
            self.deny_unusable(&entries, &mut server);
            // A client ends its calls itself where it is in more of a hurry.
            let timeouts = entries.iter().map(|entry| entry.server.limits.timeout);
            if let Some(longest) = timeouts.max() {
                server.limits.timeout = longest;
            }
            let mut notes = found.notes.clone();
            // Several clients may read one entry of a project's, each beside one of its user's.
            for entry in entries.iter().filter(|entry| is_of_project(entry)) {
                let name = (entry.server.origin.client, entry.written_name.as_str());
                if let Some(origin) = self.unusable.get(&name).filter(|_| server.enabled) {
                    server.enabled = false;
                    notes.push(format!(
                        "{OFF}your own entry of that name, {origin}, cannot be used, and may deny it"
                    ));
                }
                for of_user in users.get(&name).into_iter().flatten() {
                    keep_denials(of_user, entry.says_on, &mut server, &mut notes);
                }
            }
            let mut other_names = Vec::new();
            for entry in &entries {
                let other = &entry.server;
                if other.name != server.name {
                    notes.push(format!(
                        "it is the same as `{}` of {}, which is not shown a second time",
                        other.name, other.origin
                    ));
                    other_names.push(other.name.clone());
                }
                if let (Some(why), None) = (&other.denied, &server.denied) {
                    notes.push(format!("of {} a policy denies it: {why}", other.origin));
                }
            }
            let choice = ChosenServer {
                server,
                notes,
                other_names,
                also: also.remove(&index).unwrap_or_default(),
            };
            merged.servers.insert(choice.server.name.clone(), choice);
        }
        merged
    }

    /// Returns the user's entries, whatever has become of them, by their clients and the names that
    /// these have for them.
    fn by_client_and_name(&self) -> HashMap<(Option<Client>, &'d str), Vec<&'d FoundServer>> {
        let mut users: HashMap<_, Vec<_>> = HashMap::new();
        for found in self.found.iter().filter(|found| !is_of_project(found)) {
            let name = (found.server.origin.client, found.written_name.as_str());
            users.entry(name).or_default().push(*found);
        }
        users
    }

    /// Whether an entry of a project's is a part of what its user has elsewhere, or switched off: the
    /// client that reads it is shown the user's still.
    fn is_part_of_users(&self, taken: usize, found: &FoundServer) -> bool {
        let taken = self.found.get(taken);
        is_of_project(found)
            && !found.server.shows_all()
            && taken.is_some_and(|taken| !is_of_project(taken))
    }

    /// Returns the user's entries for the servers that are taken, by these.
    fn users_of_taken(&self) -> BTreeMap<usize, Vec<&'d FoundServer>> {
        let mut of_users: BTreeMap<usize, Vec<&'d FoundServer>> = BTreeMap::new();
        for (index, found) in self.found.iter().copied().enumerate() {
            if let Some(taken) = self.taken_as(index).filter(|_| !is_of_project(found)) {
                of_users.entry(taken).or_default().push(found);
            }
        }
        of_users
    }

    /// Returns the user's entries in whose place a project's server is taken, by their launches: what
    /// they say of a server holds for another entry for it, which is taken as before.
    fn users_of_projects(
        &self,
        of_users: &BTreeMap<usize, Vec<&'d FoundServer>>,
    ) -> BTreeMap<Fingerprint, Vec<&'d FoundServer>> {
        let is_project = |index: &usize| self.found.get(*index).is_some_and(|by| is_of_project(by));
        let of_projects = of_users.iter().filter(|(taken, _)| is_project(taken));
        let mut by_launch: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for found in of_projects.flat_map(|(_, entries)| entries) {
            if let Some(launch) = filled_launch(found) {
                by_launch.entry(launch).or_default().push(*found);
            }
        }
        by_launch
    }

    /// Returns the name of a server that is taken, of those that its entries have: that of the
    /// first, also where another is taken because the first is switched off. Otherwise a client's
    /// switch for one folder would rename it there.
    fn name_of(&self, taken: &FoundServer, entries: &[&FoundServer]) -> String {
        let own = &taken.server.name;
        // An entry of the user's that is of no use has its name all the same.
        let is_users = |name: &str| {
            let mut users = self.unusable.keys();
            is_of_project(taken) && users.any(|(_, users)| likeness(users) == likeness(name))
        };
        let is_free = |name: &&String| {
            let mut others = self.open().into_iter().map(|(_, found)| &found.server.name);
            *name == own || others.all(|other| other != *name) && !is_users(name)
        };
        let first = entries.first().map(|first| &first.server.name);
        first.filter(is_free).unwrap_or(own).clone()
    }

    /// Returns the entries of the clients' files for the servers that are taken, by these. A
    /// project neither filters nor switches off what its user has.
    fn entries_of_taken(&self) -> BTreeMap<usize, Vec<&'d FoundServer>> {
        let mut entries: BTreeMap<usize, Vec<&'d FoundServer>> = BTreeMap::new();
        for (index, found) in self.found.iter().enumerate() {
            let Some(taken) = self.taken_as(index) else {
                continue;
            };
            let is_of_users = self
                .found
                .get(taken)
                .is_some_and(|taken| !is_of_project(taken));
            // Of one name in its files, a client itself takes one alone.
            let loses = match self.fate.get(index) {
                Some(MergeDecision::Same(other)) => self.found.get(*other).is_some_and(|other| {
                    other.server.origin.client == found.server.origin.client
                        && other.written_name == found.written_name
                }),
                _ => false,
            };
            if !(loses || is_of_users && is_of_project(found)) {
                entries.entry(taken).or_default().push(found);
            }
        }
        entries
    }

    /// Returns the server that another one was found to be the same as, in the end.
    pub(super) fn taken_as(&self, index: usize) -> Option<usize> {
        let mut index = index;
        // A chain of sameness is as long as there are steps that make one.
        for _ in 0..4 {
            match self.fate.get(index)? {
                MergeDecision::Open => return Some(index),
                MergeDecision::Same(other) => index = *other,
                MergeDecision::Lost(_) | MergeDecision::Excluded | MergeDecision::Unusable(_) => {
                    return None;
                }
            }
        }
        None
    }
}
