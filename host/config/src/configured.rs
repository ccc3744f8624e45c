//! Servers from everywhere: the user's own file, their clients' files, and those of the project
//! that they are in.

mod names;
mod reviewed;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use dormouse_launch::Launch;
use dormouse_policy::HostLimits;
use dormouse_text::visible::{visible_line, visible_path};
use serde::{Deserialize, Serialize};

use super::discovery::{
    Content, Discovery, FillPolicy, NOT_TRUSTED, Overridden, Surroundings, discover, merge,
};
use super::file::Variables;
use super::launch_folder::without_folder;
use super::project_content::{ProjectHashes, ProjectText, may_be_recorded};
use super::project_path::{LEADS_OUT, leads_out};
use super::reserved_names::ReservedNames;
use super::review::NameOfUsers;
use super::trusted::TrustedFolders;
use super::{
    Adapter, ChangePolicy, Client, Config, DiscoveryConfig, Fingerprint, Need, Origin, Overlay,
    Problem, RefusedServer, Scope, ServerConfig, file, name,
};

/// Name of a project's own file, beside its clients' ones.
const PROJECT: &str = "dormouse.toml";

/// Servers from everywhere that their user trusts.
#[derive(Debug, Clone, Default)]
pub struct Configured {
    /// The servers by name.
    pub servers: BTreeMap<String, ServerConfig>,
    /// Configuration of discovery, as of servers of which nothing is known.
    pub discovery: DiscoveryConfig,
    /// Limits of the whole host, as the user's own file has them: a project's has no say in that.
    pub limits: HostLimits,
    /// Servers that the clients' files have.
    pub found: Discovery,
    /// Servers that are not shown because of others.
    pub overridden: Vec<Overridden>,
    /// Names of servers that are not shown because another is reached in the same way, each with
    /// the name of the other.
    pub same_as: BTreeMap<String, String>,
    /// Notes on servers, as sentences, by the servers' names.
    pub notes: Vec<(String, String)>,
    /// Overlays in the user's own file, for servers that are configured elsewhere.
    overlays: BTreeMap<String, Overlay>,
    /// Overlays for servers that are configured nowhere.
    pub stray: BTreeMap<String, Overlay>,
    /// Problems in the user's own file, outside of servers.
    pub own_problems: Vec<Problem>,
    /// Problems in the project's own file.
    pub problems: Vec<Problem>,
    /// The project that servers were looked for in, where its files have servers and nobody trusts
    /// them. None of those is among `servers`.
    pub untrusted: Option<UntrustedProject>,
    /// The names that no server of a project's has, trusted or not.
    reserved_names: ReservedNames,
    /// The servers of the project's own file, trusted or not.
    of_project: Vec<ServerConfig>,
    /// Servers of the project's own file in which something is wrong.
    refused_of_project: Vec<RefusedServer>,
    /// The project's own file, whether it exists or not.
    project_file: Option<PathBuf>,
    /// The projects, each with the hashes of all that its files say of servers.
    projects: BTreeMap<PathBuf, ProjectHashes>,
    /// Projects that are trusted with just these hashes.
    trusted: BTreeSet<PathBuf>,
    /// Projects that are trusted with some hashes, these or others.
    once_trusted: BTreeSet<PathBuf>,
    /// Projects of which the files are trusted as well that servers of the user's are made of.
    wholly_trusted: BTreeSet<PathBuf>,
}

/// A project whose servers nobody has trusted, as it is told before that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UntrustedProject {
    /// Folder of the project; not said to agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// Number of servers in the project's files.
    pub servers: usize,
    /// Whether it was trusted with what its files said before.
    #[serde(default)]
    pub changed: bool,
}

impl UntrustedProject {
    /// Returns the hint for somebody who looks for a server and does not find it.
    #[must_use]
    pub fn hint(&self) -> String {
        format!(
            "hint: there is something that is not shown, {} of a project that is not trusted: \
             `dormouse trust` in its folder shows what would run, and allows it",
            self.counted()
        )
    }

    fn counted(&self) -> String {
        let plural = if self.servers == 1 { "" } else { "s" };
        format!("{} server{plural}", self.servers)
    }
}

impl fmt::Display for UntrustedProject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folder = self.folder.as_deref().unwrap_or(Path::new("."));
        let folder = folder.to_string_lossy();
        write!(
            f,
            "{} of a project that is {}, `{}`: not shown, and not started\n\
             hint: `dormouse trust` in that folder shows what they are, and allows them",
            self.counted(),
            match self.changed {
                true => "trusted no longer, for its files have changed since",
                false => "not trusted",
            },
            visible_line(&folder)
        )
    }
}

/// Returns the fingerprints of the launch of a server's upstream; none where it has none. A program
/// that is started in the folder of the project has that of one that is started wherever the host is,
/// too, also where the project's file names that folder: a project's file does not bring back under
/// another name what its user has restricted.
fn launches(server: &ServerConfig, project: Option<&Path>) -> Vec<Fingerprint> {
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

/// Makes changes of a server of a project wait for its user where the project's file would accept
/// them: no project decides that. Returns a note, if it is so.
fn without_acceptance(server: &mut ServerConfig) -> Option<String> {
    let is_said = server.bridge_mut()?.changes.remove_acceptance();
    is_said.then(|| {
        "its changes and new tools wait for you, although a project's file says that they do not \
         (`on_change`, `tools_on_change` or `new_tools`): that is not heard\n\
         hint: write it in your own dormouse.toml"
            .to_owned()
    })
}

/// Servers of one kind that may be taken, before those of later kinds.
type Candidates = Vec<(ServerConfig, Vec<Origin>)>;

/// Launches of the user's servers, with the names that these have where there is no project: what the
/// user says of a server counts by its name, and no project gives the server another one, on which
/// nothing is said.
#[derive(Default)]
struct UsersLaunches(BTreeMap<Fingerprint, UsersLaunch>);

/// A server of the user's, by its launch.
struct UsersLaunch {
    /// Name that it is shown under; none where others have taken its name.
    name: Option<String>,
    origin: Origin,
}

impl UsersLaunches {
    fn add(&mut self, launch: Fingerprint, name: Option<&str>, origin: &Origin) {
        self.0.entry(launch).or_insert_with(|| UsersLaunch {
            name: name.map(str::to_owned),
            origin: origin.clone(),
        });
    }

    /// Returns the place of the user's server that another one, with this name and these launches,
    /// would give another name.
    fn renamed(&self, name: &str, launches: &[Fingerprint]) -> Option<&Origin> {
        let known = launches.iter().filter_map(|launch| self.0.get(launch));
        let mut others = known.filter(|users| users.name.as_deref() != Some(name));
        others.next().map(|users| &users.origin)
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
            overlays: own.overlays,
            own_problems: own.problems,
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
                all.own_problems.extend(refused.problems);
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

    /// Whether the files of a server's clients deny all of its tools, so that it is of no use to
    /// switch it on.
    #[must_use]
    pub fn is_wholly_denied(&self, name: &str) -> bool {
        let server = self.servers.get(name);
        server.is_some_and(|server| {
            let mut found = self.found.found.iter().map(|found| &found.server);
            let entry = found.find(|entry| entry.origin == server.origin);
            let shows_none = |server: &ServerConfig| {
                let bridge = server.bridge();
                bridge.is_some_and(|bridge| bridge.filter.shows_none())
            };
            shows_none(server) && entry.is_some_and(shows_none)
        })
    }

    /// Applies the overlays of the user's own file to the servers that are configured elsewhere.
    fn apply_overlays(&mut self) {
        let mut stray = self.overlays.clone();
        for server in self.servers.values_mut() {
            let Some(overlay) = stray.remove(&server.name) else {
                continue;
            };
            let for_it = overlay.for_server(server);
            if let Scope::Project(folder) = &server.origin.scope
                && for_it != overlay
            {
                let note = format!(
                    "not all of `[servers.{}]` at {} is for it, because it is a project's: it is \
                     only switched off, filtered and approved more cautiously by that\n\
                     hint: with `project = \"{}\"` in that table all of it is for this server, \
                     and nothing for one of yours",
                    server.name,
                    overlay.origin,
                    visible_path(folder)
                );
                self.notes.push((server.name.clone(), note));
            }
            let applied = for_it.apply(server);
            if let Err(why) = applied {
                let problem = Problem {
                    file: overlay.origin.file.clone(),
                    line: overlay.origin.line,
                    column: 1,
                    message: format!("`[servers.{}]` {why}", server.name),
                    hint: Some("remove it there, or write down how the server is reached".into()),
                };
                let refused = RefusedServer {
                    written_name: server.name.clone(),
                    origin: overlay.origin,
                    written: server.bridge().map(|bridge| bridge.written.clone()),
                    launch: None,
                    filled_in: BTreeSet::new(),
                    problems: vec![problem],
                };
                server.adapter = Adapter::Refused(Box::new(refused));
            }
        }
        for name in self.names_of_untrusted_projects() {
            stray.remove(name);
        }
        self.stray = stray;
    }

    /// Makes the most cautious policy count for all servers that are reached in the same way: their
    /// records are kept once, and what one of them takes as seen is seen for all.
    fn share_caution(&mut self) {
        let mut shared: BTreeMap<Fingerprint, (ChangePolicy, Vec<String>)> = BTreeMap::new();
        for server in self.servers.values() {
            let Some(bridge) = server.bridge() else {
                continue;
            };
            let known = shared.entry(bridge.fingerprint.clone());
            let (changes, names) = known.or_insert_with(|| (bridge.changes.clone(), Vec::new()));
            *changes = changes.most_cautious(&bridge.changes);
            names.push(server.name.clone());
        }
        for server in self.servers.values_mut() {
            let name = server.name.clone();
            let Some(bridge) = server.bridge_mut() else {
                continue;
            };
            let Some((changes, names)) = shared.get(&bridge.fingerprint) else {
                continue;
            };
            if bridge.changes.allows_more_than(changes) {
                let others = names.iter().filter(|other| **other != name);
                let others: Vec<_> = others.map(|other| format!("`{other}`")).collect();
                let note = format!(
                    "what it says of changes (`on_change`) is less cautious than what {} says, \
                     which is reached in the same way, so that counts for both\n\
                     hint: write the same in both",
                    others.join(" or ")
                );
                self.notes.push((name, note));
            }
            bridge.changes = changes.clone();
        }
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
        // What is a link there is followed for those who have been asked of it before.
        let may_follow = |folder: &Path| reviewed == Some(folder) || folders.contains_key(folder);
        let text = self.project_text(around, &may_follow);
        let own = |folder: &Path| {
            let is_entered = around.project.as_deref() == Some(folder);
            ProjectText::of(folder, text.as_deref().filter(|_| is_entered))
        };
        // What cannot be trusted, by its own files alone, has nothing filled in and nothing
        // opened that it names.
        let may_fill = |folder: &Path, content: Option<&Content>| {
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
                true => Variables::FilledIn(Some(self.discovery.filled_in)),
                false => Variables::Kept,
            };
            self.read_project(folder, text, variables);
        }
        self.projects = hashes(&self.found, around.project.as_deref(), text.as_deref());
        for (folder, hashes) in &self.projects {
            let Some(record) = folders.get(folder) else {
                continue;
            };
            self.once_trusted.insert(folder.clone());
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
            for launch in self::launches(server, self.project_folder()) {
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
                for launch in self::launches(&found.server, self.project_folder()) {
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
        self.untrusted = (servers > 0).then(|| UntrustedProject {
            folder: around.project.clone(),
            servers,
            changed: (around.project.as_ref())
                .is_some_and(|project| self.once_trusted.contains(project)),
        });
    }

    /// Returns the project whose servers nobody has trusted, as far as these are something for a
    /// client: none where it loads all of them itself. All of them where the client is not known.
    #[must_use]
    pub fn untrusted_for(&self, client: Option<Client>) -> Option<UntrustedProject> {
        let all = self.untrusted.clone()?;
        let Some(client) = client else {
            return Some(all);
        };
        // Of one name, the first client's is taken.
        let mut taken: BTreeMap<&String, Option<Client>> = BTreeMap::new();
        for (name, origin) in self.entries_of_untrusted_projects() {
            let first = taken.entry(name).or_insert(origin.client);
            *first = (*first).min(origin.client);
        }
        let others = taken.values().filter(|first| **first != Some(client));
        let servers = others.count();
        (servers > 0).then_some(UntrustedProject { servers, ..all })
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

    /// Returns the names of the servers in the files of projects that are not trusted.
    fn names_of_untrusted_projects(&self) -> impl Iterator<Item = &String> {
        self.entries_of_untrusted_projects().map(|(name, _)| name)
    }

    /// Returns the servers in the files of projects that are not trusted, by name, each with its
    /// place.
    fn entries_of_untrusted_projects(&self) -> impl Iterator<Item = (&String, &Origin)> {
        let found = self.found.found.iter().map(|found| &found.server);
        let filled = self.of_project.iter().chain(found);
        let filled = filled.map(|server| (&server.name, &server.origin));
        let counted = self.found.counted.iter();
        let counted = counted.map(|server| (&server.name, &server.origin));
        let filled = filled.filter(|(_, origin)| !self.is_trusted(origin));
        filled.chain(counted)
    }

    /// Returns the launches of the user's servers in the files of clients. `taken` has the names of
    /// the servers in the user's own file, by the fingerprints of their launches.
    fn users_launches(&self, taken: &BTreeMap<Fingerprint, String>) -> UsersLaunches {
        let mut users = UsersLaunches::default();
        let is_users = |origin: &Origin| !matches!(origin.scope, Scope::Project(_));
        let merged = merge(&self.found, &is_users);
        for server in merged.servers.values().map(|choice| &choice.server) {
            let launches = launches(server, self.project_folder());
            let is_known = |launch| taken.contains_key(launch) || users.0.contains_key(launch);
            if !self.servers.contains_key(&server.name) && !launches.iter().any(is_known) {
                for launch in launches {
                    users.add(launch, Some(&server.name), &server.origin);
                }
            }
        }
        let found = self.found.found.iter().map(|found| &found.server);
        for server in found.filter(|server| !server.is_of_project()) {
            for launch in launches(server, self.project_folder()) {
                users.add(launch, None, &server.origin);
            }
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
    fn take(
        &mut self,
        server: ServerConfig,
        launches: &mut BTreeMap<Fingerprint, String>,
        users: &UsersLaunches,
    ) {
        let own = self::launches(&server, self.project_folder());
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
            // A client that has a part of it from a project is shown it still.
            if !server.is_of_project() || twin.is_of_project() || server.shows_all() {
                twin.from.extend(server.from);
            }
            return;
        }
        let renamed = users.renamed(&server.name, &own);
        let by = match self.name_of_users(&server) {
            Some(NameOfUsers::Kept { origin, .. }) => Some(origin),
            Some(NameOfUsers::Overridden { .. }) | None => {
                let same_name = self.servers.get(&server.name);
                let by = same_name.map(|other| &other.origin);
                by.or(renamed).cloned()
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
        for launch in own {
            launches.insert(launch, server.name.clone());
        }
        self.servers.insert(server.name.clone(), server);
    }

    /// Reads the text of the project's own file.
    fn project_text(
        &mut self,
        around: &Surroundings,
        may_follow: &dyn Fn(&Path) -> bool,
    ) -> Option<String> {
        let project = around.project.as_ref()?;
        let path = project.join(PROJECT);
        self.project_file = Some(path.clone());
        if !may_follow(project) && leads_out(project, &path) {
            let path = path.to_string_lossy();
            tracing::warn!("the file {} {LEADS_OUT}", visible_line(&path));
            return None;
        }
        match file::read_of_project(&path) {
            Ok(text) => text,
            Err(error) => {
                tracing::warn!("{error:#}");
                None
            }
        }
    }

    /// Reads the servers of the project's own file.
    fn read_project(&mut self, folder: &Path, text: &str, variables: Variables) {
        let (mut config, mut problems) = file::parse_of_project(
            &folder.join(PROJECT),
            text,
            variables,
            &self.discovery.inputs,
        );
        for (name, overlay) in config.overlays {
            let problem = Problem {
                file: overlay.origin.file.clone(),
                line: overlay.origin.line,
                column: 1,
                message: format!(
                    "`[servers.{name}]` names nothing to run, and a project changes no servers \
                     of anybody else's"
                ),
                hint: Some("add a `component`, a `command` or a `url`, or remove it".to_owned()),
            };
            problems.push(problem.clone());
            config.refused.push(RefusedServer {
                written_name: name,
                origin: overlay.origin,
                written: None,
                launch: None,
                filled_in: BTreeSet::new(),
                problems: vec![problem],
            });
        }
        self.problems = problems;
        let scope = Scope::Project(folder.to_owned());
        let servers = config.servers.into_values().map(|mut server| {
            server.origin.scope = scope.clone();
            // As a client does with a file of the project's: in whatever folder below it the host
            // was started, its programs are those that were looked at.
            if let Some(bridge) = server.bridge_mut()
                && let Launch::Stdio(stdio) = &mut bridge.launch
            {
                stdio.cwd.get_or_insert_with(|| folder.to_owned());
            }
            server
        });
        self.of_project = servers.collect();
        self.refused_of_project = config.refused;
    }

    /// Returns the files that servers were looked for in, whether they exist or not.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let own = self.project_file.iter();
        own.chain(self.found.sources.iter().map(|source| &source.file))
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

/// Computes the hashes of each project's files: of its clients' ones, and of its own one.
fn hashes(
    found: &Discovery,
    project: Option<&Path>,
    own: Option<&str>,
) -> BTreeMap<PathBuf, ProjectHashes> {
    let mut hashes: BTreeMap<PathBuf, ProjectHashes> = found
        .projects()
        .map(|(folder, content)| {
            let own = own.filter(|_| project == Some(folder));
            let own = ProjectText::of(folder, own);
            (folder.to_owned(), ProjectHashes::new(Some(content), own))
        })
        .collect();
    if let (Some(project), Some(own)) = (project, own) {
        hashes
            .entry(project.to_owned())
            .or_insert_with(|| ProjectHashes::new(None, ProjectText::of(project, Some(own))));
    }
    hashes
}

#[cfg(test)]
mod tests;
