//! The servers that a user already has, found in the files of their clients.
//!
//! The search starts and reaches no server, and changes no file. A file that cannot be read, or an
//! entry that is wrong, never stops the others, unless it may deny them: problems are reported with
//! their places. Values of headers and of environment variables are in no message.

mod content;
pub(super) mod document;
mod entries;
mod files;
mod filling;
mod formats;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
pub mod itself;
mod library;
mod merge;
mod named_values;
mod own;
pub mod places;
pub(crate) mod planned;
mod profiles;
mod project_folder;
mod rules;
mod search;
mod settle;
mod surroundings;
mod unusable_entry;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use dormouse_launch::Launch;

pub use content::{ContentHash, ProjectContent};
pub use entries::timeouts::call_timeout_entry;
pub(crate) use filling::expansion::is_name as is_variable_name;
pub use filling::fill_policy::FillPolicy;
pub(super) use filling::filler::NOT_TRUSTED;
pub use merge::{MergedServers, Overridden, merge};
pub use own::Own;
pub(crate) use rules::allowed::name as allowed_name;
pub(super) use rules::rule_files::rule_files;
pub use surroundings::{Surroundings, project_of};
pub use unusable_entry::UnusableEntry;

use self::library::Library;
use self::places::ClientPlace;
use self::project_folder::ProjectFolder;
use self::search::{ClientSearch, DiscoverySetting};
use super::{
    Client, ClientRule, ConfigProblem, FilledIn, NamedFiles, Origin, RefusedServer, Scope,
    ServerConfig,
};
use crate::discovery::filling::fill_policy::EnteredProject;
pub(crate) use crate::discovery::rules::unread::UnreadRules;
use crate::project::project_path::leads_out;
use crate::servers::launch_target::LaunchTarget;

/// Result of the search of the clients' files.
#[derive(Debug, Clone, Default)]
pub struct Discovery {
    /// Files that were looked for: by client, in the order in which each client reads them.
    pub sources: Vec<DiscoverySource>,
    /// Servers, in the same order; those that lose against others, too.
    pub found: Vec<FoundServer>,
    /// Entries among the servers that are none which could be bridged.
    pub skipped: Vec<Skipped>,
    /// The servers of projects that nothing may be filled into: they are counted, and
    /// nothing else is known of them.
    pub counted: Vec<CountedServer>,
    /// The servers in whose entries something is wrong.
    pub refused: Vec<RefusedServer>,
    /// The entries that cannot be used, in the order of the servers.
    pub unusable: Vec<UnusableEntry>,
    /// Files of projects that are there and left out, and the clients that they are read by.
    pub left_out: Vec<(Client, PathBuf)>,
    contents: BTreeMap<PathBuf, ProjectContent>,
    /// Names of servers as files have them, by those that are fit for servers.
    written_names: BTreeMap<String, String>,
    /// Files that may have rules for their clients' servers, and that cannot be read.
    pub(super) unread: Vec<UnreadRules>,
    /// Hashes of the files that are no project's; none where there is no such file.
    pub(super) hashes: BTreeMap<PathBuf, Option<blake3::Hash>>,
    /// Files that the user's entries take values from, whatever becomes of the entries, also those of
    /// clients that are not searched.
    pub(super) named_files: NamedFiles,
    /// Files of clients that are not searched, which are read for the files that they name alone.
    pub(super) unsearched: Vec<PathBuf>,
    /// Folder that is worked in, without links, where no link in it may be followed.
    pub(super) unfollowed: Option<PathBuf>,
}

/// A file that was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoverySource {
    /// Client whose file it is.
    pub client: Client,
    /// Scope of the file.
    pub scope: Scope,
    /// The profile of the client that the file is for, where it is for one alone.
    pub profile: Option<String>,
    /// The file.
    pub file: PathBuf,
    /// Outcome of reading the file.
    pub state: SourceState,
}

/// Outcome of reading a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceState {
    /// There is no such file.
    Missing,
    /// The file is there.
    Read {
        /// Number of servers in it that can be used.
        servers: usize,
        /// Problems of the file, in its order.
        problems: Vec<ConfigProblem>,
    },
}

/// A server in a client's file.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundServer {
    /// The server, under a name that is fit for one.
    pub server: ServerConfig,
    /// Name of the server in the file.
    pub written_name: String,
    /// Notes on the server, as sentences.
    pub notes: Vec<String>,
    /// The same server in the words of `dormouse.toml`.
    pub own: Own,
    /// The project that the process works in, where a file of it is filled into this server, which
    /// is the user's own.
    pub filled_from: Option<PathBuf>,
    /// Place of the server that its own client takes instead, if it does.
    pub shadowed_by: Option<Origin>,
    /// Whether the entry says that the server is on, and does not leave that out.
    pub says_on: bool,
    /// Keys of its client's settings that deny tools by rules which only the client hears.
    pub unheard: Option<String>,
}

/// A server of a project whose files may not be filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedServer {
    /// Name of the server, one that is fit for it.
    pub name: String,
    /// Name of the server in the file.
    pub written_name: String,
    /// Place where the server is written.
    pub origin: Origin,
}

/// An entry that is no server which could be bridged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Place where the entry is written.
    pub origin: Origin,
    /// Name of the entry in the file.
    pub written_name: String,
    /// Reason why the entry is no such server.
    pub why: String,
    /// Launch as it is written, where the entry could be a server with other variables set.
    pub unused: Option<UnusedLaunch>,
}

/// A launch that nobody could start with the variables that are set now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusedLaunch {
    /// Launch, nothing of the user's filled in.
    pub written: Launch,
    /// Sources of the user's own that would be filled in, and their places.
    pub filled_in: BTreeSet<FilledIn>,
}

impl FoundServer {
    /// Returns what its client's file allows that client. None where the file is no client's.
    #[must_use]
    pub fn rule(&self) -> Option<(Client, ClientRule)> {
        let rule = ClientRule {
            enabled: self.server.enabled,
            filter: self.server.bridge()?.filter.clone(),
        };
        Some((self.server.origin.client?, rule))
    }
}

impl Discovery {
    /// Returns what a launch starts or reaches.
    pub(crate) fn target_of(&self, launch: &Launch) -> LaunchTarget {
        LaunchTarget::of(launch, self.unfollowed.as_deref())
    }

    /// Returns the content of a project: of all files in it that servers are made of. None where
    /// there are no such files.
    #[must_use]
    pub fn content_of(&self, project: &Path) -> Option<&ProjectContent> {
        self.contents.get(project)
    }

    /// Returns the projects that have files which servers are made of.
    pub fn projects(&self) -> impl Iterator<Item = (&Path, &ProjectContent)> {
        let contents = self.contents.iter();
        contents.map(|(project, content)| (project.as_path(), content))
    }

    /// Returns all problems, in the order of the files; a problem of a file that several clients
    /// read, once.
    pub fn problems(&self) -> impl Iterator<Item = &ConfigProblem> {
        let mut told = BTreeSet::new();
        let all = self.sources.iter().flat_map(|source| match &source.state {
            SourceState::Missing => &[],
            SourceState::Read { problems, .. } => problems.as_slice(),
        });
        all.filter(move |problem| told.insert((&problem.file, problem.line, problem.column)))
    }

    /// Returns the name that files have for the server of a name.
    pub(super) fn written_name(&self, name: &str) -> Option<&str> {
        self.written_names.get(name).map(String::as_str)
    }

    /// Gives each server a name that is fit for one.
    fn name(&mut self) {
        let written = |of_project: bool| {
            let found = self.found.iter();
            let found = found.filter(move |found| {
                matches!(found.server.origin.scope, Scope::Project(_)) == of_project
            });
            found.map(|found| found.written_name.as_str())
        };
        let counted = self.counted.iter().map(|server| &*server.written_name);
        let names = rules::allowed::names(written(false), written(true).chain(counted));
        let by_name = names
            .iter()
            .map(|(written, name)| (name.clone(), written.clone()));
        self.written_names = by_name.collect();
        // What cannot be used takes no name from what can.
        let unusable = self.unusable.iter().map(|entry| &*entry.written_name);
        let of_unusable = rules::allowed::names(unusable, []);
        for entry in &mut self.unusable {
            let written = &entry.written_name;
            if let Some(name) = names.get(written).or_else(|| of_unusable.get(written)) {
                entry.name.clone_from(name);
            }
        }
        for server in &mut self.counted {
            if let Some(name) = names.get(&server.written_name) {
                server.name.clone_from(name);
            }
        }
        for found in &mut self.found {
            if let Some(name) = names.get(&found.written_name) {
                found.server.name.clone_from(name);
            }
            if found.server.name != found.written_name {
                found.notes.push(format!(
                    "it is called `{}` here, for its own name is none that agents accept",
                    found.server.name
                ));
            }
        }
    }

    /// Leaves out skipped entries that another client takes, or that have been skipped before,
    /// unless they could be servers with other variables set.
    fn skip_once(&mut self) {
        let place =
            |origin: &Origin, name: &str| (origin.file.clone(), origin.line, name.to_owned());
        let found = self.found.iter();
        let mut told: BTreeSet<_> = found
            .map(|found| place(&found.server.origin, &found.written_name))
            .collect();
        self.skipped.retain(|skipped| {
            let is_new = told.insert(place(&skipped.origin, &skipped.written_name));
            let unused = skipped.unused.as_ref();
            is_new || unused.is_some_and(|unused| !unused.filled_in.is_empty())
        });
    }
}

/// Searches the files of some clients.
///
/// The files of projects are read first, and nothing else: files that these name are opened, and
/// filled in, only in the projects for which the policy allows it.
#[must_use]
pub fn discover(
    surroundings: &Surroundings,
    clients: &[Client],
    policy: &FillPolicy<'_>,
) -> Discovery {
    let clients = Client::all().filter(|client| clients.contains(client));
    let folder = ProjectFolder::of(surroundings);
    let mut places: Vec<_> = clients
        .map(|client| (client, places::files(client, surroundings)))
        .collect();
    if let Some(folder) = &folder {
        for (_, places) in &mut places {
            folder.claim(places);
        }
    }
    let mut left_out = Vec::new();
    if surroundings.project.is_none() {
        for (client, places) in &mut places {
            let of_project =
                places.extract_if(.., |place| search::project_of(&place.scope).is_some());
            let is_there = |place: &ClientPlace| {
                let project = search::project_of(&place.scope);
                // A link is there, wherever it leads.
                project.is_some_and(|project| leads_out(project, &place.file))
                    || place.file.exists()
            };
            let places = of_project.filter(is_there);
            left_out.extend(places.map(|place| (*client, place.file)));
        }
    }
    let projects = places.iter().flat_map(|(_, places)| places);
    let projects = projects.filter_map(|place| search::project_of(&place.scope));
    // Clients that are not searched may have files in the one that is worked in, too.
    let projects = projects.chain(folder.as_ref().map(|folder| folder.path.as_path()));
    let followed = projects.filter(|project| (policy.may_follow)(project));
    let mut library = Library::new(
        policy.max_bytes,
        followed.map(Path::to_owned).collect(),
        folder.as_ref().map(|folder| folder.path.as_path()),
    );
    for (client, places) in &places {
        library.open_projects(*client, places, surroundings);
    }
    let own = library.contents();
    let may_fill = |project: &Path| {
        let content = own
            .get(project)
            .and_then(|content| content.own_files.as_ref());
        (policy.may_fill)(project, content)
    };
    let setting = DiscoverySetting {
        around: surroundings,
        inputs: policy.inputs,
        entered: folder
            .clone()
            .map(|folder| EnteredProject::of(folder, &may_fill)),
        filled: own
            .keys()
            .filter(|project| may_fill(project))
            .cloned()
            .collect(),
        has_itself: false,
    };
    let unfollowed = folder.filter(|folder| !(policy.may_follow)(&folder.path));
    let mut discovery = Discovery {
        left_out,
        unfollowed: unfollowed.and_then(|folder| folder.real),
        ..Discovery::default()
    };
    for (client, places) in &places {
        let mut search = ClientSearch::of(*client, places, &setting, &mut library);
        for entry in &mut search.unusable {
            entry.place += discovery.found.len();
        }
        discovery.sources.extend(search.sources);
        discovery.found.extend(search.found);
        discovery.skipped.extend(search.skipped);
        discovery.counted.extend(search.counted);
        discovery.refused.extend(search.refused);
        discovery.unusable.extend(search.unusable);
        discovery.unread.extend(search.unread);
    }
    discovery.name();
    discovery.contents = library.contents();
    discovery.hashes = std::mem::take(&mut library.hashes);
    discovery.name_files(&places, &setting, &mut library);
    discovery.skip_once();
    discovery
}

#[cfg(test)]
mod tests;
