//! Launches of servers: one that is reached in the same way as another is shown once.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use super::Configured;
use crate::discovery::{Overridden, merge};
use crate::project::review::NameOfUsers;
use crate::servers::launch_folder::without_folder;
use crate::servers::launch_target::LaunchTarget;
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
    let folder = match &server.origin.scope {
        Scope::Project(folder) => Some(folder.as_path()),
        Scope::Managed | Scope::User | Scope::Local(_) => None,
    };
    let elsewhere = without_folder(launch, &[folder, project]);
    all.extend(elsewhere.map(|launch| Fingerprint::of(&launch)));
    all
}

/// Returns what a server's upstream is; none where it has none.
fn target_of(server: &ServerConfig) -> Option<LaunchTarget> {
    let bridge = server.bridge()?;
    Some(LaunchTarget::of(&bridge.launch))
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
    /// What is on.
    on: HashSet<LaunchTarget>,
    /// What is on nowhere or may be denied, however a project's file starts or reaches it, and the
    /// entries that say so.
    denied: HashMap<LaunchTarget, Vec<Denial>>,
}

/// An entry of the user's because of which no project's server starts or reaches the same.
struct Denial {
    name: String,
    origin: Origin,
    /// Whether the entry itself, or the user's own table for its name, says that it is off, and nothing
    /// else is the reason.
    is_off: bool,
}

impl Denial {
    /// Whether a project's server stands in the place of the entry, and so decides whether that is on.
    fn is_overridden_by(&self, server: &ServerConfig) -> bool {
        self.is_off
            && self.name == server.name
            && self.origin.client.is_some()
            && self.origin.client == server.origin.client
    }
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

    /// Returns the place of the user's entry that denies what a project's server starts or reaches,
    /// where that is on. `is_override` where the server stands in the place of an entry of the user's.
    fn denies(&self, server: &ServerConfig, is_override: bool) -> Option<&Origin> {
        let is_on = server.is_of_project() && server.enabled;
        let bridge = server.bridge().filter(|_| is_on)?;
        let targets = LaunchTarget::of(&bridge.launch).with_anywhere();
        let denials = targets.filter_map(|target| self.denied.get(&target));
        let mut denials = denials.flatten();
        let denial = denials.find(|denial| !(is_override && denial.is_overridden_by(server)))?;
        Some(&denial.origin)
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
        self.add_denied(&mut users);
        let found = self.found.found.iter().map(|found| &found.server);
        for server in found.filter(|server| !server.is_of_project()) {
            let launches = launches(server, self.project_folder());
            users.add(launches, server.clone(), false);
        }
        users
    }

    /// Whether a project's server that stands in the place of the user's entry, at `users`, starts or
    /// reaches what that does where it is on: then it is the entry which decides.
    fn is_of_entry_that_is_on(
        &self,
        users: &Origin,
        server: &ServerConfig,
        launches: &UsersLaunches,
    ) -> bool {
        let target = target_of(server).filter(|target| launches.on.contains(target));
        let found = self.found.found.iter().map(|found| &found.server);
        // A file may have several on one line.
        let mut own =
            found.filter(|own| own.enabled && own.origin == *users && own.name == server.name);
        target.is_some() && own.any(|own| target_of(own) == target)
    }

    /// Adds what the user has on, and what their own entries deny, whichever variables or headers
    /// somebody starts or reaches it with: what no server is that is shown to the user and on, where
    /// there is no project, and what an entry starts or reaches that cannot be used as it is. `users`
    /// has the servers of clients' files that are shown then.
    fn add_denied(&self, users: &mut UsersLaunches) {
        let unusable = self.found.unusable.iter();
        let unusable = unusable.filter(|entry| !entry.is_of_project());
        let unusable = unusable.map(|entry| (entry.launch.as_ref(), &entry.name, &entry.origin));
        let own = self.servers.values();
        let own = own.filter_map(ServerConfig::refused);
        let own = own.chain(&self.refused_without_names);
        let own = own.map(|refused| {
            (
                refused.launch.as_ref(),
                &refused.written_name,
                &refused.origin,
            )
        });
        let mut denied: HashMap<_, Vec<_>> = HashMap::new();
        for (launch, name, origin) in own.chain(unusable) {
            if let Some(launch) = launch {
                let target = LaunchTarget::of(launch);
                let (name, origin) = (name.clone(), origin.clone());
                denied.entry(target).or_default().push(Denial {
                    name,
                    origin,
                    is_off: false,
                });
            }
        }
        // What is changed by a table of the user's is theirs in both ways.
        let mut changed = Vec::new();
        let shown = users.servers.iter().map(|users| &users.server);
        for server in self.servers.values().chain(shown) {
            let mut after = server.clone();
            let overlay = self.overlays.get(&server.name);
            let applied = overlay.map(|overlay| overlay.for_server(server).apply(&mut after));
            if after.enabled && applied.is_none_or(|applied| applied.is_ok()) {
                users.on.extend(target_of(server));
                users.on.extend(target_of(&after));
            } else {
                changed.push(after);
            }
        }
        let found = self.found.found.iter().map(|found| &found.server);
        let found = found.filter(|server| !server.is_of_project());
        for server in self.servers.values().chain(found).chain(&changed) {
            let target = target_of(server);
            let overlay = self.overlays.get(&server.name);
            // What is said of a name holds for a project's server that has it, too.
            let is_switched_off = overlay.is_some_and(|overlay| overlay.enabled == Some(false));
            if let Some(target) = target.filter(|target| !users.on.contains(target)) {
                denied.entry(target).or_default().push(Denial {
                    name: server.name.clone(),
                    origin: server.origin.clone(),
                    is_off: !server.enabled || is_switched_off,
                });
            }
        }
        users.denied = denied;
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
                let denied = match &of_users {
                    Some(NameOfUsers::Overridden { origin }) => users
                        .denies(&server, true)
                        .filter(|_| !self.is_of_entry_that_is_on(origin, &server, users)),
                    _ => users.denies(&server, false),
                };
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
