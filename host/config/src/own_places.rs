//! The one list of Dormouse's own places: files and folders that decide which servers there are,
//! what they may do and who is trusted. No plugin may be granted any of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dormouse_files::paths;
use dormouse_policy::{HttpSecret, OwnPlace, OwnPlaceList};
use dormouse_text::visible::visible_line;
use parking_lot::RwLock;

use super::{Client, Configured, FillSource, Scope};
use crate::discovery::rule_files;
use crate::discovery::{Surroundings, places};

/// Files that servers of the user's take variables and texts from, with the names of the servers,
/// as of the configuration that was read last: whoever writes to one of them decides what is run.
///
/// Files that servers of projects are filled in from are not among them: their content is trusted with
/// the project. That of files with secrets is not.
#[derive(Debug, Clone, Default)]
pub struct FilledInFiles(Arc<Noted>);

#[derive(Debug, Default)]
struct Noted {
    files: RwLock<BTreeMap<PathBuf, String>>,
    version: AtomicU64,
}

impl FilledInFiles {
    /// Notes all such files of a configuration.
    pub fn note(&self, configured: &Configured, project: Option<&Path>) {
        let mut files = BTreeMap::new();
        for server in configured.servers.values() {
            // Nobody is shown the texts of secrets, whoever names their files.
            for file in server.secrets.iter().filter_map(HttpSecret::file) {
                let all = std::iter::once(&file.path).chain(&file.real);
                files.extend(all.map(|path| (path.clone(), server.name.clone())));
            }
            let bridge = server.bridge().filter(|_| !server.is_of_project());
            for filled_in in bridge.iter().flat_map(|bridge| &bridge.filled_in) {
                let (FillSource::File(file) | FillSource::VariableInFile { file, .. }) =
                    &filled_in.source
                else {
                    continue;
                };
                if !project.is_some_and(|project| file.starts_with(project)) {
                    files.insert(file.clone(), server.name.clone());
                }
            }
        }
        let mut noted = self.0.files.write();
        if *noted != files {
            *noted = files;
            self.0.version.fetch_add(1, Ordering::Release);
        }
    }

    /// Returns a number that is another one once other files are noted.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.0.version.load(Ordering::Acquire)
    }

    fn all(&self) -> BTreeMap<PathBuf, String> {
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
    for (file, server) in filled_in.all() {
        let server = visible_line(&server);
        add(
            &file,
            &format!("which the server `{server}` takes values from"),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::parse;
    use crate::project::trusted::TestTrust;

    #[test]
    fn files_of_secrets_are_kept_from_grants() {
        let text = "[servers.t]\ncomponent = \"t.wasm\"\n[servers.t.secrets]\n\
            s = { file = \"/keys/s\", hosts = [\"a.example\"], query = \"q\" }\n";
        let (config, problems) = parse(Path::new("/e/d/x.toml"), text);
        assert_eq!(problems, []);
        let configured = Configured::new(config, None, &TestTrust::new(Path::new("/e/data")));
        let filled_in = FilledInFiles::default();
        filled_in.note(&configured, None);
        let [config, cache, data] = ["/e/d/x.toml", "/e/cache", "/e/data"].map(Path::new);
        let host = HostPaths {
            config,
            cache,
            data,
            token_file: None,
        };
        let own = own_places(host, None, &filled_in);
        let mut kept = own.places.iter();
        let kept = kept.find(|own| own.path == Path::new("/keys/s"));
        assert_eq!(kept.unwrap().what, "which the server `t` takes values from");
    }

    #[test]
    fn all_of_ours_and_all_user_files_of_clients_are_on_the_list() {
        let home = Path::new("/home/somebody");
        let project = home.join("project");
        let mut around = Surroundings::new(home.to_owned(), [].into(), None);
        around.project = Some(project.clone());
        let [config, cache, data] = ["/e/d/x.toml", "/e/cache", "/e/data"].map(Path::new);
        let token_file = Some(Path::new("/e/keys/token"));
        let host = HostPaths {
            config,
            cache,
            data,
            token_file,
        };
        let own = own_places(host, Some(&around), &FilledInFiles::default());
        let paths: Vec<_> = own.places.iter().map(|own| own.path.as_path()).collect();
        for ours in [
            "/e/cache",
            "/e/data",
            "/e/d",
            "/e/d/x.toml",
            "/e/keys/token",
        ] {
            assert!(paths.contains(&Path::new(ours)), "{ours}");
        }
        let usual = paths::config_file(None).unwrap();
        let folders = own.folders.iter().map(|own| own.path.as_path());
        let folders: Vec<_> = folders.collect();
        let expected = ["/e/cache", "/e/data"].map(Path::new);
        assert_eq!(folders[..2], expected);
        assert_eq!(folders[2..], [usual.parent().unwrap()]);
        for of_client in [
            ".claude.json",
            ".claude/settings.json",
            ".cursor/mcp.json",
            ".config/Code/User/mcp.json",
            ".config/Code/User/globalStorage",
            ".codex/config.toml",
            ".continue/mcpServers",
            ".config/goose/config.yaml",
            ".config/goose/permission.yaml",
            ".gemini/policies",
        ] {
            if cfg!(target_os = "linux") {
                assert!(
                    paths.contains(&home.join(of_client).as_path()),
                    "{of_client}"
                );
            }
        }
        for client in Client::all() {
            let theirs = places::files(client, &around);
            let mut theirs = theirs.iter().filter(|place| place.scope == Scope::User);
            assert!(
                theirs.all(|place| paths.contains(&place.file.as_path())),
                "{client}"
            );
        }
        assert!(!paths.iter().any(|path| path.starts_with(&project)));
        assert!(!paths.iter().any(|path| path.starts_with("/etc")));
    }

    /// Whoever keeps a list has to know when it is another one.
    #[test]
    fn all_that_the_list_was_made_of_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let around = Surroundings::new(home.clone(), [].into(), None);
        let user = around.app_data.join("Code/User");
        let [config, cache, data] = ["/e/d/x.toml", "/e/cache", "/e/data"].map(Path::new);
        let list = || {
            let host = HostPaths {
                config,
                cache,
                data,
                token_file: None,
            };
            own_places(host, Some(&around), &FilledInFiles::default())
        };
        let storage = r#"{"userDataProfiles": [{"location": "a/b", "name": "n"}]}"#;
        for (file, text) in [
            (user.join("profiles/x/mcp.json"), ""),
            (user.join("globalStorage/storage.json"), storage),
            (home.join(".continue/mcpServers/x.yaml"), ""),
            (home.join(".gemini/policies/x.toml"), ""),
        ] {
            let before = list();
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, text).unwrap();
            let after = list();
            assert_ne!(before.places, after.places, "{}", file.display());
            let mut on_the_way = file.ancestors();
            assert!(
                on_the_way.any(|path| before.read.iter().any(|read| read == path)),
                "{}: {:?}",
                file.display(),
                before.read
            );
        }
        // Whose the folders of sockets are is asked each time.
        let around = None;
        let host = HostPaths {
            config,
            cache,
            data,
            token_file: None,
        };
        let own = own_places(host, around, &FilledInFiles::default());
        for folder in paths::runtime_dirs_of_system() {
            assert!(own.looked_at.contains(&folder), "{}", folder.display());
        }
    }

    #[test]
    fn other_files_that_values_are_taken_from_are_another_version() {
        let configured = |file: &str| {
            let text = format!(
                "[servers.t]\ncomponent = \"t.wasm\"\n[servers.t.secrets]\n\
                 s = {{ file = \"{file}\", hosts = [\"a.example\"], query = \"q\" }}\n"
            );
            let (config, problems) = parse(Path::new("/e/d/x.toml"), &text);
            assert_eq!(problems, []);
            Configured::new(config, None, &TestTrust::new(Path::new("/e/data")))
        };
        let filled_in = FilledInFiles::default();
        filled_in.note(&configured("/keys/a"), None);
        let first = filled_in.version();
        filled_in.note(&configured("/keys/a"), None);
        assert_eq!(filled_in.version(), first);
        filled_in.note(&configured("/keys/b"), None);
        assert_ne!(filled_in.version(), first);
    }
}
