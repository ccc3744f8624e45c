//! Servers from everywhere: the user's own file, their clients' files, and those of the project
//! that they are in.

mod denied_targets;
mod launches;
mod names;
mod overlays;
mod problems_of_files;
mod project_file;
mod reviewed;
mod untrusted_project;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use dormouse_launch::Launch;
use dormouse_policy::HostLimits;
use dormouse_policy::exposure::{ExposureRules, Profile};

pub(super) use self::project_file::PROJECT;
use self::project_file::{hashes, without_acceptance};
pub use self::untrusted_project::{UntrustedProject, told_files};
use super::discovery::{
    ContentHash, Discovery, FillPolicy, NOT_TRUSTED, Overridden, Surroundings, discover, merge,
};
use super::file::VariableHandling;
use crate::naming::name;
use crate::naming::reserved_names::ReservedNames;
use crate::project::project_content::{ProjectHashes, ProjectText, may_be_recorded};
use crate::project::trusted::TrustedFolders;
use crate::{
    Adapter, Client, Config, ConfigProblem, DiscoveryConfig, NamedFiles, Need, Origin, Overlay,
    RefusedServer, Scope, ServerConfig, WatchedFile,
};

/// Servers from everywhere that their user trusts.
#[derive(Debug, Clone, Default)]
pub struct Configured {
    /// The servers by name.
    pub servers: BTreeMap<String, ServerConfig>,
    /// Configuration of discovery, as of servers of which nothing is known.
    pub discovery: DiscoveryConfig,
    /// Limits of the whole host, as the user's own file has them: a project's has no say in that.
    pub limits: HostLimits,
    /// Exposure of all servers, as the user's own file has it: a project's has no say in that.
    pub exposure: ExposureRules,
    /// Profiles, by name; of the user's own file, too.
    pub profiles: BTreeMap<String, Profile>,
    /// Servers that the clients' files have.
    pub found: Discovery,
    /// Servers that are not shown because of others.
    pub overridden: Vec<Overridden>,
    /// Names of servers that are not shown because another is reached in the same way, each with
    /// the name of the other.
    pub same_as: BTreeMap<String, String>,
    /// Notes on servers, as sentences, by the servers' names.
    pub notes: Vec<(String, String)>,
    /// Names of the servers of which their clients' files deny all tools.
    wholly_denied: BTreeSet<String>,
    /// Overlays in the user's own file, for servers that are configured elsewhere.
    overlays: BTreeMap<String, Overlay>,
    /// Overlays for servers that are configured nowhere.
    pub stray: BTreeMap<String, Overlay>,
    /// Problems in the user's own file, outside of servers.
    pub own_problems: Vec<ConfigProblem>,
    /// Problems in the project's own file.
    pub problems: Vec<ConfigProblem>,
    /// The project that servers were looked for in, where its files have servers and nobody trusts
    /// them. None of those is among `servers`.
    pub untrusted: Option<UntrustedProject>,
    /// The names that no server of a project's has, trusted or not.
    reserved_names: ReservedNames,
    /// The servers of the project's own file, trusted or not.
    of_project: Vec<ServerConfig>,
    /// Servers of the project's own file in which something is wrong.
    refused_of_project: Vec<RefusedServer>,
    /// Servers of the user's own file that have no name of a server, and are not shown.
    refused_without_names: Vec<RefusedServer>,
    /// Files that tables name for secrets: those of the user's own file, and those of the project's.
    files_of_secrets: [NamedFiles; 2],
    /// The project's own file, whether it exists or not.
    project_file: Option<PathBuf>,
    /// The projects, each with the hashes of all that its files say of servers.
    projects: BTreeMap<PathBuf, ProjectHashes>,
    /// Projects that are trusted with just these hashes.
    trusted: BTreeSet<PathBuf>,
    /// Projects that were trusted with some hashes, these or others, or none that are known now.
    once_trusted: BTreeSet<PathBuf>,
    /// Projects of which the files are trusted as well that servers of the user's are made of.
    wholly_trusted: BTreeSet<PathBuf>,
}

/// Servers of one kind that may be taken, before those of later kinds.
type Candidates = Vec<(ServerConfig, Vec<Origin>)>;

/// Passes the variables that all children of the user's get to a server. A project's server gets
/// only those that were shown when the project was trusted.
fn pass_env(server: &mut ServerConfig, names: &[String]) {
    if matches!(server.origin.scope, Scope::Project(_)) {
        return;
    }
    let Some(bridge) = server.bridge_mut() else {
        return;
    };
    if let Launch::Stdio(stdio) = &mut bridge.launch {
        for name in names {
            if !stdio.pass_env.contains(name) {
                stdio.pass_env.push(name.clone());
            }
        }
    }
}

impl Configured {
    /// Combines the user's own file with the servers that are found around it.
    #[must_use]
    pub fn new(own: Config, around: Option<&Surroundings>, trust: &dyn TrustedFolders) -> Self {
        Self::with_reviewed(own, around, trust, None)
    }

    /// Works as [`Self::new`] where the user wants to be shown a project's files: everything that
    /// these name is opened and filled in, also where they are not trusted. Nothing more of the
    /// project is among the servers.
    #[must_use]
    pub fn for_review(
        own: Config,
        around: Option<&Surroundings>,
        trust: &dyn TrustedFolders,
        project: &Path,
    ) -> Self {
        Self::with_reviewed(own, around, trust, Some(project))
    }

    fn with_reviewed(
        own: Config,
        around: Option<&Surroundings>,
        trust: &dyn TrustedFolders,
        reviewed: Option<&Path>,
    ) -> Self {
        let mut all = Self {
            servers: own.servers,
            discovery: own.discovery,
            limits: own.limits,
            exposure: own.exposure,
            profiles: own.profiles,
            overlays: own.overlays,
            own_problems: own.problems,
            files_of_secrets: [own.files_of_secrets, NamedFiles::default()],
            ..Self::default()
        };
        for refused in own.refused {
            let name = refused.written_name.clone();
            if name::check(&name).is_ok() {
                let origin = refused.origin.clone();
                let adapter = Adapter::Refused(Box::new(refused));
                let server = ServerConfig::new(&name, adapter, origin);
                all.servers.insert(name, server);
            } else {
                all.own_problems.extend(refused.problems.iter().cloned());
                all.refused_without_names.push(refused);
            }
        }
        if let Some(around) = around {
            all.look_around(around, trust, reviewed);
        }
        all.ignore_prefixes_of_users();
        all.apply_overlays();
        all.keep_apart(around.and_then(Surroundings::deciding_folder));
        let Self {
            servers, discovery, ..
        } = &mut all;
        for server in servers.values_mut() {
            pass_env(server, &discovery.pass_env);
        }
        all.share_caution();
        all
    }

    /// Keeps the records of projects' servers for their projects, and those of the user's servers
    /// for the folder that the host works in, where that decides what they are.
    fn keep_apart(&mut self, deciding: Option<&Path>) {
        for server in self.servers.values_mut() {
            let scope = server.origin.scope.clone();
            let Some(bridge) = server.bridge_mut() else {
                continue;
            };
            match (scope, deciding) {
                (Scope::Project(project), _) => bridge.keep_apart_in_project(&project),
                (_, Some(folder)) => bridge.keep_apart_by_folder(folder),
                (_, None) => {}
            }
        }
    }

    /// Whether the files of a server's clients deny all of its tools, so that it is of no use to
    /// switch it on.
    #[must_use]
    pub fn is_wholly_denied(&self, name: &str) -> bool {
        self.wholly_denied.contains(name)
    }

    fn look_around(
        &mut self,
        around: &Surroundings,
        trust: &dyn TrustedFolders,
        reviewed: Option<&Path>,
    ) {
        let clients = self.discovery.clients.clone();
        let clients = clients.unwrap_or_else(|| Client::all().collect());
        let folders = trust.folders().unwrap_or_else(|error| {
            tracing::error!("{error:#}");
            BTreeMap::new()
        });
        self.once_trusted = folders.keys().cloned().collect();
        // What is a link there is followed for those who have been asked of it before.
        let may_follow = |folder: &Path| reviewed == Some(folder) || folders.contains_key(folder);
        let text = self.project_text(around, &may_follow);
        let own = |folder: &Path| {
            let is_entered = around.project.as_deref() == Some(folder);
            ProjectText::of(folder, text.as_deref().filter(|_| is_entered))
        };
        // What cannot be trusted, by its own files alone, has nothing filled in and nothing
        // opened that it names.
        let may_fill = |folder: &Path, content: Option<&ContentHash>| {
            let record = folders.get(folder);
            reviewed == Some(folder)
                || record.is_some_and(|record| may_be_recorded(record, content, own(folder)))
        };
        let policy = FillPolicy {
            inputs: &self.discovery.inputs,
            may_fill: &may_fill,
            may_follow: &may_follow,
            max_bytes: self.discovery.filled_in,
        };
        self.found = discover(around, &clients, &policy);
        if let Some((folder, text)) = around.project.as_deref().zip(text.as_deref()) {
            let content = self.found.content_of(folder);
            let content = content.and_then(|content| content.own_files.as_ref());
            let variables = match may_fill(folder, content) {
                true => VariableHandling::FilledIn(Some(self.discovery.filled_in)),
                false => VariableHandling::Kept,
            };
            self.read_project(folder, text, variables);
        }
        self.projects = hashes(&self.found, around.project.as_deref(), text.as_deref());
        for (folder, hashes) in &self.projects {
            let Some(record) = folders.get(folder) else {
                continue;
            };
            if hashes.is_recorded(record) {
                self.trusted.insert(folder.clone());
            }
            if hashes.is_wholly_recorded(record) {
                self.wholly_trusted.insert(folder.clone());
            }
        }
        for found in &mut self.found.found {
            let folder = found.filled_from.as_ref();
            if folder.is_some_and(|folder| !self.wholly_trusted.contains(folder))
                && let Adapter::Bridge(bridge) = &mut found.server.adapter
            {
                // Where that file was not read, this has been said of it.
                if !bridge
                    .needs
                    .iter()
                    .any(|need| need.text.contains(NOT_TRUSTED))
                {
                    let text = format!("it is made of a file that {NOT_TRUSTED}");
                    bridge.needs.insert(0, Need { place: None, text });
                }
            }
        }
        let merged = merge(&self.found, &|origin| self.is_trusted(origin));
        self.reserve_names(&merged.of_users);
        let mut notes = Vec::new();
        // What the user has stays as it is, whatever a project's files say.
        let mut kinds: [Candidates; 3] = Default::default();
        let [of_users, own_of_project, of_project] = &mut kinds;
        let own = self.of_project.iter();
        let own = own.filter(|server| self.is_trusted(&server.origin));
        own_of_project.extend(own.map(|server| (server.clone(), Vec::new())));
        for (server, _) in own_of_project.iter_mut() {
            notes.extend(without_acceptance(server).map(|note| (server.name.clone(), note)));
        }
        for choice in merged.servers.into_values() {
            let name = &choice.server.name;
            notes.extend(choice.notes.into_iter().map(|note| (name.clone(), note)));
            for other in choice.other_names {
                self.same_as.insert(other, name.clone());
            }
            match choice.server.is_of_project() {
                true => of_project.push((choice.server, choice.also)),
                false => of_users.push((choice.server, choice.also)),
            }
        }
        let mut launches = BTreeMap::new();
        for server in self.servers.values() {
            for launch in launches::launches(server, self.project_folder()) {
                let name = launches.entry(launch);
                name.or_insert_with(|| server.name.clone());
            }
        }
        // What stands under the name of a table that is wrong does not come back under another.
        let found = self.found.found.iter();
        for found in found.filter(|found| !found.server.is_of_project()) {
            let name = &found.server.name;
            if self
                .servers
                .get(name)
                .and_then(ServerConfig::refused)
                .is_some()
            {
                for launch in launches::launches(&found.server, self.project_folder()) {
                    launches.entry(launch).or_insert_with(|| name.clone());
                }
            }
        }
        let users = self.users_launches(&launches);
        for (mut server, also) in kinds.into_iter().flatten() {
            let origins = std::iter::once(&server.origin).chain(&also);
            server.from = origins.filter_map(|origin| origin.client).collect();
            self.take(server, &mut launches, &users);
        }
        self.overridden.extend(merged.overridden);
        notes.extend(self.names_of_two());
        let servers = &self.servers;
        self.same_as.retain(|name, _| !servers.contains_key(name));
        self.notes.extend(notes);
        let names: BTreeSet<_> = self.names_of_untrusted_projects().collect();
        let servers = names.len();
        let project = around.project.as_ref();
        let record = project.and_then(|project| Some((project, folders.get(project)?)));
        self.untrusted = (servers > 0).then(|| UntrustedProject {
            folder: project.cloned(),
            servers,
            changed: project.is_some_and(|project| self.once_trusted.contains(project)),
            changed_files: record.map_or_else(Vec::new, |(project, record)| {
                self.changed_since(project, record)
            }),
        });
    }

    /// Returns the names that no server of a project's has.
    #[must_use]
    pub fn reserved_names(&self) -> &ReservedNames {
        &self.reserved_names
    }

    /// Whether the user trusts what is written at an origin.
    #[must_use]
    pub fn is_trusted(&self, origin: &Origin) -> bool {
        self.is_trusted_scope(&origin.scope)
    }

    /// Whether the user trusts the files of a scope.
    #[must_use]
    pub fn is_trusted_scope(&self, scope: &Scope) -> bool {
        match scope {
            Scope::Project(folder) => self.trusted.contains(folder),
            Scope::Managed | Scope::User | Scope::Local(_) => true,
        }
    }

    /// Returns the files that servers were looked for in, whether they exist or not.
    pub fn files(&self) -> impl Iterator<Item = WatchedFile> {
        let own = self.project_file.iter();
        let own = own.map(|file| (file, self.project_folder()));
        let sources = self.found.sources.iter();
        let searched = sources.map(|source| (&source.file, source.scope.project()));
        let unsearched = self.found.unsearched.iter().map(|file| (file, None));
        let files = own.chain(searched).chain(unsearched);
        files.map(|(file, project)| {
            let untrusted = project.filter(|project| !self.once_trusted.contains(*project));
            WatchedFile::new(file.clone(), untrusted.map(Path::to_owned))
        })
    }

    /// Whether the present content of the files of the project that was looked in is trusted.
    #[must_use]
    pub fn trusts_own_project(&self) -> bool {
        let folder = self.project_folder();
        folder.is_some_and(|folder| self.trusted.contains(folder))
    }

    /// Returns the folder of the project that was looked in.
    fn project_folder(&self) -> Option<&Path> {
        self.project_file.as_deref().and_then(Path::parent)
    }

    /// Whether all present content of a project's files is trusted, also what servers of the user's
    /// take from them.
    #[must_use]
    pub fn trusts(&self, project: &Path) -> bool {
        self.wholly_trusted.contains(project)
    }
}

#[cfg(test)]
mod tests;
