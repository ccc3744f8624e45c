//! Answers for the session that a user takes back.

use std::path::PathBuf;

use dormouse_policy::{FsGrant, FsMode, HttpGrant, real_path};
use serde::{Deserialize, Serialize};

/// Folders, variables, requests and settings that a user takes back from a server, as
/// `dormouse revoke` tells them to running hosts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RevokedAnswers {
    /// Whether all is taken back.
    pub all: bool,
    /// Folders.
    pub folders: Vec<RevokedFolder>,
    /// Names of variables.
    pub variables: Vec<String>,
    /// HTTP requests, as their grants are written.
    pub requests: Vec<String>,
    /// Names of settings, with the folders that they name.
    pub settings: Vec<String>,
}

/// Folder that is taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevokedFolder {
    /// The folder, absolute.
    pub path: PathBuf,
    /// The only access that is meant; none where each is.
    #[serde(default)]
    pub is_writable: Option<bool>,
}

impl RevokedAnswers {
    /// Whether a granted folder is taken back.
    pub(super) fn has_folder(&self, grant: &FsGrant) -> bool {
        let is_writable = grant.mode == FsMode::ReadWrite;
        let is_meant = |folder: &RevokedFolder| {
            let is_path = grant.path == folder.path || grant.real_path() == real_path(&folder.path);
            is_path && folder.is_writable.is_none_or(|meant| meant == is_writable)
        };
        self.all || self.folders.iter().any(is_meant)
    }

    /// Whether a granted variable is taken back.
    pub(super) fn has_variable(&self, name: &str) -> bool {
        self.all || self.variables.iter().any(|own| own == name)
    }

    /// Whether a setting is taken back.
    pub(super) fn has_setting(&self, name: &str) -> bool {
        self.all || self.settings.iter().any(|own| own == name)
    }

    /// Returns the grants of HTTP requests that are taken back. A text that is none takes nothing
    /// back.
    pub(super) fn http(&self) -> Vec<HttpGrant> {
        let requests = self.requests.iter();
        requests.filter_map(|text| text.parse().ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_taken_back_by_its_path_and_by_the_access_that_is_meant() {
        let grant = FsGrant {
            path: "/nonexistent/link".into(),
            real: Some("/nonexistent/notes".into()),
            mode: FsMode::ReadWrite,
        };
        let has = |path: &str, is_writable| {
            let folder = RevokedFolder {
                path: path.into(),
                is_writable,
            };
            let answers = RevokedAnswers {
                folders: vec![folder],
                ..RevokedAnswers::default()
            };
            answers.has_folder(&grant)
        };
        for path in ["/nonexistent/link", "/nonexistent/notes"] {
            assert!(has(path, None) && has(path, Some(true)), "{path}");
            assert!(!has(path, Some(false)), "{path}");
        }
        assert!(!has("/nonexistent", None) && !has("/nonexistent/notes/a", None));
        assert!(!RevokedAnswers::default().has_folder(&grant));
    }
}
