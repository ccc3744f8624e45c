//! The named profiles of VS Code, which has a file of servers and of settings for
//! each of them, beside those of its default one.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::document::{self, DocumentValue, Node};
use super::files;
use super::places::Syntax;
use super::project_folder::ProjectFolder;

/// A named profile.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ClientProfile {
    /// Name that the user has given the profile; its folder's name where that is nowhere to be
    /// found.
    pub(super) name: String,
    pub(super) folder: PathBuf,
    /// Whether the profile has servers of its own, and not those of the default profile.
    pub(super) own_servers: bool,
    /// Whether the profile has settings of its own.
    pub(super) own_settings: bool,
}

/// Returns the folder and the file by which the profiles below a `User` folder are found.
pub(super) fn read(user: &Path, project: Option<&ProjectFolder>) -> Vec<PathBuf> {
    let folder = user.join(FOLDER);
    // Most have no profiles: the file, beside which VS Code writes all the while, says nothing then.
    let has_profiles = may_look(&folder, project) && folder.is_dir();
    let file = has_profiles.then(|| user.join(STORAGE));
    std::iter::once(folder).chain(file).collect()
}

/// Folder of the profiles.
const FOLDER: &str = "profiles";

/// File in which VS Code remembers them.
const STORAGE: &str = "globalStorage/storage.json";

/// Whether a file or folder of the user's may be looked at: not where it leads into the folder of the project
/// that is worked in, and out of it by a link there.
fn may_look(path: &Path, project: Option<&ProjectFolder>) -> bool {
    project.is_none_or(|project| !project.is_passed_by(path))
}

/// Returns the profiles below a `User` folder, in the order in which VS Code lists them.
pub(super) fn of(user: &Path, project: Option<&ProjectFolder>) -> Vec<ClientProfile> {
    let folder = user.join(FOLDER);
    if !may_look(&folder, project) {
        return Vec::new();
    }
    // Most have none, and need not have what VS Code remembers read for that.
    let Ok(entries) = std::fs::read_dir(&folder) else {
        return Vec::new();
    };
    let entries = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut others: BTreeSet<PathBuf> = entries
        .filter(|path| may_look(path, project) && path.is_dir())
        .collect();
    let mut profiles = listed(user, &folder, project);
    for profile in &profiles {
        others.remove(&profile.folder);
    }
    let others = others.into_iter().filter_map(|folder| {
        Some(ClientProfile {
            name: folder.file_name()?.to_string_lossy().into_owned(),
            folder,
            own_servers: true,
            own_settings: true,
        })
    });
    profiles.extend(others);
    profiles
}

/// Returns the profiles that VS Code remembers. A file that cannot be read loses their names, and
/// nothing else.
fn listed(user: &Path, folder: &Path, project: Option<&ProjectFolder>) -> Vec<ClientProfile> {
    let file = user.join(STORAGE);
    if !may_look(&file, project) {
        return Vec::new();
    }
    let bytes = files::read_of_user(&file, files::CONFIGURATION)
        .ok()
        .flatten();
    let text = bytes.and_then(|bytes| files::text(bytes).ok());
    let root = text.and_then(|text| document::parse(&text, Syntax::Json).ok());
    let Some(root) = root else {
        return Vec::new();
    };
    let profiles = root.get("userDataProfiles").map(Node::items);
    let profiles = profiles.unwrap_or_default().iter().filter_map(|profile| {
        let location = Path::new(profile.get("location")?.text()?);
        // It is a folder in the one of profiles, or one in such a folder.
        let mut parts = location.components();
        if !parts.all(|part| matches!(part, Component::Normal(_))) {
            return None;
        }
        let shared = |what: &str| {
            let flag = profile
                .get("useDefaultFlags")
                .and_then(|flags| flags.get(what));
            flag.is_some_and(|flag| flag.value == DocumentValue::Bool(true))
        };
        Some(ClientProfile {
            name: profile.get("name")?.text()?.to_owned(),
            folder: folder.join(location),
            own_servers: !shared("mcp"),
            own_settings: !shared("settings"),
        })
    });
    profiles.collect()
}
