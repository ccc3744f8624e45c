//! Files in which clients keep rules for their servers, apart from the servers themselves.

use std::path::{Path, PathBuf};

use dormouse_files::replace::is_temporary;

use super::Surroundings;
use super::formats::{claude_code, copilot, cursor, gemini, goose};
use super::library::Loaded;
use super::places;
use super::search::Search;
use super::settle::{OFF, exclude};
use crate::{Client, Scope};

/// Most files of a folder of rules that are read.
const MAX_FILES: usize = 200;

/// Returns the files of rules of a client.
pub(crate) fn rule_files(client: Client, around: &Surroundings) -> Vec<(Scope, PathBuf)> {
    let mut files = Vec::new();
    match client {
        Client::ClaudeCode => return claude_code::settings(around),
        Client::Gemini => {
            let own = around.home.join(".gemini");
            files.push((Scope::User, own.join("mcp-server-enablement.json")));
            for (scope, folder) in places::gemini_policies(around) {
                let policies = in_folder(&folder).into_iter();
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

/// Returns the files of TOML in a folder, sorted: the folder itself where there are too many, which
/// cannot be read, so that nobody knows what they deny.
fn in_folder(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    let is_policy =
        |file: &PathBuf| file.extension().is_some_and(|end| end == "toml") && !is_temporary(file);
    let mut files: Vec<_> = files.filter(is_policy).take(MAX_FILES + 1).collect();
    if files.len() > MAX_FILES {
        return vec![folder.to_owned()];
    }
    files.sort();
    files
}

impl Search<'_> {
    /// Reads the files of rules of the client, and applies those that name its servers. Claude
    /// Code's are settings that have more in them, and are read as such.
    pub(super) fn apply_rule_files(&mut self) {
        if self.client == Client::ClaudeCode {
            return;
        }
        for (scope, file) in rule_files(self.client, self.around) {
            let loaded = self.open_rules(&scope, &file);
            self.add_source((&scope, None), &file, &loaded, (0, Vec::new()));
            self.apply_rules(&loaded);
            self.documents.push((scope, loaded));
        }
    }

    fn apply_rules(&mut self, loaded: &Loaded) {
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
