//! Places where clients keep their MCP servers: the files, and the keys in them.
//!
//! The only knowledge of paths is here, for reading those files and for editing them.

use std::path::{Path, PathBuf};

use dormouse_files::replace::is_temporary;

use super::Surroundings;
use super::profiles::{self, Profile};
use crate::project_path::leads_out;
use crate::{Client, Scope};

/// Place where a client keeps servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Scope of the servers there.
    pub scope: Scope,
    /// The profile of the client that the place is for, where it is for one alone.
    pub profile: Option<String>,
    /// The edition of the client that reads the place, where each has places of its own.
    pub edition: Option<&'static str>,
    /// The file; it need not exist.
    pub file: PathBuf,
    /// Shape of the servers in the file.
    pub shape: Shape,
}

/// Shape of a client's servers in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// The language of the file.
    pub syntax: Syntax,
    /// The keys that lead from the top of the document to the servers. Each is one
    /// key, whatever is in it: Amp's is literally `amp.mcpServers`.
    pub keys: Vec<String>,
    /// Whether the servers are a list, each with a `name`, and not a table by name.
    pub list: bool,
}

/// The language of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// JSON; comments and trailing commas are allowed where the client allows them,
    /// and are read everywhere.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

impl Syntax {
    /// Returns the language of a file, by its name.
    #[must_use]
    pub fn of(file: &Path) -> Self {
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("toml") => Self::Toml,
            Some("yaml" | "yml") => Self::Yaml,
            _ => Self::Json,
        }
    }
}

/// The variables with which users move their clients' files.
pub(super) const VARIABLES: [&str; 8] = [
    "AMP_SETTINGS_FILE",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "CONTINUE_GLOBAL_DIR",
    "COPILOT_HOME",
    "GEMINI_CLI_HOME",
    "GOOSE_PATH_ROOT",
    "OPENCODE_CONFIG",
];

/// The files and folders in a project's folder that make it one.
pub(super) const PROJECT_MARKS: [&str; 17] = [
    ".mcp.json",
    ".copilot/mcp-config.json",
    ".github/mcp-config.json",
    ".github/mcp.json",
    ".vscode/mcp.json",
    ".cursor/mcp.json",
    "opencode.json",
    "opencode.jsonc",
    ".opencode/opencode.json",
    ".opencode/opencode.jsonc",
    ".codex/config.toml",
    ".gemini/settings.json",
    ".zed/settings.json",
    ".continue/mcpServers",
    ".amp/settings.json",
    ".amp/settings.jsonc",
    "dormouse.toml",
];

impl Shape {
    fn table(syntax: Syntax, keys: &[&str]) -> Self {
        Self {
            syntax,
            keys: keys.iter().map(|key| (*key).to_owned()).collect(),
            list: false,
        }
    }

    fn json(keys: &[&str]) -> Self {
        Self::table(Syntax::Json, keys)
    }
}

/// Returns the places of a client, those that win over others last. Where two of them have a server
/// of one name, the client takes that of the later.
///
/// Only Continue's folders and those of VS Code's profiles are looked into here, because they may
/// have any name; callers find out whether the other files exist.
#[must_use]
pub fn files(client: Client, around: &Surroundings) -> Vec<Place> {
    let mut places = Places {
        around,
        places: Vec::new(),
    };
    match client {
        Client::ClaudeCode => places.claude_code(),
        Client::ClaudeDesktop => {
            let folder = around.app_data.join("Claude");
            places.user(folder.join("claude_desktop_config.json"), mcp_servers());
        }
        Client::Copilot => places.copilot(),
        Client::VsCode => places.vscode(),
        Client::Cursor => {
            places.user(around.home.join(".cursor/mcp.json"), mcp_servers());
            places.project(".cursor/mcp.json", mcp_servers());
        }
        Client::OpenCode => places.opencode(),
        Client::Codex => {
            let folder = places.folder("CODEX_HOME", ".codex");
            let shape = Shape::table(Syntax::Toml, &["mcp_servers"]);
            places.user(folder.join("config.toml"), shape.clone());
            places.project(".codex/config.toml", shape);
        }
        Client::Gemini => places.gemini(),
        Client::Zed => places.zed(),
        Client::Windsurf => {
            let folder = around.home.join(".codeium/windsurf");
            places.user(folder.join("mcp_config.json"), mcp_servers());
        }
        Client::Continue => places.continue_dev(),
        Client::Amp => places.amp(),
        Client::Forge => {
            places.user(around.home.join("forge/.mcp.json"), mcp_servers());
            places.project(".mcp.json", mcp_servers());
        }
        Client::ChatMd => {
            let shape = Shape::json(&["chatmd.mcpServers"]);
            places.code("settings.json", &shape, |profile| profile.own_settings);
            places.project(".vscode/settings.json", shape);
        }
        Client::Goose => {
            let shape = Shape::table(Syntax::Yaml, &["extensions"]);
            places.user(goose_folder(around).join("config.yaml"), shape);
        }
    }
    places.places
}

/// Returns the user's folders in which a client looks for files of any name that name servers, or
/// keeps files that say which of these count.
pub(crate) fn folders(client: Client, around: &Surroundings) -> Vec<PathBuf> {
    match client {
        Client::VsCode | Client::ChatMd => code_folders(&around.app_data)
            .iter()
            .flat_map(|(_, user)| ["profiles", "globalStorage"].map(|name| user.join(name)))
            .collect(),
        Client::Continue => vec![continue_folder(around).join("mcpServers")],
        Client::Gemini => vec![gemini_folder(around).join(POLICIES)],
        _ => Vec::new(),
    }
}

/// Folder of rules in a folder of Gemini's.
const POLICIES: &str = "policies";

/// Returns the user's folder of Gemini, which is in their home, or in another folder that they have
/// named.
pub(super) fn gemini_folder(around: &Surroundings) -> PathBuf {
    let home = around.path("GEMINI_CLI_HOME");
    home.unwrap_or_else(|| around.home.clone()).join(".gemini")
}

/// Returns the folders of Gemini's rules, that of the user's and that of administrators.
pub(super) fn gemini_policies(around: &Surroundings) -> [(Scope, PathBuf); 2] {
    let system = gemini_system(around);
    [
        (Scope::User, gemini_folder(around).join(POLICIES)),
        (Scope::Managed, system.join(POLICIES)),
    ]
}

/// Returns the folder in which administrators configure Gemini.
fn gemini_system(around: &Surroundings) -> PathBuf {
    let own_case = cfg!(any(windows, target_os = "macos"));
    around.system.join(match own_case {
        true => "GeminiCli",
        false => "gemini-cli",
    })
}

/// Returns the folder of Goose's configuration.
pub(super) fn goose_folder(around: &Surroundings) -> PathBuf {
    if let Some(root) = around.path("GOOSE_PATH_ROOT") {
        return root.join("config");
    }
    match cfg!(windows) {
        true => around.app_data.join(r"Block\goose\config"),
        false => around.config_home.join("goose"),
    }
}

/// The file of servers that administrators give to Claude Code, which then takes no
/// others.
pub(super) const CLAUDE_CODE_MANAGED: &str = "managed-mcp.json";

/// Returns the folder in which administrators configure Claude Code.
pub(super) fn claude_code_managed(around: &Surroundings) -> PathBuf {
    let own_case = cfg!(any(windows, target_os = "macos"));
    around.system.join(match own_case {
        true => "ClaudeCode",
        false => "claude-code",
    })
}

/// Returns the shape that most clients have taken over from the first one.
fn mcp_servers() -> Shape {
    Shape::json(&["mcpServers"])
}

/// Returns the editions of VS Code, the insiders' and the release, each with the folder of its
/// users' settings.
fn code_folders(app_data: &Path) -> [(&'static str, PathBuf); 2] {
    ["Code - Insiders", "Code"].map(|edition| (edition, app_data.join(edition).join("User")))
}

/// Returns a client's own folder: the one that a variable names, or one in the user's home.
pub(super) fn own_folder(around: &Surroundings, variable: &str, in_home: &str) -> PathBuf {
    let named = around.path(variable);
    named.unwrap_or_else(|| around.home.join(in_home))
}

/// Returns the user's own folder of Continue.
pub(super) fn continue_folder(around: &Surroundings) -> PathBuf {
    own_folder(around, "CONTINUE_GLOBAL_DIR", ".continue")
}

/// Places that are being collected.
struct Places<'a> {
    around: &'a Surroundings,
    places: Vec<Place>,
}

impl Places<'_> {
    fn add(&mut self, scope: Scope, file: PathBuf, shape: Shape) {
        self.places.push(Place {
            scope,
            profile: None,
            edition: None,
            file,
            shape,
        });
    }

    fn user(&mut self, file: PathBuf, shape: Shape) {
        self.add(Scope::User, file, shape);
    }

    /// Adds a file in the project's folder, where there is a project.
    fn project(&mut self, file: &str, shape: Shape) {
        if let Some(project) = &self.around.project {
            let file = project.join(file);
            self.add(Scope::Project(project.clone()), file, shape);
        }
    }

    fn folder(&self, variable: &str, in_home: &str) -> PathBuf {
        own_folder(self.around, variable, in_home)
    }

    /// Adds Claude Code's places. Managed servers are read last, but they do more than win by name:
    /// where their file exists, Claude Code takes servers from nowhere else.
    fn claude_code(&mut self) {
        let home = &self.around.home;
        let (own, folder) = match self.around.path("CLAUDE_CONFIG_DIR") {
            Some(folder) => (folder.join(".claude.json"), folder),
            None => (home.join(".claude.json"), home.join(".claude")),
        };
        self.user(folder.join(".mcp.json"), mcp_servers());
        self.user(own.clone(), mcp_servers());
        self.project(".mcp.json", mcp_servers());
        // A folder need not be marked as a project's to have servers there.
        // The key is a text: a folder whose path is none has no key of its own.
        let folder = self.around.project.as_ref().or(self.around.folder.as_ref());
        if let Some((folder, key)) = folder.and_then(|folder| Some((folder, folder.to_str()?))) {
            let keys = ["projects", key, "mcpServers"];
            self.add(Scope::Local(folder.clone()), own, Shape::json(&keys));
        }
        let managed = claude_code_managed(self.around).join(CLAUDE_CODE_MANAGED);
        self.add(Scope::Managed, managed, mcp_servers());
    }

    fn copilot(&mut self) {
        let folder = self.folder("COPILOT_HOME", ".copilot");
        self.user(
            self.around.home.join(".github/mcp-config.json"),
            mcp_servers(),
        );
        self.user(folder.join("mcp-config.json"), mcp_servers());
        for file in [
            ".copilot/mcp-config.json",
            ".github/mcp-config.json",
            ".github/mcp.json",
            ".mcp.json",
        ] {
            self.project(file, mcp_servers());
        }
    }

    fn vscode(&mut self) {
        let shape = Shape::json(&["servers"]);
        self.code("mcp.json", &shape, |profile| profile.own_servers);
        self.project(".vscode/mcp.json", shape);
    }

    /// Adds a file that each profile of VS Code has for itself. Only VS Code's windows know which
    /// of them is in use, so all are read; where two have a server of one name, the default
    /// profile's counts, then that of the first in the list.
    fn code(&mut self, file: &str, shape: &Shape, is_own: fn(&Profile) -> bool) {
        for (edition, folder) in code_folders(&self.around.app_data) {
            let all = profiles::of(&folder).into_iter().rev();
            let named = all.filter(is_own);
            let named = named.map(|profile| (profile.folder, Some(profile.name)));
            for (folder, profile) in named.chain([(folder.clone(), None)]) {
                self.places.push(Place {
                    scope: Scope::User,
                    profile,
                    edition: Some(edition),
                    file: folder.join(file),
                    shape: shape.clone(),
                });
            }
        }
    }

    fn opencode(&mut self) {
        let shape = Shape::json(&["mcp"]);
        let folder = self.around.config_home.join("opencode");
        for file in ["config.json", "opencode.json", "opencode.jsonc"] {
            self.user(folder.join(file), shape.clone());
        }
        if let Some(file) = self.around.path("OPENCODE_CONFIG") {
            self.user(file, shape.clone());
        }
        for file in [
            "opencode.json",
            "opencode.jsonc",
            ".opencode/opencode.json",
            ".opencode/opencode.jsonc",
        ] {
            self.project(file, shape.clone());
        }
    }

    fn gemini(&mut self) {
        let folder = gemini_system(self.around);
        self.add(
            Scope::Managed,
            folder.join("system-defaults.json"),
            mcp_servers(),
        );
        self.user(
            gemini_folder(self.around).join("settings.json"),
            mcp_servers(),
        );
        self.project(".gemini/settings.json", mcp_servers());
        self.add(Scope::Managed, folder.join("settings.json"), mcp_servers());
    }

    fn zed(&mut self) {
        let shape = Shape::json(&["context_servers"]);
        let folder = if cfg!(windows) {
            self.around.app_data.join("Zed")
        } else {
            self.around.config_home.join("zed")
        };
        self.user(folder.join("settings.json"), shape.clone());
        self.project(".zed/settings.json", shape);
    }

    fn amp(&mut self) {
        let shape = Shape::json(&["amp.mcpServers"]);
        match self.around.path("AMP_SETTINGS_FILE") {
            Some(file) => self.user(file, shape.clone()),
            None => {
                let folder = self.around.config_home.join("amp");
                self.user(folder.join("settings.json"), shape.clone());
                self.user(folder.join("settings.jsonc"), shape.clone());
            }
        }
        self.project(".amp/settings.json", shape.clone());
        self.project(".amp/settings.jsonc", shape);
    }

    /// Adds Continue's places. The user's own file wins over blocks, which are files of any name.
    fn continue_dev(&mut self) {
        let folder = continue_folder(self.around);
        let list = Shape {
            list: true,
            ..Shape::table(Syntax::Yaml, &["mcpServers"])
        };
        for (file, shape) in blocks(&folder.join("mcpServers"), &list) {
            self.user(file, shape);
        }
        self.user(folder.join("config.yaml"), list.clone());
        if let Some(project) = &self.around.project {
            let folder = project.join(".continue/mcpServers");
            // Whoever has written the project decides where it leads to.
            if !leads_out(project, &folder) {
                for (file, shape) in blocks(&folder, &list) {
                    self.add(Scope::Project(project.clone()), file, shape);
                }
            }
        }
    }
}

/// Most files that are looked at in a folder of Continue's blocks.
const MAX_BLOCKS: usize = 200;

/// Returns the files in a folder of Continue's blocks, in the order of their names: YAML of its
/// own, and JSON as other clients write it.
fn blocks(folder: &Path, list: &Shape) -> Vec<(PathBuf, Shape)> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<_> = entries
        .take(MAX_BLOCKS)
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|file| !is_temporary(file))
        .filter_map(|file| {
            let shape = match file.extension()?.to_str()? {
                "yaml" | "yml" => list.clone(),
                "json" => mcp_servers(),
                _ => return None,
            };
            Some((file, shape))
        })
        .collect();
    files.sort_by(|(one, _), (other, _)| one.cmp(other));
    files
}
