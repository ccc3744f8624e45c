//! Folders whose servers their user has said to trust.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// Record of the folders that their user trusts, whoever keeps it.
pub trait TrustedFolders {
    /// Returns the trusted folders, each with the hashes of its content when its user looked at it.
    ///
    /// # Errors
    /// The record is there, and cannot be read. Nothing is trusted then.
    fn folders(&self) -> anyhow::Result<BTreeMap<PathBuf, String>>;
}

/// Stand-in for the record, for tests: a file that each look reads.
#[cfg(test)]
#[derive(Debug)]
pub(crate) struct TestTrust(PathBuf);

#[cfg(test)]
impl TestTrust {
    /// Makes the record in a folder, which need not exist yet.
    pub(crate) fn new(folder: &std::path::Path) -> Self {
        Self(folder.join("trust.json"))
    }

    /// Trusts a folder with a content.
    pub(crate) fn grant(&self, folder: &std::path::Path, content: &str) -> anyhow::Result<()> {
        let mut folders = self.folders()?;
        folders.insert(folder.to_owned(), content.to_owned());
        std::fs::create_dir_all(self.0.parent().unwrap())?;
        Ok(std::fs::write(&self.0, serde_json::to_string(&folders)?)?)
    }
}

#[cfg(test)]
impl TrustedFolders for TestTrust {
    fn folders(&self) -> anyhow::Result<BTreeMap<PathBuf, String>> {
        match std::fs::read_to_string(&self.0) {
            Ok(text) => Ok(serde_json::from_str(&text)?),
            Err(_) => Ok(BTreeMap::new()),
        }
    }
}
