//! Launches of servers: one that is reached in the same way as another is shown once.

use std::collections::BTreeMap;
use std::path::Path;

use super::Configured;
use super::denied_targets::DeniedTargets;
use crate::discovery::{Overridden, merge};
use crate::project::review::NameOfUsers;
use crate::servers::launch_folder::without_folder;
use crate::{ClientRules, Filter, Fingerprint, Origin, Scope, ServerConfig};

/// Returns the fingerprints of the launch of a server's upstream; none where it has none. A program
/// that is started in the folder of the project has that of one that is started wherever the host is,
/// too, also where the project's file names that folder: a project's file does not bring back under
/// another name what its user has restricted.
pub(super) fn launches(server: &ServerConfig, project: Option<&Path>) -> Vec<Fingerprint> {
    let bridge = server.bridge();
    let launch = match server.refused() {
        // So that it does not come back from another file.
        Some(refused) => refused.launch.as_ref(),
        None => bridge.map(|bridge| &bridge.launch),
    };
    let Some(launch) = launch else {
        return Vec::new();
    };
    let mut all = vec![Fingerprint::of(launch)];
    let elsewhere = without_folder(launch, &[server.project(), project]);
    all.extend(elsewhere.map(|launch| Fingerprint::of(&launch)));
    all
}

/// Keeps what other clients of the user's than those of a server forbid themselves of another entry
/// for it: which of several entries of one client they are the same as is decided by their order.
fn keep_rules_of_others(server: &mut ServerConfig, other: &ServerConfig) {
    let is_of_client = !server.is_of_project() && server.origin.client.is_some();
    let Some(rules) = other
        .bridge()
        .map(|bridge| &bridge.rules)
        .filter(|_| is_of_client)
    else {
        return;
    };
    let mut of_others = ClientRules::default();
    for (client, rule) in rules.iter() {
        if !server.from.contains(&client) {
            of_others.restrict(client, rule.clone());
        }
    }
    if let Some(bridge) = server.bridge_mut() {
        bridge.rules.restrict_all(&of_others);
    }
}

/// Restricts a server of the user's to what it is where there is no project, as another one of theirs
/// for the same launch may be: a project that takes the name of an entry takes nothing of what the
/// entry denies.
fn keep_restrictions(server: &mut ServerConfig, alone: &ServerConfig) {
    server.enabled &= alone.enabled;
    if let (Some(bridge), Some(alone)) = (server.bridge_mut(), alone.bridge()) {
        bridge.filter.restrict(&alone.filter);
        bridge.rules.restrict_all(&alone.rules);
    }
}

/// Launches of the user's servers, with these as they are where there is no project: what the user
/// says of a server counts by its name, and no project gives the server another one, on which
/// nothing is said.
#[derive(Default)]
pub(super) struct UsersLaunches {
    servers: Vec<UsersLaunch>,
    /// Places in `servers` of the first of each launch.
    by_launch: BTreeMap<Fingerprint, usize>,
    /// Targets of no project's server.
    denied: DeniedTargets,
}

/// A server of the user's, by its launch.
struct UsersLaunch {
    server: ServerConfig,
    /// Whether it is shown under its name; not where others have taken that.
    is_shown: bool,
}

impl UsersLaunches {
    fn add(&mut self, launches: Vec<Fingerprint>, server: ServerConfig, is_shown: bool) {
        for launch in launches {
            self.by_launch.entry(launch).or_insert(self.servers.len());
        }
        self.servers.push(UsersLaunch { server, is_shown });
    }

    /// Returns the servers with any of these launches.
    fn of<'u>(&'u self, launches: &[Fingerprint]) -> impl Iterator<Item = &'u UsersLaunch> {
        let known = launches
            .iter()
            .filter_map(|launch| self.by_launch.get(launch));
        known.filter_map(|index| self.servers.get(*index))
    }

    /// Returns the server that is shown for any of these launches.
    fn shown_mut(&mut self, launches: &[Fingerprint]) -> Option<&mut ServerConfig> {
        let mut known = launches
            .iter()
            .filter_map(|launch| self.by_launch.get(launch));
        let known = self.servers.get_mut(*known.next()?)?;
        known.is_shown.then_some(&mut known.server)
    }

    /// Returns the place of the user's server that another one, with this name and these launches,
    /// would give another name.
    fn renamed(&self, name: &str, launches: &[Fingerprint]) -> Option<&Origin> {
        let mut known = self.of(launches);
        let other = known.find(|users| !users.is_shown || users.server.name != name);
        other.map(|users| &users.server.origin)
    }
}

impl Configured {
    /// Returns the names of the other servers that are switched on and reached in the same way as
    /// one.
    pub fn reached_in_the_same_way(&self, name: &str) -> impl Iterator<Item = &str> {
        let launches = |server| launches(server, self.project_folder());
        let of_it = self.servers.get(name).map(launches).unwrap_or_default();
        let others = self.servers.values();
        others
            .filter(move |other| {
                let mut its = launches(other).into_iter();
                other.name != name && other.enabled && its.any(|launch| of_it.contains(&launch))
            })
            .map(|other| other.name.as_str())
    }

    /// Returns the launches of the user's servers in the files of clients. `taken` has the names of
    /// the servers in the user's own file, by the fingerprints of their launches.
    pub(super) fn users_launches(&self, taken: &BTreeMap<Fingerprint, String>) -> UsersLaunches {
        let mut users = UsersLaunches::default();
        let is_users = |origin: &Origin| !matches!(origin.scope, Scope::Project(_));
        let merged = merge(&self.found, &is_users);
        for choice in merged.servers.into_values() {
            let mut server = choice.server;
            // It stands in the place of no other launch.
            if server.refused().is_some() {
                continue;
            }
            let origins = std::iter::once(&server.origin).chain(&choice.also);
            server.from = origins.filter_map(|origin| origin.client).collect();
            let launches = launches(&server, self.project_folder());
            let is_taken = |launch| taken.contains_key(launch);
            if self.servers.contains_key(&server.name) || launches.iter().any(is_taken) {
                continue;
            }
            if let Some(twin) = users.shown_mut(&launches) {
                keep_rules_of_others(twin, &server);
                twin.from.extend(server.from);
            } else {
                users.add(launches, server, true);
            }
        }
        let shown = users.servers.iter().map(|users| &users.server);
        users.denied = self.denied_targets(shown);
        let found = self.found.found.iter().map(|found| &found.server);
        for server in found.filter(|server| !server.is_of_project()) {
            let launches = launches(server, self.project_folder());
            users.add(launches, server.clone(), false);
        }
        users
    }

    /// Takes a server, unless its name stands for another already.
    ///
    /// A server that is reached in the same way as another is not shown a second time under its own
    /// name. That is so for an adapted component, too: whoever puts one in front of an upstream
    /// wants its tools in place of the upstream's, and not beside them. It is so whether the other
    /// is on or off: a server that its user has switched off does not come back under another name.
    ///
    /// `launches` has the names of the servers with upstreams, by the fingerprints of their
    /// launches; `users` the launches of the user's servers where there is no project.
    pub(super) fn take(
        &mut self,
        mut server: ServerConfig,
        launches: &mut BTreeMap<Fingerprint, String>,
        users: &UsersLaunches,
    ) {
        // What cannot be used stands under its own name, and in the way of no other of the user's.
        let own = match server.refused() {
            Some(_) => Vec::new(),
            None => self::launches(&server, self.project_folder()),
        };
        let twin = own.iter().find_map(|launch| launches.get(launch));
        if let Some(twin) = twin.and_then(|twin| self.servers.get_mut(twin)) {
            if twin.name != server.name {
                let note = format!(
                    "it is the same as `{}` of {}, which is not shown a second time",
                    server.name, server.origin
                );
                self.notes.push((twin.name.clone(), note));
                for other in self.same_as.values_mut() {
                    if *other == server.name {
                        other.clone_from(&twin.name);
                    }
                }
                self.same_as.insert(server.name.clone(), twin.name.clone());
            }
            if !server.is_of_project() {
                keep_rules_of_others(twin, &server);
            }
            // A client that has a part of it from a project is shown it still.
            if !server.is_of_project() || twin.is_of_project() || server.shows_all() {
                twin.from.extend(server.from);
            }
            return;
        }
        let renamed = users.renamed(&server.name, &own);
        let by = match self.name_of_users(&server) {
            Some(NameOfUsers::Kept { origin, .. }) => Some(origin),
            of_users => {
                let same_name = self.servers.get(&server.name);
                let by = same_name.map(|other| &other.origin);
                let in_place_of = match &of_users {
                    Some(NameOfUsers::Overridden { origin }) => Some(origin),
                    _ => None,
                };
                let denied = self.denies(&users.denied, &server, in_place_of);
                by.or(renamed).or(denied).cloned()
            }
        };
        if let Some(by) = by {
            self.overridden.push(Overridden {
                name: server.name,
                origin: server.origin,
                by,
            });
            return;
        }
        if !server.is_of_project() {
            for alone in users.of(&own) {
                keep_restrictions(&mut server, &alone.server);
            }
        }
        for launch in own {
            launches.insert(launch, server.name.clone());
        }
        let filter = server.bridge().map(|bridge| &bridge.filter);
        if server.origin.client.is_some() && filter.is_some_and(Filter::shows_none) {
            self.wholly_denied.insert(server.name.clone());
        }
        self.servers.insert(server.name.clone(), server);
    }
}
