//! Places of each client.

use super::*;

/// Places that are being collected.
pub(super) struct ClientPlaces<'a> {
    pub(super) around: &'a Surroundings,
    pub(super) places: Vec<ClientPlace>,
}

impl ClientPlaces<'_> {
    pub(super) fn add(&mut self, scope: Scope, file: PathBuf, shape: FileShape) {
        self.places.push(ClientPlace {
            scope,
            profile: None,
            edition: None,
            file,
            shape,
        });
    }

    pub(super) fn user(&mut self, file: PathBuf, shape: FileShape) {
        self.add(Scope::User, file, shape);
    }

    /// Adds a file in the project's folder, where there is a project.
    pub(super) fn project(&mut self, file: &str, shape: FileShape) {
        if let Some(project) = &self.around.project {
            let file = project.join(file);
            self.add(Scope::Project(project.clone()), file, shape);
        }
    }

    pub(super) fn folder(&self, variable: &str, in_home: &str) -> PathBuf {
        own_folder(self.around, variable, in_home)
    }

    /// Adds Claude Code's places. Managed servers are read last, but they do more than win by name:
    /// where their file exists, Claude Code takes servers from nowhere else.
    pub(super) fn claude_code(&mut self) {
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
            self.add(Scope::Local(folder.clone()), own, FileShape::json(&keys));
        }
        let managed = claude_code_managed(self.around).join(CLAUDE_CODE_MANAGED);
        self.add(Scope::Managed, managed, mcp_servers());
    }

    pub(super) fn copilot(&mut self) {
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

    pub(super) fn vscode(&mut self) {
        let shape = FileShape::json(&["servers"]);
        self.code("mcp.json", &shape, |profile| profile.own_servers);
        self.project(".vscode/mcp.json", shape);
    }

    /// Adds a file that each profile of VS Code has for itself. Only VS Code's windows know which
    /// of them is in use, so all are read; where two have a server of one name, the default
    /// profile's counts, then that of the first in the list.
    pub(super) fn code(
        &mut self,
        file: &str,
        shape: &FileShape,
        is_own: fn(&ClientProfile) -> bool,
    ) {
        let project = ProjectFolder::of(self.around);
        for (edition, folder) in code_folders(&self.around.app_data) {
            let all = profiles::of(&folder, project.as_ref()).into_iter().rev();
            let named = all.filter(is_own);
            let named = named.map(|profile| (profile.folder, Some(profile.name)));
            for (folder, profile) in named.chain([(folder.clone(), None)]) {
                self.places.push(ClientPlace {
                    scope: Scope::User,
                    profile,
                    edition: Some(edition),
                    file: folder.join(file),
                    shape: shape.clone(),
                });
            }
        }
    }

    pub(super) fn opencode(&mut self) {
        let shape = FileShape::json(&["mcp"]);
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

    pub(super) fn gemini(&mut self) {
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

    pub(super) fn zed(&mut self) {
        let shape = FileShape::json(&["context_servers"]);
        let folder = if cfg!(windows) {
            self.around.app_data.join("Zed")
        } else {
            self.around.config_home.join("zed")
        };
        self.user(folder.join("settings.json"), shape.clone());
        self.project(".zed/settings.json", shape);
    }

    pub(super) fn amp(&mut self) {
        let shape = FileShape::json(&["amp.mcpServers"]);
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
    pub(super) fn continue_dev(&mut self) {
        let folder = continue_folder(self.around);
        let list = FileShape {
            list: true,
            ..FileShape::table(Syntax::Yaml, &["mcpServers"])
        };
        let own_blocks = folder.join("mcpServers");
        // A link of the user's may lead into the project, and one of the project's on from there.
        let entered = ProjectFolder::of(self.around);
        if !entered.is_some_and(|project| project.is_passed_by(&own_blocks)) {
            for (file, shape) in blocks(&own_blocks, &list) {
                self.user(file, shape);
            }
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
fn blocks(folder: &Path, list: &FileShape) -> Vec<(PathBuf, FileShape)> {
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
