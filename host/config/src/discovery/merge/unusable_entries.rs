//! Entries that cannot be used, among the servers of their clients: nothing comes up in their place.

use std::collections::{BTreeSet, HashMap};

use super::{ChosenServer, MergeDecision, MergedServers, Merging, Overridden, is_of_project};
use crate::discovery::{Discovery, FoundServer, UnusableEntry};
use crate::servers::launch_target::LaunchTarget;
use crate::{Client, ClientRule, ClientRules, Filter, Origin, ServerConfig};

/// A client, and the name that it has for a server.
type ClientServerName<'d> = (Option<Client>, &'d str);

/// The entries that cannot be used, of files that are trusted.
pub(super) struct UnusableEntries<'d> {
    discovery: &'d Discovery,
    entries: Vec<&'d UnusableEntry>,
    /// Places in `entries` of the last of the user's, and of the last of a project's.
    last: HashMap<ClientServerName<'d>, [Option<usize>; 2]>,
    /// Places in `entries` of the user's that are the last of their names in all the user's files
    /// of their client, by what they start or reach.
    by_target: HashMap<LaunchTarget, Vec<usize>>,
    /// The place of each server among all that were found.
    places: Vec<usize>,
}

impl<'d> UnusableEntries<'d> {
    /// Returns the entries that are trusted. `places` are those of the trusted servers.
    pub(super) fn of(
        discovery: &'d Discovery,
        places: &[usize],
        trusted: &dyn Fn(&Origin) -> bool,
    ) -> Self {
        let entries = discovery.unusable.iter();
        let entries: Vec<_> = entries.filter(|entry| trusted(&entry.origin)).collect();
        let mut last: HashMap<_, [Option<usize>; 2]> = HashMap::new();
        // What has no name stands in the place of none.
        let named = entries.iter().enumerate();
        let named = named.filter(|(_, entry)| !entry.written_name.is_empty());
        for (index, entry) in named {
            let [of_user, of_project] = last.entry(entry.key()).or_default();
            match entry.is_of_project() {
                true => *of_project = Some(index),
                false => *of_user = Some(index),
            }
        }
        let users = discovery.found.iter().enumerate();
        let users = users.filter(|(_, found)| !is_of_project(found));
        let users: HashMap<ClientServerName<'_>, usize> =
            users.map(|(place, found)| (key(found), place)).collect();
        let mut by_target: HashMap<_, Vec<usize>> = HashMap::new();
        for (index, entry) in entries.iter().enumerate() {
            let later = users.get(&entry.key());
            let is_last = later.is_none_or(|later| *later < entry.place);
            let launch = entry.launch.as_ref();
            if let Some(launch) = launch.filter(|_| is_last && !entry.is_of_project()) {
                let target = discovery.target_of(launch);
                by_target.entry(target).or_default().push(index);
            }
        }
        Self {
            discovery,
            entries,
            last,
            by_target,
            places: places.to_vec(),
        }
    }

    /// Returns the place in its file of an entry.
    pub(super) fn origin(&self, index: usize) -> Option<&'d Origin> {
        self.entries.get(index).map(|entry| &entry.origin)
    }

    /// Returns the place of the entry that a server's client takes in place of that; of the user's
    /// alone, where only these are asked for.
    fn in_place_of(&self, index: usize, found: &FoundServer, alone: bool) -> Option<usize> {
        let place = self.places.get(index)?;
        let [of_user, of_project] = *self.last.get(&key(found))?;
        // Claude Code starts none of a project's that nobody has approved, and takes the user's then.
        let may_be_unapproved =
            !is_of_project(found) && found.server.origin.client == Some(Client::ClaudeCode);
        let of_project = of_project.filter(|_| !alone && !may_be_unapproved);
        let mut both = [of_project, of_user].into_iter().flatten();
        both.find(|entry| {
            let entry = self.entries.get(*entry);
            entry.is_some_and(|entry| entry.place > *place)
        })
    }

    /// Returns the user's entries that clients take for a name: there is no server behind them.
    fn taken(&self, found: &[&'d FoundServer]) -> impl Iterator<Item = &'d UnusableEntry> {
        let places = self.places.iter().zip(found);
        let last: HashMap<ClientServerName<'_>, usize> =
            places.map(|(place, found)| (key(found), *place)).collect();
        let entries = self.last.values().filter_map(|[of_user, _]| *of_user);
        // In the order of the files.
        let entries: BTreeSet<_> = entries.collect();
        let entries = entries.into_iter();
        let entries = entries.filter_map(|index| self.entries.get(index).copied());
        entries.filter(move |entry| {
            let later = last.get(&entry.key());
            later.is_none_or(|later| *later < entry.place)
        })
    }
}

fn key(found: &FoundServer) -> ClientServerName<'_> {
    (found.server.origin.client, &found.written_name)
}

impl<'d> Merging<'d> {
    /// Takes none of the servers that their clients read before an entry of the same name which
    /// cannot be used.
    pub(super) fn behind_unusable_entries(&mut self, alone: bool) {
        for (index, found) in self.open() {
            if let Some(entry) = self.entries.in_place_of(index, found, alone) {
                self.decide(index, MergeDecision::Unusable(entry));
            }
        }
    }

    /// Keeps a server, which has these entries, from the clients in which the user has only an entry for
    /// it that cannot be used: it may be off there.
    pub(super) fn deny_unusable(&self, of_server: &[&FoundServer], server: &mut ServerConfig) {
        let Some(bridge) = server.bridge_mut() else {
            return;
        };
        let targets = self
            .entries
            .discovery
            .target_of(&bridge.launch)
            .with_anywhere();
        let entries = targets.filter_map(|target| self.entries.by_target.get(&target));
        let entries = entries.flatten();
        let entries = entries.filter_map(|index| self.entries.entries.get(*index));
        for client in entries.filter_map(|entry| entry.origin.client) {
            let mut own = of_server.iter().filter(|entry| !is_of_project(entry));
            if own.any(|entry| entry.server.origin.client == Some(client)) {
                continue;
            }
            let mut rules = ClientRules::default();
            let rule = ClientRule {
                enabled: false,
                filter: Filter::default(),
            };
            rules.restrict(client, rule);
            bridge.rules.restrict_all(&rules);
        }
    }

    /// Returns the names of the servers that are taken, and of those that are the same as these.
    pub(super) fn names_of_taken(&self) -> BTreeSet<&'d str> {
        let all = self.found.iter().enumerate();
        let taken = all.filter(|(index, _)| self.taken_as(*index).is_some());
        taken.map(|(_, found)| &*found.server.name).collect()
    }

    /// Shows the user's entries in which something is wrong, where nothing else of the user's has
    /// their names, as `taken` has those without the project. A project's server has such a name only
    /// in the place of the entry, in the same client.
    pub(super) fn add_refused(&self, merged: &mut MergedServers, taken: &BTreeSet<&str>) {
        for entry in self.entries.taken(&self.found) {
            let server = entry.refused();
            let Some(server) = server.filter(|server| !taken.contains(&*server.name)) else {
                continue;
            };
            let other = merged.servers.get(&server.name).map(|other| &other.server);
            let origin = &entry.origin;
            match other {
                None => {}
                Some(other) if other.is_of_project() && other.origin.client != origin.client => {
                    merged.overridden.push(Overridden {
                        name: other.name.clone(),
                        origin: other.origin.clone(),
                        by: origin.clone(),
                    });
                }
                Some(_) => continue,
            }
            let choice = ChosenServer {
                server,
                notes: Vec::new(),
                also: Vec::new(),
                other_names: Vec::new(),
            };
            merged.servers.insert(choice.server.name.clone(), choice);
        }
    }
}
