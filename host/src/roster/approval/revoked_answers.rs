//! Answers for the session that a user takes back.

use std::path::PathBuf;

use dormouse_policy::{FsGrant, FsMode, HttpGrant, real_path};
use serde::{Deserialize, Serialize};

/// Folders, variables, requests and settings that a user takes back from a server, as
/// `dormouse revoke` tells them to running hosts, which answer with those that were given.
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

impl RevokedFolder {
    /// Whether a granted folder is meant.
    pub(super) fn is_of(&self, grant: &FsGrant) -> bool {
        let is_writable = grant.mode == FsMode::ReadWrite;
        let is_path = grant.path == self.path || grant.real_path() == real_path(&self.path);
        is_path && self.is_writable.is_none_or(|meant| meant == is_writable)
    }
}

impl RevokedAnswers {
    /// Whether a granted folder is taken back.
    pub(super) fn has_folder(&self, grant: &FsGrant) -> bool {
        self.all || self.folders.iter().any(|folder| folder.is_of(grant))
    }

    /// Whether a granted variable is taken back.
    pub(super) fn has_variable(&self, name: &str) -> bool {
        self.all || self.variables.iter().any(|own| own == name)
    }

    /// Whether a setting is taken back.
    pub(super) fn has_setting(&self, name: &str) -> bool {
        self.all || self.settings.iter().any(|own| own == name)
    }

    /// Returns those of the requests by which one of these grants is taken back, as they are written.
    pub(super) fn requests_of(&self, taken: &[HttpGrant]) -> Vec<String> {
        let is_meant = |text: &&String| {
            let Ok(meant) = text.parse::<HttpGrant>() else {
                return false;
            };
            // Methods of one grant may be named each by itself.
            let mut taken = taken.iter();
            taken.any(|grant| {
                let (one, other) = (std::slice::from_ref(&meant), std::slice::from_ref(grant));
                grant.is_within(one) || meant.is_within(other)
            })
        };
        self.requests.iter().filter(is_meant).cloned().collect()
    }

    /// Adds others.
    pub fn extend(&mut self, other: Self) {
        self.all |= other.all;
        self.folders.extend(other.folders);
        self.variables.extend(other.variables);
        self.requests.extend(other.requests);
        self.settings.extend(other.settings);
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

    #[test]
    fn requests_are_named_by_which_a_grant_is_taken_back() {
        let texts = |texts: &[&str]| -> Vec<String> {
            texts.iter().map(|text| (*text).to_owned()).collect()
        };
        let answers = RevokedAnswers {
            requests: texts(&["GET https://a.example", "https://b.example", "none"]),
            ..RevokedAnswers::default()
        };
        let named = |grant: &str| answers.requests_of(&[grant.parse().unwrap()]);
        assert_eq!(named("https://b.example/c"), texts(&["https://b.example"]));
        let part = texts(&["GET https://a.example"]);
        assert_eq!(named("GET,POST https://a.example"), part);
        assert_eq!(named("POST https://a.example"), [""; 0]);
        assert_eq!(answers.requests_of(&[]), [""; 0]);
    }
}
