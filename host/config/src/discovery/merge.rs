//! Merging all that was found into one server for each name.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use dormouse_launch::Launch;

use super::search::project_of;
use super::settle::OFF;
use super::{Discovery, Found};
use crate::launch_folder::without_folder;
use crate::name::likeness;
use crate::{
    Client, ClientConsensus, ClientRule, ClientRules, Fingerprint, Origin, Scope, ServerConfig,
};

/// Servers that were found, one for each name.
#[derive(Debug, Clone, Default)]
pub struct Merged {
    /// The servers, by name.
    pub servers: BTreeMap<String, Choice>,
    /// Servers that are not shown because of others, in the order in which they were found.
    pub overridden: Vec<Overridden>,
    /// The user's own servers as they are where there is no project: the place of each name.
    pub of_users: BTreeMap<String, Origin>,
}

/// The server that a name stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The server.
    pub server: ServerConfig,
    /// Notes on the server, as sentences.
    pub notes: Vec<String>,
    /// Other places where the same server is written, under whatever name.
    pub also: Vec<Origin>,
    /// Other names that the server has there.
    pub other_names: Vec<String>,
}

/// A server that is not shown because of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overridden {
    /// Name of the server.
    pub name: String,
    /// Place where the server is written.
    pub origin: Origin,
    /// Place of the server that is taken instead.
    pub by: Origin,
}

/// Place of a server among others of its name: the first in this order is taken. The user's own
/// come before a project's. Those that are on come before those that are off, for a server is turned
/// off in one client because it is wanted in another; then the clients in the order of
/// [`Client::all`].
type Rank = (bool, bool, usize);

/// Chooses one server for each name. `trusted` tells whether a user trusts what is written at an
/// origin: nothing else takes part, so that a stranger's server neither stands for a user's own nor
/// counts as the same one.
///
/// Within a client, its own precedence holds.
/// One entry that several clients read is one server. So are servers of several
/// clients that are reached in the same way, whatever each client calls them: they
/// have the first one's name.
#[must_use]
pub fn merge(discovery: &Discovery, trusted: &dyn Fn(&Origin) -> bool) -> Merged {
    let found = discovery.found.iter();
    let found: Vec<_> = found
        .filter(|found| trusted(&found.server.origin))
        .collect();
    // What the user's own come to stays as it is, whatever a project's files say.
    let alone = found.iter().map(|found| match is_of_project(found) {
        true => MergeDecision::Excluded,
        false => MergeDecision::Open,
    });
    let alone = Merging {
        fate: alone.collect(),
        found: found.clone(),
        unusable: unusable(discovery),
    };
    let mut merging = alone.decided();
    let of_users = merging.users();
    for (fate, found) in merging.fate.iter_mut().zip(&found) {
        if is_of_project(found) {
            *fate = MergeDecision::Open;
        }
    }
    let merging = merging.decided();
    Merged {
        of_users,
        ..merging.result()
    }
}

/// Decision on a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MergeDecision {
    /// The server is still in question, and in the end: taken.
    Open,
    /// The server is the same as another.
    Same(usize),
    /// Another server is taken instead.
    Lost(usize),
    /// The server's client takes none but those that administrators have written.
    Excluded,
}

fn is_of_project(found: &Found) -> bool {
    matches!(found.server.origin.scope, Scope::Project(_))
}

/// Returns the fingerprint of a server's launch, with all filled in; none where a value is missing:
/// two missing values are not the same one.
fn filled_launch(found: &Found) -> Option<Fingerprint> {
    found
        .server
        .bridge()
        .filter(|bridge| bridge.needs.is_empty())?;
    launch_anywhere(found).map(|launch| Fingerprint::of(&launch))
}

/// Returns the launch of a server, where that of a project's is started in no folder of its own: in
/// the project's folder it is the same program as elsewhere.
fn launch_anywhere(found: &Found) -> Option<Cow<'_, Launch>> {
    let launch = &found.server.bridge()?.launch;
    let elsewhere = without_folder(launch, &[project_of(&found.server.origin.scope)]);
    Some(elsewhere.map_or(Cow::Borrowed(launch), Cow::Owned))
}

/// Restricts a server of a project's, which has these entries, to what the user's own for the same
/// server allow: the project's stands in their place for the clients alone that have both.
fn keep_users_rules(of_user: &[&Found], entries: &[&Found], server: &mut ServerConfig) {
    let users = ClientConsensus::of(of_user.iter().filter_map(|found| found.rule()));
    let (Some(users), Some(bridge)) = (users, server.bridge_mut()) else {
        return;
    };
    let stands_in_place = |entry: &&&Found| {
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
    of_user: &Found,
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

/// Returns the user's entries that cannot be used as they are, by their clients and the names that
/// these have for them: what they deny, nobody finds out.
fn unusable(discovery: &Discovery) -> HashMap<(Option<Client>, &str), &Origin> {
    let refused = discovery.refused.iter();
    let refused = refused.map(|refused| (&refused.origin, &refused.written_name));
    let skipped = discovery.skipped.iter();
    let skipped = skipped.map(|skipped| (&skipped.origin, &skipped.written_name));
    let all = refused.chain(skipped);
    let of_users = all.filter(|(origin, _)| project_of(&origin.scope).is_none());
    of_users
        .map(|(origin, name)| ((origin.client, name.as_str()), origin))
        .collect()
}

struct Merging<'d> {
    found: Vec<&'d Found>,
    fate: Vec<MergeDecision>,
    unusable: HashMap<(Option<Client>, &'d str), &'d Origin>,
}

impl<'d> Merging<'d> {
    fn decided(mut self) -> Self {
        self.entries_read_twice();
        self.of_users_and_projects();
        self.within_clients();
        self.across_clients();
        self
    }

    /// Returns the names of all the user's own servers, and the places of these: of several of one
    /// name, of the one that is taken.
    fn users(&self) -> BTreeMap<String, Origin> {
        let mut users = BTreeMap::new();
        for (_, found) in self.of_users() {
            let server = &found.server;
            users
                .entry(server.name.clone())
                .or_insert_with(|| server.origin.clone());
        }
        users
    }

    /// Returns the user's own servers, in whatever place they are shown: those that are taken are
    /// the first.
    fn of_users(&self) -> Vec<(usize, &'d Found)> {
        let all = self.found.iter().copied().enumerate();
        let all = all.filter(|(_, found)| !is_of_project(found));
        let (mut taken, others): (Vec<_>, Vec<_>) =
            all.partition(|(index, _)| self.fate.get(*index) == Some(&MergeDecision::Open));
        taken.extend(others);
        taken
    }

    /// Returns the servers that are still in question.
    fn open(&self) -> Vec<(usize, &'d Found)> {
        let all = self.found.iter().copied().enumerate();
        all.filter(|(index, _)| self.fate.get(*index) == Some(&MergeDecision::Open))
            .collect()
    }

    fn decide(&mut self, index: usize, fate: MergeDecision) {
        if let Some(entry) = self.fate.get_mut(index) {
            *entry = fate;
        }
    }

    /// Merges entries that several clients read in one place into that of the first of them.
    fn entries_read_twice(&mut self) {
        let mut seen: BTreeMap<_, usize> = BTreeMap::new();
        for (index, found) in self.open() {
            let origin = &found.server.origin;
            let entry = (&origin.file, origin.line, &found.written_name);
            match seen.get(&entry) {
                Some(first) if self.client(*first) != origin.client => {
                    self.decide(index, MergeDecision::Same(*first));
                }
                Some(_) => {}
                None => {
                    seen.insert(entry, index);
                }
            }
        }
    }

    /// Gives the user the servers of a project that its user has elsewhere, by launch and by name:
    /// a project neither renames one nor filters it nor switches it off. Of one name in the files
    /// of one client, that client's own precedence holds.
    fn of_users_and_projects(&mut self) {
        let mut of_users: BTreeMap<Fingerprint, Vec<usize>> = BTreeMap::new();
        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        for (index, found) in self.of_users() {
            let is_taken = self.fate.get(index) == Some(&MergeDecision::Open);
            if let Some(launch) = filled_launch(found).filter(|_| is_taken) {
                of_users.entry(launch).or_default().push(index);
            }
            names.entry(likeness(&found.server.name)).or_insert(index);
        }
        for (index, found) in self.open() {
            if !is_of_project(found) {
                continue;
            }
            let is_override = |user: usize| {
                self.found.get(user).is_some_and(|user| {
                    user.server.origin.client == found.server.origin.client
                        && user.written_name == found.written_name
                })
            };
            let users = filled_launch(found).and_then(|launch| of_users.get(&launch));
            let first = users.filter(|users| !users.iter().any(|user| is_override(*user)));
            let user = names.get(&likeness(&found.server.name)).copied();
            if let Some(first) = first.and_then(|users| users.first()) {
                self.decide(index, MergeDecision::Same(*first));
            } else if let Some(user) = user.filter(|user| !is_override(*user)) {
                self.decide(index, MergeDecision::Lost(user));
            }
        }
    }

    fn client(&self, index: usize) -> Option<Client> {
        self.found
            .get(index)
            .and_then(|found| found.server.origin.client)
    }

    /// Takes for each client the last of its own servers of a name. Where administrators have
    /// decided, nothing else of that client's is taken at all.
    fn within_clients(&mut self) {
        for (index, found) in self.open() {
            let managed = found.shadowed_by.as_ref();
            if managed.is_some_and(|by| by.scope == Scope::Managed)
                && found.server.origin.client == Some(Client::ClaudeCode)
                && found.server.origin.scope != Scope::Managed
            {
                self.decide(index, MergeDecision::Excluded);
            }
        }
        let mut winners: BTreeMap<_, usize> = BTreeMap::new();
        for (index, found) in self.open() {
            let key = (found.server.origin.client, &found.written_name);
            // A project's that Claude Code does not start, because nobody has approved it, is in
            // place of none that its user has. Other clients switch one off by such an entry.
            let is_unapproved = is_of_project(found)
                && !found.server.enabled
                && found.server.origin.client == Some(Client::ClaudeCode);
            if !(is_unapproved && winners.contains_key(&key)) {
                winners.insert(key, index);
            }
        }
        for (index, found) in self.open() {
            let key = (found.server.origin.client, &found.written_name);
            if let Some(winner) = winners.get(&key)
                && *winner != index
            {
                let winner = *winner;
                let same = self.same(winner, index);
                self.decide(
                    index,
                    if same {
                        MergeDecision::Same(winner)
                    } else {
                        MergeDecision::Lost(winner)
                    },
                );
            }
        }
    }

    fn across_clients(&mut self) {
        let mut order = self.open();
        order.sort_by_key(|(index, found)| -> Rank {
            (is_of_project(found), !found.server.enabled, *index)
        });
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        let mut launches: BTreeMap<Fingerprint, usize> = BTreeMap::new();
        for (index, found) in order {
            let launch = filled_launch(found);
            // What is written in the same way is the same, also while a variable has no value: each
            // client has its own place for one, and what one forbids would not hold for the other.
            let written = (!is_of_project(found)).then(|| Fingerprint::of(&found.own.launch));
            let first_of = |launch: &Option<Fingerprint>| launches.get(launch.as_ref()?).copied();
            let by_words = first_of(&written).filter(|first| {
                // Secrets that are in their clients' files are written as one question.
                let first = self.found.get(*first);
                first.is_some_and(|first| first.own.asked == found.own.asked)
            });
            let twin = first_of(&launch).or(by_words);
            let twin = twin.filter(|first| self.client(*first) != found.server.origin.client);
            if let Some(first) = twin {
                self.decide(index, MergeDecision::Same(first));
            } else if let Some(first) = names.get(found.server.name.as_str()) {
                let first = *first;
                self.decide(index, MergeDecision::Lost(first));
            } else {
                names.insert(&found.server.name, index);
                for launch in launch.into_iter().chain(written) {
                    launches.entry(launch).or_insert(index);
                }
            }
        }
    }

    /// Whether two servers are reached in the same way.
    fn same(&self, one: usize, other: usize) -> bool {
        let launch = |index: usize| {
            self.found
                .get(index)
                .and_then(|found| launch_anywhere(found))
        };
        launch(one) == launch(other)
    }

    fn result(self) -> Merged {
        let mut merged = Merged::default();
        let origin = |index: usize| self.found.get(index).map(|found| &found.server.origin);
        let mut also: BTreeMap<usize, Vec<Origin>> = BTreeMap::new();
        for (index, found) in self.found.iter().enumerate() {
            let by = match self.fate.get(index) {
                Some(MergeDecision::Lost(by)) => origin(*by),
                Some(MergeDecision::Excluded) => found.shadowed_by.as_ref(),
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
            let choice = Choice {
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
    fn by_client_and_name(&self) -> HashMap<(Option<Client>, &'d str), Vec<&'d Found>> {
        let mut users: HashMap<_, Vec<_>> = HashMap::new();
        for found in self.found.iter().filter(|found| !is_of_project(found)) {
            let name = (found.server.origin.client, found.written_name.as_str());
            users.entry(name).or_default().push(*found);
        }
        users
    }

    /// Whether an entry of a project's is a part of what its user has elsewhere, or switched off: the
    /// client that reads it is shown the user's still.
    fn is_part_of_users(&self, taken: usize, found: &Found) -> bool {
        let taken = self.found.get(taken);
        is_of_project(found)
            && !found.server.shows_all()
            && taken.is_some_and(|taken| !is_of_project(taken))
    }

    /// Returns the user's entries for the servers that are taken, by these.
    fn users_of_taken(&self) -> BTreeMap<usize, Vec<&'d Found>> {
        let mut of_users: BTreeMap<usize, Vec<&'d Found>> = BTreeMap::new();
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
        of_users: &BTreeMap<usize, Vec<&'d Found>>,
    ) -> BTreeMap<Fingerprint, Vec<&'d Found>> {
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
    fn name_of(&self, taken: &Found, entries: &[&Found]) -> String {
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
    fn entries_of_taken(&self) -> BTreeMap<usize, Vec<&'d Found>> {
        let mut entries: BTreeMap<usize, Vec<&'d Found>> = BTreeMap::new();
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
    fn taken_as(&self, index: usize) -> Option<usize> {
        let mut index = index;
        // A chain of sameness is as long as there are steps that make one.
        for _ in 0..4 {
            match self.fate.get(index)? {
                MergeDecision::Open => return Some(index),
                MergeDecision::Same(other) => index = *other,
                MergeDecision::Lost(_) | MergeDecision::Excluded => return None,
            }
        }
        None
    }
}
