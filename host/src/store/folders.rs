//! Record of the real paths that the granted folders had when they were granted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dormouse_files::replace::{Access, replace};
use dormouse_files::{ownership, paths};
use dormouse_policy::real_path;
use dormouse_text::visible::visible_path;

/// Real path, without links, of each folder that was ever granted, by the path that its user has
/// written: if a link is changed later, its new target was not granted.
#[derive(Debug, Clone)]
pub struct RecordedFolders {
    file: PathBuf,
}

/// Real paths by written ones.
pub type RealPaths = BTreeMap<PathBuf, PathBuf>;

/// Largest file of real paths that is read, in bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;

impl RecordedFolders {
    /// Opens the record in Dormouse's data folder, which need not exist yet.
    #[must_use]
    pub fn new(data: &Path) -> Self {
        Self {
            file: data.join("folders.json"),
        }
    }

    /// Returns the recorded real paths.
    ///
    /// # Errors
    /// There is a file, and it is none that can be read.
    pub fn known(&self) -> anyhow::Result<RealPaths> {
        let shown = visible_path(&self.file);
        let folder = self.file.parent().unwrap_or(Path::new(""));
        if !ownership::counts(&self.file, folder) && self.file.try_exists().unwrap_or(true) {
            anyhow::bail!(
                "`{shown}` can have been written by others, so that nobody knows where the granted \
                 folders were\n\
                 hint: delete it, if the folders in your configuration are still those that you mean"
            );
        }
        let bytes = dormouse_catalog::read_regular_file(&self.file, MAX_FILE_BYTES)
            .with_context(|| format!("`{shown}` cannot be read"))?;
        let Some(bytes) = bytes else {
            return Ok(RealPaths::new());
        };
        serde_json::from_slice(&bytes).with_context(|| {
            format!(
                "`{shown}` is damaged, so that nobody knows where the granted folders were\n\
                 hint: delete it, if the folders in your configuration are still those that you mean"
            )
        })
    }

    /// Records the real paths of folders that were not recorded yet, and returns all that are
    /// recorded then.
    ///
    /// # Errors
    /// The record cannot be read or written.
    pub fn record(&self, written: &BTreeSet<PathBuf>) -> anyhow::Result<RealPaths> {
        let known = self.known()?;
        if written.iter().all(|path| known.contains_key(path)) {
            return Ok(known);
        }
        self.edit(|known| {
            for path in written {
                let real = || real_path(path);
                known.entry(path.clone()).or_insert_with(real);
            }
        })
    }

    /// Records the real paths of folders as their user was shown them, replacing earlier ones: whoever
    /// trusts a project once more need not mean what it had before. Those of `others` stay as they are
    /// recorded.
    ///
    /// # Errors
    /// The record cannot be read or written.
    pub fn record_shown(&self, real: &RealPaths, others: &BTreeSet<&Path>) -> anyhow::Result<()> {
        if real.is_empty() {
            return Ok(());
        }
        self.edit(|known| {
            for (path, real) in real {
                let stays = known.contains_key(path) && others.iter().any(|other| other == path);
                if !stays {
                    known.insert(path.clone(), real.clone());
                }
            }
        })
        .map(drop)
    }

    /// Records the current real paths of folders, replacing earlier ones.
    ///
    /// # Errors
    /// The record cannot be read or written.
    pub fn record_anew(&self, real: &RealPaths) -> anyhow::Result<()> {
        let added = real.iter().map(|(path, real)| (path.clone(), real.clone()));
        self.edit(|known| known.extend(added)).map(drop)
    }

    fn edit(&self, change: impl FnOnce(&mut RealPaths)) -> anyhow::Result<RealPaths> {
        let folder = self.file.parent().unwrap_or(Path::new(""));
        let _lock = paths::lock(&folder.join("folders.lock"))?;
        let mut known = self.known()?;
        change(&mut known);
        let text = serde_json::to_string_pretty(&known)?;
        replace(&self.file, text.as_bytes(), Access::Private)
            .with_context(|| format!("`{}` cannot be written", visible_path(&self.file)))?;
        Ok(known)
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_first_real_path_of_a_folder_stays_until_it_is_recorded_anew() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (one, other, link) = (root.join("one"), root.join("other"), root.join("link"));
        std::fs::create_dir(&one).unwrap();
        symlink(&one, &link).unwrap();
        let recorded = RecordedFolders::new(&root.join("data"));
        let written = BTreeSet::from([link.clone(), other.clone()]);
        let first = recorded.record(&written).unwrap();
        assert_eq!((&first[&link], &first[&other]), (&one, &other));
        // Both are something else now.
        std::fs::remove_file(&link).unwrap();
        symlink("other", &link).unwrap();
        symlink("one", &other).unwrap();
        assert_eq!(recorded.record(&written).unwrap(), first);
        let anew = RealPaths::from([(link.clone(), one.clone())]);
        recorded.record_anew(&anew).unwrap();
        assert_eq!(recorded.known().unwrap()[&link], one);
        assert_eq!(recorded.known().unwrap()[&other], other);
        let shown = RealPaths::from([(link.clone(), other.clone()), (one.clone(), other.clone())]);
        let others = BTreeSet::from([link.as_path(), one.as_path()]);
        recorded.record_shown(&shown, &others).unwrap();
        let known = recorded.known().unwrap();
        assert_eq!((&known[&link], &known[&one]), (&one, &other));
        recorded.record_shown(&shown, &BTreeSet::new()).unwrap();
        assert_eq!(recorded.known().unwrap()[&link], other);
    }

    #[test]
    fn what_cannot_be_read_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let recorded = RecordedFolders::new(folder.path());
        std::fs::write(folder.path().join("folders.json"), "{").unwrap();
        assert!(recorded.record(&[PathBuf::from("/a")].into()).is_err());
        assert!(recorded.record_anew(&RealPaths::new()).is_err());
        let text = std::fs::read_to_string(folder.path().join("folders.json"));
        assert_eq!(text.unwrap(), "{");
    }

    /// Where links lead now need not be what was granted.
    #[test]
    fn what_others_can_have_written_is_not_recorded_anew() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let recorded = RecordedFolders::new(folder.path());
        let written = BTreeSet::from([PathBuf::from("/a")]);
        recorded.record(&written).unwrap();
        let file = folder.path().join("folders.json");
        let mode = std::fs::Permissions::from_mode(0o666);
        std::fs::set_permissions(&file, mode).unwrap();
        let error = recorded.record(&written).unwrap_err().to_string();
        assert!(error.contains("written by others"), "{error}");
        std::fs::remove_file(&file).unwrap();
        assert_eq!(recorded.record(&written).unwrap().len(), 1);
    }
}
