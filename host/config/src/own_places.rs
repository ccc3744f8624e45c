//! The one list of Dormouse's own places: files and folders that decide which servers there are,
//! what they may do and who is trusted. No plugin may be granted any of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dormouse_files::paths;
use dormouse_policy::{HttpSecret, OwnPlace, OwnPlaceList, real_path};
use dormouse_text::visible::visible_path;
use parking_lot::RwLock;

use super::{Client, Configured, FillSource, Scope};
use crate::discovery::rule_files;
use crate::discovery::{Surroundings, places};
use crate::named_files::{can_be_at, named};

/// Files that servers of the user's take variables and texts from, each with what takes them, as of the
/// configuration that was read last: whoever writes to one of them decides what is run.
///
/// What is written counts, and not what is used of it. An entry that loses its name to another, a table
/// with a slip in it, and the file of a client that is left out are in force again once somebody mends or
/// removes something; until then, the client starts its servers itself.
///
/// Files that servers of projects are filled in from are not among them, nor those that servers of the
/// user's take from whichever project is worked in: their content is trusted with the project. That of
/// files with secrets is not: those of a project that was trusted are among them, also where its files are
/// others by now, and where another project is worked in.
#[derive(Debug, Clone, Default)]
pub struct FilledInFiles(Arc<Noted>);

#[derive(Debug, Default)]
struct Noted {
    files: RwLock<AllFiles>,
    version: AtomicU64,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct AllFiles {
    /// Files of the configuration, each with what takes values from it.
    files: BTreeMap<PathBuf, String>,
    /// Real paths of files with secrets, each with the folder of a project whose secrets these are; none
    /// before they were known.
    of_projects: Option<BTreeMap<PathBuf, PathBuf>>,
    /// Reason for which they are not known, and never were.
    unknown: Option<String>,
}

impl FilledInFiles {
    /// Notes all such files of a configuration, and the real paths of files with secrets of projects that
    /// were trusted, by the folders of these. Where these are not known, for that reason, they are those that
    /// were noted before, or else no folder is granted.
    pub fn note(
        &self,
        configured: &Configured,
        project: Option<&Path>,
        of_projects: Result<BTreeMap<PathBuf, PathBuf>, String>,
    ) {
        let mut files = BTreeMap::new();
        let is_of_project = |file: &Path| project.is_some_and(|project| file.starts_with(project));
        // Nobody is shown the texts of secrets, whoever names their files.
        for (file, takes) in configured.files_of_secrets() {
            files.insert(file.to_owned(), takes.to_owned());
        }
        // In whichever project it lies: servers take values from it wherever else their user works.
        for (file, takes) in configured.found.named_files.iter() {
            let takes = || takes.to_owned();
            files.entry(file.to_owned()).or_insert_with(takes);
        }
        for server in configured.servers.values() {
            let takes = named("server", &server.name);
            // They are read where their user was shown them, too.
            for file in server.secrets.iter().filter_map(HttpSecret::file) {
                let all = std::iter::once(&file.path).chain(&file.real);
                files.extend(all.map(|path| (path.clone(), takes.clone())));
            }
            let bridge = server.bridge().filter(|_| !server.is_of_project());
            for filled_in in bridge.iter().flat_map(|bridge| &bridge.filled_in) {
                let (FillSource::File(file) | FillSource::VariableInFile { file, .. }) =
                    &filled_in.source
                else {
                    continue;
                };
                if !is_of_project(file) {
                    files.insert(file.clone(), takes.clone());
                }
            }
        }
        files.retain(|file, _| can_be_at(file));
        let mut noted = self.0.files.write();
        let (of_projects, unknown) = match of_projects {
            Ok(mut of_projects) => {
                of_projects.retain(|file, _| can_be_at(file));
                (Some(of_projects), None)
            }
            Err(why) => (noted.of_projects.clone(), Some(why)),
        };
        let now = AllFiles {
            files,
            unknown: unknown.filter(|_| of_projects.is_none()),
            of_projects,
        };
        if *noted != now {
            *noted = now;
            self.0.version.fetch_add(1, Ordering::Release);
        }
    }

    /// Returns a number that is another one once other files are noted.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.0.version.load(Ordering::Acquire)
    }

    fn all(&self) -> AllFiles {
        self.0.files.read().clone()
    }
}

/// Paths that a host was started with.
#[derive(Debug, Clone, Copy)]
pub struct HostPaths<'a> {
    /// Configuration file in use.
    pub config: &'a Path,
    /// Cache folder.
    pub cache: &'a Path,
    /// Data folder.
    pub data: &'a Path,
    /// File that clients' token is read from, where the host serves HTTP with one.
    pub token_file: Option<&'a Path>,
}

const CACHE: &str = "which is Dormouse's cache";
const DATA: &str = "which is Dormouse's data";
const CONFIGURATION: &str = "where Dormouse's configuration is";

/// Lists all of Dormouse's own places, for a host that was started with these paths.
///
/// Files of a project are not on it: their content counts only while it is what their user has
/// trusted. Neither is what administrators write, which no program of a user's can change.
#[must_use]
pub fn own_places(
    host: HostPaths<'_>,
    around: Option<&Surroundings>,
    filled_in: &FilledInFiles,
) -> OwnPlaceList {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut own = OwnPlaceList::default();
    let place = |path: &Path, what: &str| OwnPlace {
        path: absolute(path),
        what: what.to_owned(),
    };
    let mut add = |path: &Path, what: &str| own.places.push(place(path, what));
    add(host.cache, CACHE);
    // Tokens, trust, the store and backups lie in it.
    add(host.data, DATA);
    // Whoever knows it can call the tools of all servers.
    if let Some(file) = host.token_file {
        add(file, "which has the token of `dormouse serve --http`");
    }
    for folder in paths::runtime_dirs().iter().flatten() {
        add(folder, "where Dormouse's control sockets are");
    }
    // The user's own one is read by other hosts, where this one was given another.
    let usual = paths::config_file(None).ok();
    let usual_folder = usual.as_deref().and_then(Path::parent);
    for file in usual.iter().map(PathBuf::as_path).chain([host.config]) {
        if let Some(folder) = file.parent() {
            add(folder, CONFIGURATION);
        }
        // It may be a link to somewhere else.
        add(file, "which is Dormouse's configuration");
    }
    let whole = folders_of_much_else(host, usual_folder, around);
    let holds_much_else = |real: &Path| whole.iter().any(|folder| folder.starts_with(real));
    let AllFiles {
        files,
        of_projects,
        unknown,
    } = filled_in.all();
    for (file, takes) in files {
        // One look: nothing that is not there is above a folder.
        let file = absolute(&file);
        let real = file.canonicalize().unwrap_or_else(|_| file.clone());
        match holds_much_else(&real) {
            // A link may lead to something else later.
            true => own.looked_at.push(file),
            false => add(&file, &format!("which {takes} takes values from")),
        }
    }
    if let Some(why) = unknown {
        // So that none of them is granted, nothing is.
        add(
            Path::new("/"),
            &format!("where files with secrets of projects are, which are not known: {why}"),
        );
    }
    // They are where they were shown.
    let of_projects = of_projects.into_iter().flatten();
    for (file, project) in of_projects.filter(|(file, _)| !holds_much_else(file)) {
        let revoke = "`dormouse trust --revoke` in it, or with its path, ends that";
        let project = visible_path(&project);
        add(
            &file,
            &format!("which has a secret of the project `{project}`: {revoke}"),
        );
    }
    // The memory and the environment of this very process.
    #[cfg(target_os = "linux")]
    add(Path::new("/proc/self"), "which is Dormouse's own process");
    // Another folder with a configuration in it may be a project's.
    let folders = [(host.cache, CACHE), (host.data, DATA)].into_iter();
    let folders = folders.chain(usual_folder.map(|folder| (folder, CONFIGURATION)));
    let folders = folders.map(|(path, what)| place(path, what));
    own.folders.extend(folders);
    // Which of them has control sockets depends on whose they are.
    let of_system = paths::runtime_dirs_of_system().into_iter();
    own.looked_at.extend(of_system.map(|path| absolute(&path)));
    let Some(around) = around else {
        return own;
    };
    for client in Client::all() {
        let what = format!("which `{client}` starts MCP servers from");
        for place in places::files(client, around) {
            if matches!(place.scope, Scope::User | Scope::Local(_)) {
                add(&place.file, &what);
            }
        }
        for folder in places::folders(client, around) {
            add(&folder, &what);
        }
        for (scope, file) in rule_files(client, around) {
            if scope == Scope::User {
                add(&file, "which says which MCP servers may be used");
            }
        }
        let of_client = places::read(client, around).into_iter();
        own.read.extend(of_client.map(|path| absolute(&path)));
    }
    own
}

/// Returns the real paths of folders that no file has the place of, as little as that of a folder above
/// them. Where one of these is named for a file, by mistake or so that nothing at all is granted, it is
/// none of Dormouse's own.
fn folders_of_much_else(
    host: HostPaths<'_>,
    usual_folder: Option<&Path>,
    around: Option<&Surroundings>,
) -> Vec<PathBuf> {
    let home = match around {
        Some(around) => Some(around.home.clone()),
        None => etcetera::home_dir().ok(),
    };
    let project = around.and_then(|around| around.project.as_deref());
    let all = home.as_deref().into_iter().chain(project);
    let all = all.chain(host.config.parent()).chain(usual_folder);
    all.map(real_path).collect()
}

#[cfg(test)]
mod tests;
