//! Record of the real paths that the granted folders had when they were granted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dormouse_files::replace::{Access, replace};
use dormouse_files::{ownership, paths};
use dormouse_policy::real_path;
use dormouse_text::visible::visible_path;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Real path, without links, of each folder that was ever granted, by the path that its user has
/// written: if a link is changed later, its new target was not granted. What a trusted project was
/// granted is recorded for that project alone: where a folder is for another one, or for the user's
/// own servers, says nothing of it.
#[derive(Debug, Clone)]
pub struct RecordedFolders {
    data: PathBuf,
}

/// Real paths by written ones.
pub type RealPaths = BTreeMap<PathBuf, PathBuf>;

/// Real paths of the folders that projects were granted, by the folders of the projects.
type ProjectPaths = BTreeMap<PathBuf, RealPaths>;

/// File of what the user's own servers were granted, and older hosts have recorded for all.
const OWN_FILE: &str = "folders.json";

/// File of what projects were granted.
const PROJECTS_FILE: &str = "project-folders.json";

/// Largest file of real paths that is read, in bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;

impl RecordedFolders {
    /// Opens the record in Dormouse's data folder, which need not exist yet.
    #[must_use]
    pub fn new(data: &Path) -> Self {
        Self {
            data: data.to_owned(),
        }
    }

    /// Returns the real paths that are recorded for a project, or for the user's own servers.
    ///
    /// # Errors
    /// There is a file, and it is none that can be read.
    pub fn known(&self, project: Option<&Path>) -> anyhow::Result<RealPaths> {
        let (mut known, own) = self.known_and_own(project)?;
        known.extend(own);
        Ok(known)
    }

    /// Returns the real paths that are recorded for the user, which older hosts have recorded for
    /// projects, too, and those that are recorded for a project alone.
    fn known_and_own(&self, project: Option<&Path>) -> anyhow::Result<(RealPaths, RealPaths)> {
        let known = self.read(OWN_FILE)?;
        let Some(project) = project else {
            return Ok((known, RealPaths::new()));
        };
        let mut all: ProjectPaths = self.read(PROJECTS_FILE)?;
        Ok((known, all.remove(project).unwrap_or_default()))
    }

    /// Records the real paths of folders that were not recorded yet, and returns all that are
    /// recorded then.
    ///
    /// # Errors
    /// The record cannot be read or written.
    pub fn record(
        &self,
        project: Option<&Path>,
        written: &BTreeSet<PathBuf>,
    ) -> anyhow::Result<RealPaths> {
        let (mut known, own) = self.known_and_own(project)?;
        // What is recorded for the user becomes the project's own: later it may be another for the user.
        let is_recorded = |path: &PathBuf| match project {
            None => known.contains_key(path),
            Some(_) => own.contains_key(path),
        };
        let new = written.iter().filter(|path| !is_recorded(path));
        let new = new.map(|path| {
            let real = known.get(path).cloned();
            (path.clone(), real.unwrap_or_else(|| real_path(path)))
        });
        let new: RealPaths = new.collect();
        if new.is_empty() {
            known.extend(own);
            return Ok(known);
        }
        self.edit(project, |known| {
            for (path, real) in new {
                known.entry(path).or_insert(real);
            }
        })?;
        self.known(project)
    }

    /// Records real paths as their user was shown them, replacing earlier ones: whoever trusts a
    /// project once more, or grants a server its folders anew, need not mean what it had before.
    ///
    /// # Errors
    /// The record cannot be read or written.
    pub fn record_anew(&self, project: Option<&Path>, real: &RealPaths) -> anyhow::Result<()> {
        match real.is_empty() {
            true => Ok(()),
            false => self.edit(project, |known| known.extend(real.clone())),
        }
    }

    fn edit(
        &self,
        project: Option<&Path>,
        change: impl FnOnce(&mut RealPaths),
    ) -> anyhow::Result<()> {
        let _lock = paths::lock(&self.data.join("folders.lock"))?;
        match project {
            None => {
                let mut known = self.read(OWN_FILE)?;
                change(&mut known);
                self.write(OWN_FILE, &known)
            }
            Some(project) => {
                let mut all: ProjectPaths = self.read(PROJECTS_FILE)?;
                change(all.entry(project.to_owned()).or_default());
                self.write(PROJECTS_FILE, &all)
            }
        }
    }

    fn read<T: DeserializeOwned + Default>(&self, name: &str) -> anyhow::Result<T> {
        let file = self.data.join(name);
        let shown = visible_path(&file);
        if !ownership::counts(&file, &self.data) && file.try_exists().unwrap_or(true) {
            anyhow::bail!(
                "`{shown}` can have been written by others, so that nobody knows where the granted \
                 folders were\n\
                 hint: delete it, if the folders in your configuration are still those that you mean"
            );
        }
        let bytes = dormouse_files::regular::read_regular_file(&file, MAX_FILE_BYTES)
            .with_context(|| format!("`{shown}` cannot be read"))?;
        let Some(bytes) = bytes else {
            return Ok(T::default());
        };
        serde_json::from_slice(&bytes).with_context(|| {
            format!(
                "`{shown}` is damaged, so that nobody knows where the granted folders were\n\
                 hint: delete it, if the folders in your configuration are still those that you mean"
            )
        })
    }

    fn write(&self, name: &str, known: &impl Serialize) -> anyhow::Result<()> {
        let file = self.data.join(name);
        let text = serde_json::to_string_pretty(known)?;
        replace(&file, text.as_bytes(), Access::Private)
            .with_context(|| format!("`{}` cannot be written", visible_path(&file)))
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
        let first = recorded.record(None, &written).unwrap();
        assert_eq!((&first[&link], &first[&other]), (&one, &other));
        // Both are something else now.
        std::fs::remove_file(&link).unwrap();
        symlink("other", &link).unwrap();
        symlink("one", &other).unwrap();
        assert_eq!(recorded.record(None, &written).unwrap(), first);
        let anew = RealPaths::from([(link.clone(), one.clone())]);
        recorded.record_anew(None, &anew).unwrap();
        assert_eq!(recorded.known(None).unwrap()[&link], one);
        assert_eq!(recorded.known(None).unwrap()[&other], other);
    }

    /// Who trusts one project has been shown nothing of another's folders.
    #[test]
    fn what_a_project_is_granted_is_recorded_for_it_alone() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (safe, secret, link) = (root.join("safe"), root.join("secret"), root.join("link"));
        let recorded = RecordedFolders::new(&root.join("data"));
        let [a, b] = ["a", "b"].map(|name| root.join(name));
        for folder in [&safe, &secret] {
            std::fs::create_dir(folder).unwrap();
        }
        symlink("safe", &link).unwrap();
        let shown = RealPaths::from([(link.clone(), safe.clone())]);
        recorded.record_anew(Some(&b), &shown).unwrap();
        std::fs::remove_file(&link).unwrap();
        symlink("secret", &link).unwrap();
        let written = BTreeSet::from([link.clone()]);
        let own = recorded.record(None, &written).unwrap();
        assert_eq!(own[&link], secret);
        let shown = RealPaths::from([(link.clone(), secret.clone())]);
        recorded.record_anew(Some(&a), &shown).unwrap();
        for (project, expected) in [(&a, &secret), (&b, &safe)] {
            let known = recorded.record(Some(project), &written).unwrap();
            assert_eq!(&known[&link], expected);
        }
        recorded.record_anew(Some(&b), &shown).unwrap();
        assert_eq!(recorded.known(Some(&b)).unwrap()[&link], secret);
    }

    /// Of a project that an older host was told to trust.
    #[test]
    fn what_older_hosts_have_recorded_counts_for_projects() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let recorded = RecordedFolders::new(&root);
        let (path, real) = (root.join("a"), root.join("b"));
        let older = RealPaths::from([(path.clone(), real.clone())]);
        recorded.record_anew(None, &older).unwrap();
        let written = BTreeSet::from([path.clone()]);
        let known = recorded.record(Some(&root), &written);
        assert_eq!(known.unwrap()[&path], real);
        // From then on it is the project's own.
        let later = RealPaths::from([(path.clone(), root.join("c"))]);
        recorded.record_anew(None, &later).unwrap();
        let known = recorded.record(Some(&root), &written);
        assert_eq!(known.unwrap()[&path], real);
    }

    #[test]
    fn what_cannot_be_read_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let recorded = RecordedFolders::new(folder.path());
        std::fs::write(folder.path().join("folders.json"), "{").unwrap();
        assert!(
            recorded
                .record(None, &[PathBuf::from("/a")].into())
                .is_err()
        );
        assert!(
            recorded
                .record_anew(None, &RealPaths::from([(PathBuf::new(), PathBuf::new())]))
                .is_err()
        );
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
        recorded.record(None, &written).unwrap();
        let file = folder.path().join("folders.json");
        let mode = std::fs::Permissions::from_mode(0o666);
        std::fs::set_permissions(&file, mode).unwrap();
        let error = recorded.record(None, &written).unwrap_err().to_string();
        assert!(error.contains("written by others"), "{error}");
        std::fs::remove_file(&file).unwrap();
        assert_eq!(recorded.record(None, &written).unwrap().len(), 1);
    }
}
