//! Merging all that was found into one server for each name.

mod merged_server;
mod unusable_entries;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use dormouse_launch::Launch;

use self::unusable_entries::UnusableEntries;
use super::search::project_of;
use super::{Discovery, FoundServer};
use crate::naming::name::likeness;
use crate::servers::launch_folder::without_folder;
use crate::{Client, Fingerprint, Origin, Scope, ServerConfig};

/// Servers that were found, one for each name.
#[derive(Debug, Clone, Default)]
pub struct MergedServers {
    /// The servers, by name.
    pub servers: BTreeMap<String, ChosenServer>,
    /// Servers that are not shown because of others, in the order in which they were found.
    pub overridden: Vec<Overridden>,
    /// The user's own servers as they are where there is no project: the place of each name.
    pub of_users: BTreeMap<String, Origin>,
}

/// The server that a name stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct ChosenServer {
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
pub fn merge(discovery: &Discovery, trusted: &dyn Fn(&Origin) -> bool) -> MergedServers {
    let all = discovery.found.iter().enumerate();
    let (places, found): (Vec<_>, Vec<_>) = all
        .filter(|(_, found)| trusted(&found.server.origin))
        .unzip();
    // What the user's own come to stays as it is, whatever a project's files say.
    let alone = found
        .iter()
        .map(|found: &&FoundServer| match is_of_project(found) {
            true => MergeDecision::Excluded,
            false => MergeDecision::Open,
        });
    let alone = Merging {
        fate: alone.collect(),
        entries: UnusableEntries::of(discovery, &places, trusted),
        found: found.clone(),
        unusable: unusable(discovery),
    };
    let mut merging = alone.decided(true);
    let of_users = merging.users();
    let taken = merging.names_of_taken();
    for (fate, found) in merging.fate.iter_mut().zip(&found) {
        if is_of_project(found) {
            *fate = MergeDecision::Open;
        }
    }
    let merging = merging.decided(false);
    let mut merged = merging.result();
    merging.add_refused(&mut merged, &taken);
    MergedServers { of_users, ..merged }
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
    /// The server's client takes an entry instead that cannot be used: that of this place.
    Unusable(usize),
}

fn is_of_project(found: &FoundServer) -> bool {
    matches!(found.server.origin.scope, Scope::Project(_))
}

/// Returns the fingerprint of a server's launch, with all filled in; none where a value is missing:
/// two missing values are not the same one.
fn filled_launch(found: &FoundServer) -> Option<Fingerprint> {
    found
        .server
        .bridge()
        .filter(|bridge| bridge.needs.is_empty())?;
    launch_anywhere(found).map(|launch| Fingerprint::of(&launch))
}

/// Returns the launch of a server, where that of a project's is started in no folder of its own: in
/// the project's folder it is the same program as elsewhere.
fn launch_anywhere(found: &FoundServer) -> Option<Cow<'_, Launch>> {
    let launch = &found.server.bridge()?.launch;
    let elsewhere = without_folder(launch, &[project_of(&found.server.origin.scope)]);
    Some(elsewhere.map_or(Cow::Borrowed(launch), Cow::Owned))
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
    found: Vec<&'d FoundServer>,
    fate: Vec<MergeDecision>,
    unusable: HashMap<(Option<Client>, &'d str), &'d Origin>,
    entries: UnusableEntries<'d>,
}

impl<'d> Merging<'d> {
    /// Decides on all servers that are in question; `alone` where those of projects are not.
    fn decided(mut self, alone: bool) -> Self {
        self.behind_unusable_entries(alone);
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
    fn of_users(&self) -> Vec<(usize, &'d FoundServer)> {
        let all = self.found.iter().copied().enumerate();
        let all = all.filter(|(_, found)| !is_of_project(found));
        let (mut taken, others): (Vec<_>, Vec<_>) =
            all.partition(|(index, _)| self.fate.get(*index) == Some(&MergeDecision::Open));
        taken.extend(others);
        taken
    }

    /// Returns the servers that are still in question.
    fn open(&self) -> Vec<(usize, &'d FoundServer)> {
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
}
