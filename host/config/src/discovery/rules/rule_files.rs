//! Files in which clients keep rules for their servers, apart from the servers themselves.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use dormouse_files::replace::is_temporary;

use crate::discovery::Surroundings;
use crate::discovery::formats::{claude_code, copilot, cursor, gemini, goose};
use crate::discovery::library::LoadedFile;
use crate::discovery::places;
use crate::discovery::search::ClientSearch;
use crate::discovery::settle::{OFF, exclude};
use crate::file::leads_nowhere;
use crate::{Client, Scope};

/// Most files of a folder of rules that are read.
const MAX_FILES: usize = 200;

/// Returns the files of rules of a client.
pub(crate) fn rule_files(client: Client, around: &Surroundings) -> Vec<(Scope, PathBuf)> {
    let mut files = Vec::new();
    match client {
        Client::ClaudeCode => return claude_code::settings(around),
        Client::Gemini => {
            let own = places::gemini_folder(around);
            files.push((Scope::User, own.join("mcp-server-enablement.json")));
            for (scope, folder) in places::gemini_policies(around) {
                let policies = in_folder(&folder, "toml").into_iter();
                files.extend(policies.map(|file| (scope.clone(), file)));
            }
        }
        Client::Goose => {
            let file = places::goose_folder(around).join("permission.yaml");
            files.push((Scope::User, file));
        }
        Client::Cursor => {
            let folders = [
                around.home.join(".cursor"),
                around.config_home.join("cursor"),
            ];
            let of_user = folders.map(|folder| (Scope::User, folder.join("cli-config.json")));
            files.extend(of_user);
        }
        Client::Copilot => {
            let folder = places::own_folder(around, "COPILOT_HOME", ".copilot");
            let files_there = ["config.json", "settings.json"].map(|file| folder.join(file));
            files.extend(files_there.map(|file| (Scope::User, file)));
        }
        Client::Continue => {
            let file = places::continue_folder(around).join("permissions.yaml");
            files.push((Scope::User, file));
        }
        _ => {}
    }
    files
}

/// Returns the files in a folder whose names end like this, sorted: the folder itself, which cannot
/// be read as a file, where there are too many or it cannot be listed, so that nobody knows what
/// they deny.
pub(in crate::discovery) fn in_folder(folder: &Path, end: &str) -> Vec<PathBuf> {
    let unread = || vec![folder.to_owned()];
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        // Also a link to nothing is there.
        Err(error) if error.kind() == ErrorKind::NotFound && !leads_nowhere(folder) => {
            return Vec::new();
        }
        Err(_) => return unread(),
    };
    let is_rules = |file: &PathBuf| {
        file.extension().is_some_and(|extension| extension == end) && !is_temporary(file)
    };
    let mut files = Vec::new();
    for entry in entries {
        let Ok(entry) = entry else { return unread() };
        files.extend(Some(entry.path()).filter(is_rules));
        if files.len() > MAX_FILES {
            return unread();
        }
    }
    files.sort();
    files
}

impl ClientSearch<'_> {
    /// Reads the files of rules of the client, and applies those that name its servers. Claude
    /// Code's are settings that have more in them, and are read as such.
    pub(in crate::discovery) fn apply_rule_files(&mut self) {
        if self.client == Client::ClaudeCode {
            return;
        }
        for (scope, file) in rule_files(self.client, self.around) {
            let loaded = self.open_rules(&scope, &file);
            self.add_source(&scope, None, &file, &loaded, 0, Vec::new());
            self.apply_rules(&loaded);
            self.documents.push((scope, loaded));
        }
    }

    fn apply_rules(&mut self, loaded: &LoadedFile) {
        let Some(root) = loaded.root() else {
            return;
        };
        for found in &mut self.found {
            let name = &found.written_name;
            match self.client {
                Client::Gemini if gemini::is_switched_off(root, name) => {
                    found.server.enabled = false;
                    let note = format!("{OFF}`gemini mcp disable` has switched it off");
                    found.notes.push(note);
                }
                Client::Copilot if copilot::is_disabled(root, name) => {
                    found.server.enabled = false;
                    let note = format!("{OFF}`disabledMcpServers` names it");
                    found.notes.push(note);
                }
                Client::Goose => {
                    let denied = goose::denied(root, name);
                    self.library.restrict(found, |found| exclude(found, denied));
                }
                Client::Cursor => {
                    let denied = cursor::denied(root, name);
                    self.library.restrict(found, |found| exclude(found, denied));
                }
                _ => {}
            }
        }
    }
}
