//! Projects that the user trusts, each with the hash of its files' content at that time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dormouse_config::TrustedFolders;
use dormouse_files::regular::read_regular_file;
use dormouse_files::replace::{Access, replace};
use dormouse_files::{ownership, paths};
use dormouse_text::visible::visible_path;

/// Largest file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// Folders whose servers may be started, each with the hash of the content of its files about
/// servers when its user looked at it: if that changes, the user is asked again.
#[derive(Debug, Clone)]
pub struct Trust {
    file: PathBuf,
}

type Folders = BTreeMap<PathBuf, String>;

impl Trust {
    /// Opens the record of trust in a folder, which need not exist yet.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self {
            file: folder.join("trust.json"),
        }
    }

    /// Returns the file of the record.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Trusts a folder with that content. Returns false where it was trusted already.
    ///
    /// # Errors
    /// It cannot be written down.
    pub fn grant(&self, folder: &Path, content: &str) -> anyhow::Result<bool> {
        self.edit(|folders| {
            let before = folders.insert(folder.to_owned(), content.to_owned());
            before.as_deref() != Some(content)
        })
    }

    /// Trusts a folder no longer. Returns false where it was not trusted.
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
                .with_context(|| format!("`{}` cannot be written", visible_path(&self.file)))?;
        }
        Ok(changed)
    }
}

impl TrustedFolders for Trust {
    fn folders(&self) -> anyhow::Result<Folders> {
        let shown = visible_path(&self.file);
        let folder = self.file.parent().unwrap_or(Path::new(""));
        if !ownership::counts(&self.file, folder) {
            return Ok(Folders::new());
        }
        let bytes = read_regular_file(&self.file, MAX_FILE_BYTES)
            .with_context(|| format!("`{shown}` cannot be read"))?;
        let Some(bytes) = bytes else {
            return Ok(Folders::new());
        };
        serde_json::from_slice(&bytes).with_context(|| {
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

    #[cfg(unix)]
    #[test]
    fn what_others_can_have_written_trusts_nobody() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let trust = Trust::new(&data);
        let (project, granted) = (Path::new("/work/project"), || trust.folders().unwrap());
        trust.grant(project, "1").unwrap();
        let mode = |mode| std::fs::set_permissions(&data, PermissionsExt::from_mode(mode)).unwrap();
        mode(0o777);
        assert!(granted().is_empty());
        mode(0o755);
        assert_eq!(granted().len(), 1);
        // Who can put another folder in the place of this one.
        let shared = folder.path();
        std::fs::set_permissions(shared, PermissionsExt::from_mode(0o777)).unwrap();
        assert!(granted().is_empty());
        std::fs::set_permissions(shared, PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(granted().len(), 1);
        if !rustix::process::geteuid().is_root() {
            return;
        }
        for theirs in [trust.file(), &data] {
            std::os::unix::fs::chown(theirs, Some(54_321), None).unwrap();
            assert!(granted().is_empty());
        }
        let error = format!("{:#}", trust.grant(project, "2").unwrap_err());
        assert!(error.contains("is another user's"), "{error}");
        // With a folder of its own again, what another user has left there is replaced.
        std::os::unix::fs::chown(&data, Some(0), None).unwrap();
        assert!(trust.grant(project, "2").unwrap());
        assert_eq!(granted()[project], "2");
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_in_place_of_the_record_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let trust = Trust::new(folder.path());
        let made = std::process::Command::new("mkfifo")
            .arg(trust.file())
            .status();
        assert!(made.unwrap().success());
        assert!(trust.folders().is_err());
        assert!(trust.grant(Path::new("/a"), "1").is_err());
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
