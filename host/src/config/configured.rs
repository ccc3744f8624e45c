//! All servers from everywhere: the user's own file, their clients' files, and those
//! of the project that they are in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::discovery::{Discovery, Overridden, Surroundings, discover, merge};
use super::{
    Client, Config, DiscoveryConfig, Fingerprint, Origin, Overlay, Problem, Scope, ServerConfig,
    file,
};
use crate::store::Trust;

/// A project's own file, beside its clients' ones.
const PROJECT: &str = "dormouse.toml";

/// All servers from everywhere.
#[derive(Debug, Clone, Default)]
pub struct Configured {
    /// The servers by name.
    pub servers: BTreeMap<String, ServerConfig>,
    /// What is to be done about those of which nothing is known.
    pub discovery: DiscoveryConfig,
    /// What the clients' files gave.
    pub found: Discovery,
    /// Servers that are not shown because of others.
    pub overridden: Vec<Overridden>,
    /// What is worth saying of servers, as sentences, by their names.
    pub notes: Vec<(String, String)>,
    /// Overlays of servers that are nowhere.
    pub stray: BTreeMap<String, Overlay>,
    /// What is wrong in the project's own file.
    pub problems: Vec<Problem>,
    /// The project's own file, whether it exists or not.
    project_file: Option<PathBuf>,
    /// The projects, each with the hash of all that its files say of servers.
    projects: BTreeMap<PathBuf, String>,
}

/// Servers of one kind that may be taken, before those of later kinds.
type Candidates = Vec<(ServerConfig, Vec<Origin>)>;

impl Configured {
    /// Puts together what the user's own file says, and what is found around them.
    #[must_use]
    pub fn new(own: Config, around: Option<&Surroundings>, trust: &Trust) -> Self {
        let mut all = Self {
            servers: own.servers,
            discovery: own.discovery,
            ..Self::default()
        };
        let mut overlays = own.overlays;
        if let Some(around) = around {
            all.look_around(around, trust);
        }
        for server in all.servers.values_mut() {
            if let Some(overlay) = overlays.remove(&server.name) {
                overlay.apply(server);
            }
        }
        all.stray = overlays;
        all
    }

    fn look_around(&mut self, around: &Surroundings, trust: &Trust) {
        let clients = self.discovery.clients.clone();
        let clients = clients.unwrap_or_else(|| Client::all().collect());
        self.found = discover(around, &clients, &self.discovery.inputs);
        let (project, text) = self.project(around);
        self.projects = hashes(&self.found, around.project.as_deref(), text.as_deref());
        let folders = trust.folders().unwrap_or_else(|error| {
            tracing::error!("{error:#}");
            BTreeMap::new()
        });
        let trusted = |origin: &Origin| match &origin.scope {
            Scope::Project(folder) => {
                let hash = self.projects.get(folder);
                hash.is_some() && folders.get(folder) == hash
            }
            Scope::Managed | Scope::User | Scope::Local(_) => true,
        };
        let merged = merge(&self.found, &trusted);
        let mut notes = Vec::new();
        // What is trusted comes first: nobody else takes its name.
        let mut kinds: [Candidates; 4] = Default::default();
        for server in project {
            let kind = if trusted(&server.origin) { 0 } else { 2 };
            if let Some(kind) = kinds.get_mut(kind) {
                kind.push((server, Vec::new()));
            }
        }
        for choice in merged.servers.into_values() {
            let name = &choice.server.name;
            notes.extend(choice.notes.into_iter().map(|note| (name.clone(), note)));
            let kind = if choice.trusted { 1 } else { 3 };
            if let Some(kind) = kinds.get_mut(kind) {
                kind.push((choice.server, choice.also));
            }
        }
        for (kind, candidates) in kinds.into_iter().enumerate() {
            for (mut server, also) in candidates {
                if let (2.., Scope::Project(folder)) = (kind, &server.origin.scope) {
                    server.untrusted = Some(folder.clone());
                }
                let origins = std::iter::once(&server.origin).chain(&also);
                server.from = origins.filter_map(|origin| origin.client).collect();
                self.take(server);
            }
        }
        self.overridden.extend(merged.overridden);
        self.notes.extend(notes);
    }

    /// Takes a server, unless its name stands for another already.
    ///
    /// One that is reached in the same way as another is that one, and is not shown a
    /// second time under its own name. That is so for an adapted component, too: whoever
    /// puts one in front of an upstream wants its tools in place of the upstream's, and
    /// not beside them. It is so whether the other is on or off: what its user has
    /// switched off does not come back under another name. What is not trusted takes
    /// nobody's place.
    fn take(&mut self, server: ServerConfig) {
        let launch = |server: &ServerConfig| {
            let bridge = server.bridge()?;
            Some(Fingerprint::of(&bridge.launch))
        };
        let same = launch(&server);
        let twin = self
            .servers
            .values_mut()
            .find(|other| same.is_some() && launch(other) == same && other.untrusted.is_none());
        if let Some(twin) = twin {
            if twin.name != server.name {
                let note = format!(
                    "it is the same as `{}` of {}, which is not shown a second time",
                    server.name, server.origin
                );
                self.notes.push((twin.name.clone(), note));
            }
            twin.from.extend(server.from);
            return;
        }
        if let Some(other) = self.servers.get(&server.name) {
            self.overridden.push(Overridden {
                name: server.name,
                origin: server.origin,
                by: other.origin.clone(),
            });
            return;
        }
        self.servers.insert(server.name.clone(), server);
    }

    /// The servers in the project's own file, and its text.
    fn project(&mut self, around: &Surroundings) -> (Vec<ServerConfig>, Option<String>) {
        let Some(folder) = &around.project else {
            return (Vec::new(), None);
        };
        let path = folder.join(PROJECT);
        self.project_file = Some(path.clone());
        let text = match file::read(&path) {
            Ok(text) => text,
            Err(error) => {
                tracing::warn!("{error:#}");
                None
            }
        };
        let Some(text) = text else {
            return (Vec::new(), None);
        };
        let (config, problems) = file::parse(&path, &text);
        self.problems = problems;
        let servers = config.servers.into_values().map(|mut server| {
            server.origin.scope = Scope::Project(folder.clone());
            server
        });
        (servers.collect(), Some(text))
    }

    /// The projects that have servers, each with the hash of all that its files say
    /// of them.
    #[must_use]
    pub fn projects(&self) -> &BTreeMap<PathBuf, String> {
        &self.projects
    }

    /// The files that servers were looked for in, whether they exist or not.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let own = self.project_file.iter();
        own.chain(self.found.sources.iter().map(|source| &source.file))
    }

    /// Trusts a project with what its files say now. False where it was trusted
    /// already.
    ///
    /// # Errors
    /// It has no servers, or that cannot be kept.
    pub fn trust(&self, trust: &Trust, project: &Path) -> anyhow::Result<bool> {
        let hash = self.projects.get(project).with_context(|| {
            format!(
                "`{}` has no file with MCP servers, so there is nothing to trust\n\
                 hint: `dormouse doctor` lists the files that are looked for",
                project.display()
            )
        })?;
        trust.grant(project, hash)
    }
}

/// The hash of each project's files: of its clients' ones, and of its own one.
fn hashes(
    found: &Discovery,
    project: Option<&Path>,
    own: Option<&str>,
) -> BTreeMap<PathBuf, String> {
    let mut hashes: BTreeMap<PathBuf, String> = found
        .projects()
        .map(|(folder, content)| (folder.to_owned(), content.to_string()))
        .collect();
    if let (Some(project), Some(own)) = (project, own) {
        let clients = hashes.entry(project.to_owned()).or_default();
        let own = blake3::hash(own.as_bytes()).to_hex();
        *clients = blake3::hash(format!("{clients} {own}").as_bytes())
            .to_hex()
            .to_string();
    }
    hashes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Adapter;

    /// What is there with a text in `dormouse.toml`, where Cursor has a server `git`
    /// and another one.
    fn with(own: &str) -> Configured {
        let home = tempfile::tempdir().unwrap();
        let cursor = home.path().join(".cursor");
        std::fs::create_dir(&cursor).unwrap();
        let text = r#"{"mcpServers": {
            "git": {"command": "npx", "args": ["git"]},
            "web": {"url": "https://example.com/mcp"}
        }}"#;
        std::fs::write(cursor.join("mcp.json"), text).unwrap();
        let around = Surroundings::new(home.path().to_owned(), [].into(), None);
        let (config, problems) = file::parse(Path::new("/d/dormouse.toml"), own);
        assert!(problems.is_empty(), "{problems:?}");
        let trust = Trust::new(&home.path().join("data"));
        Configured::new(config, Some(&around), &trust)
    }

    fn names(all: &Configured) -> Vec<&str> {
        all.servers.keys().map(String::as_str).collect()
    }

    #[test]
    fn one_that_is_reached_in_the_same_way_is_the_same() {
        for own in [
            "[servers.mine]\ncommand = [\"npx\", \"git\"]",
            "[servers.mine]\ncomponent = \"git.wasm\"\ncommand = [\"npx\", \"git\"]",
            "[servers.mine]\ncommand = [\"npx\", \"git\"]\nenabled = false",
            "[servers.git]\ncomponent = \"git.wasm\"\ncommand = [\"npx\", \"git\"]",
        ] {
            let all = with(own);
            let name = if own.contains("mine") { "mine" } else { "git" };
            assert_eq!(names(&all), [name, "web"], "{own}");
            let server = &all.servers[name];
            assert_eq!(server.from, [Client::Cursor]);
            assert_eq!(server.component().is_some(), own.contains("component"));
            // Somebody who looks for `git` is told where it is.
            let told = all
                .notes
                .iter()
                .any(|(of, note)| of == "mine" && note.contains("`git`"));
            assert_eq!(told, name == "mine", "{own}");
        }
    }

    #[test]
    fn one_that_is_reached_in_another_way_is_another() {
        let all = with(
            "[servers.mine]\ncomponent = \"git.wasm\"\ncommand = [\"npx\", \"git\", \"-v\"]\n\
             [servers.web]\ncomponent = \"web.wasm\"",
        );
        assert_eq!(names(&all), ["git", "mine", "web"]);
        // A plugin has no upstream, so that only its name can be another's.
        assert!(matches!(all.servers["web"].adapter, Adapter::Plugin(_)));
        assert_eq!(all.overridden.len(), 1);
    }
}
