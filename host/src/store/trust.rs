//! Which projects the user trusts, and with what in their files.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dormouse_config::TrustedFolders;
use dormouse_files::paths;
use dormouse_files::replace::{Access, replace};

/// The folders whose servers may be started, each with the hash of everything that
/// its files said about servers when its user looked at it: if that is another one,
/// the user is asked again.
#[derive(Debug, Clone)]
pub struct Trust {
    file: PathBuf,
}

type Folders = BTreeMap<PathBuf, String>;

impl Trust {
    /// The trust that is kept in a folder, which need not exist yet.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self {
            file: folder.join("trust.json"),
        }
    }

    /// The file that it is kept in.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Trusts a folder with that content. False where it was trusted already.
    ///
    /// # Errors
    /// It cannot be written down.
    pub fn grant(&self, folder: &Path, content: &str) -> anyhow::Result<bool> {
        self.edit(|folders| {
            let before = folders.insert(folder.to_owned(), content.to_owned());
            before.as_deref() != Some(content)
        })
    }

    /// Trusts a folder no longer. False where it was not trusted.
    ///
    /// # Errors
    /// It cannot be written down.
    pub fn revoke(&self, folder: &Path) -> anyhow::Result<bool> {
        self.edit(|folders| folders.remove(folder).is_some())
    }

    fn edit(&self, change: impl FnOnce(&mut Folders) -> bool) -> anyhow::Result<bool> {
        let folder = self.file.parent().unwrap_or(Path::new(""));
        let _lock = paths::lock(&folder.join("trust.lock"))?;
        let mut folders = self.folders()?;
        let changed = change(&mut folders);
        if changed {
            let text = serde_json::to_string_pretty(&folders)?;
            replace(&self.file, text.as_bytes(), Access::Private)
                .with_context(|| format!("`{}` cannot be written", self.file.display()))?;
        }
        Ok(changed)
    }
}

impl TrustedFolders for Trust {
    fn folders(&self) -> anyhow::Result<Folders> {
        let shown = self.file.display();
        let text = match std::fs::read_to_string(&self.file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Folders::new()),
            Err(error) => return Err(error).with_context(|| format!("`{shown}` cannot be read")),
        };
        serde_json::from_str(&text).with_context(|| {
            format!("`{shown}` is damaged, and no project is trusted\nhint: delete it, and run `dormouse trust` in those that you trust")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_trusted_with_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let trust = Trust::new(&folder.path().join("data"));
        let project = Path::new("/work/project");
        assert!(trust.folders().unwrap().is_empty());
        assert!(trust.grant(project, "1").unwrap());
        assert!(!trust.grant(project, "1").unwrap());
        assert!(trust.grant(project, "2").unwrap());
        assert_eq!(trust.folders().unwrap()[project], "2");
        assert!(trust.revoke(project).unwrap());
        assert!(!trust.revoke(project).unwrap());
    }

    #[test]
    fn what_cannot_be_read_trusts_nobody_and_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let trust = Trust::new(folder.path());
        std::fs::write(trust.file(), "{").unwrap();
        assert!(trust.folders().is_err());
        assert!(trust.grant(Path::new("/a"), "1").is_err());
        assert_eq!(std::fs::read_to_string(trust.file()).unwrap(), "{");
    }
}
