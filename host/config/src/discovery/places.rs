//! Places where clients keep their MCP servers: the files, and the keys in them.
//!
//! The only knowledge of paths is here, for reading those files and for editing them.

mod of_client;

use std::path::{Path, PathBuf};

use dormouse_files::replace::is_temporary;

use self::of_client::ClientPlaces;
use super::Surroundings;
use super::profiles::{self, ClientProfile};
use super::project_folder::ProjectFolder;
use crate::project::project_path::leads_out;
use crate::{Client, Scope};

/// Place where a client keeps servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientPlace {
    /// Scope of the servers there.
    pub scope: Scope,
    /// The profile of the client that the place is for, where it is for one alone.
    pub profile: Option<String>,
    /// The edition of the client that reads the place, where each has places of its own.
    pub edition: Option<&'static str>,
    /// The file; it need not exist.
    pub file: PathBuf,
    /// Shape of the servers in the file.
    pub shape: FileShape,
}

/// Shape of a client's servers in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileShape {
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
pub(crate) const PROJECT_MARKS: [&str; 17] = [
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

impl FileShape {
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
pub fn files(client: Client, around: &Surroundings) -> Vec<ClientPlace> {
    let mut places = ClientPlaces {
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
            let shape = FileShape::table(Syntax::Toml, &["mcp_servers"]);
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
            let shape = FileShape::json(&["chatmd.mcpServers"]);
            places.code("settings.json", &shape, |profile| profile.own_settings);
            places.project(".vscode/settings.json", shape);
        }
        Client::Goose => {
            let shape = FileShape::table(Syntax::Yaml, &["extensions"]);
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

/// Returns the folders that are listed, and the files that are read, to find the user's places of a
/// client.
pub(crate) fn read(client: Client, around: &Surroundings) -> Vec<PathBuf> {
    match client {
        Client::VsCode | Client::ChatMd => {
            let project = ProjectFolder::of(around);
            let folders = code_folders(&around.app_data).into_iter();
            folders
                .flat_map(|(_, user)| profiles::read(&user, project.as_ref()))
                .collect()
        }
        // Each of their folders is listed.
        _ => folders(client, around),
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
fn mcp_servers() -> FileShape {
    FileShape::json(&["mcpServers"])
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
