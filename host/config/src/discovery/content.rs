//! Content of a project's files, as one hash: what a user trusts.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// Hash over all files of a project that its servers are made of, as hexadecimal digits. A change
/// of any of them, a removed one and a new one make another hash, but for what nobody reads of the
/// settings of clients; the project's place does not.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash(String);

/// Hashes over the files of a project, from the fewest files to all of them. They are the same
/// where there are no more files, and none where there are no files at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectContent {
    /// Hash over the files that servers are written in: known before any file is opened that these
    /// name.
    pub own_files: Option<ContentHash>,
    /// Hash over these, and the files that the project's servers are filled in from.
    pub with_filled_in: Option<ContentHash>,
    /// Hash over these, and the files that servers of the user's are filled in from.
    pub with_users_servers: Option<ContentHash>,
    /// Digits that tell the content of each single file, by its path within the project.
    pub(crate) files: BTreeMap<PathBuf, String>,
    /// Whether a file was not the same at two looks, so that its servers are made of what none of
    /// the hashes stands for.
    pub changed: bool,
}

/// Number of digits of a file's hash that tell which file has changed. Nothing is trusted for these.
const DIGITS: usize = 16;

impl ContentHash {
    pub(super) fn of(project: &Path, files: &BTreeMap<PathBuf, blake3::Hash>) -> Self {
        let mut hasher = blake3::Hasher::new();
        for (file, hash) in files {
            let name = file.strip_prefix(project).unwrap_or(file);
            let name = name.as_os_str().as_encoded_bytes();
            // The length keeps a name and the hash behind it apart.
            hasher.update(&(name.len() as u64).to_le_bytes());
            hasher.update(name);
            hasher.update(hash.as_bytes());
        }
        Self(hasher.finalize().to_hex().to_string())
    }

    /// Returns digits that tell the content of one file from others.
    pub(crate) fn of_file(name: &Path, hash: blake3::Hash) -> String {
        let files = BTreeMap::from([(name.to_owned(), hash)]);
        Self::of(Path::new(""), &files)
            .0
            .chars()
            .take(DIGITS)
            .collect()
    }

    /// Returns the digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
