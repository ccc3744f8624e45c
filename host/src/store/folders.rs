//! Record of the real paths that the granted folders had when they were granted.

mod project_secrets;

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

/// File that whoever writes one of these files holds.
const LOCK: &str = "folders.lock";

/// Largest file of real paths that is read or written, in bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// Most bytes of the real paths of one project, as they are written: its file decides how many there are
/// and how long each is, and there has to be room for those of others.
const MAX_PROJECT_BYTES: usize = 256 << 10;

/// Hint for a user where it is not known where folders were.
const DELETE_HINT: &str = "hint: delete it, if the folders and files of secrets in your configuration and your \
                           projects are still those that you mean";

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

    /// Records real paths as their user was shown them, replacing earlier ones of the same folders:
    /// whoever grants a server its folders anew need not mean what it had before.
    ///
    /// # Errors
    /// The record cannot be read or written, or there is too much for it.
    pub fn record_anew(&self, project: Option<&Path>, real: &RealPaths) -> anyhow::Result<()> {
        match real.is_empty() {
            true => Ok(()),
            false => self.edit(project, |known| known.extend(real.clone())),
        }
    }

    /// Records the real paths of a project as its user was shown them, in place of all that it had:
    /// whoever trusts it once more has not been shown what its files said before.
    ///
    /// # Errors
    /// The record cannot be read or written, or there is too much for it.
    pub fn record_project(&self, project: &Path, real: &RealPaths) -> anyhow::Result<()> {
        if !real.is_empty() {
            return self.edit(Some(project), |known| real.clone_into(known));
        }
        // Nothing of a project without folders is looked up in the record, and one that has some later
        // is trusted anew then.
        if let Err(error) = self.forget_project(project) {
            tracing::warn!("what a project was granted before is not forgotten: {error:#}");
        }
        Ok(())
    }

    /// Checks that the real paths of a project leave room for those of others.
    ///
    /// # Errors
    /// They do not, with the number of bytes that they take.
    pub fn check_project(project: &Path, paths: &RealPaths) -> anyhow::Result<()> {
        let bytes = serde_json::to_string_pretty(paths)?.len();
        if bytes > MAX_PROJECT_BYTES {
            return Err(Self::too_much(project, paths.len(), bytes));
        }
        Ok(())
    }

    fn too_much(project: &Path, paths: usize, bytes: usize) -> anyhow::Error {
        anyhow::anyhow!(
            "the files of the project `{}` name {paths} folders and files of secrets, which take {bytes} bytes \
             to record, and {MAX_PROJECT_BYTES} are allowed\n\
             hint: whoever wrote its files has to name fewer, or name them by shorter paths",
            visible_path(project),
        )
    }

    /// Forgets what a project was granted, and where its secrets were, which is trusted no longer.
    ///
    /// # Errors
    /// The record cannot be read or written.
    pub fn forget_project(&self, project: &Path) -> anyhow::Result<()> {
        self.record_secrets(project, &BTreeSet::new())?;
        let all: ProjectPaths = self.read(PROJECTS_FILE)?;
        if !all.contains_key(project) {
            return Ok(());
        }
        let _lock = paths::lock(&self.data.join(LOCK))?;
        let mut all: ProjectPaths = self.read(PROJECTS_FILE)?;
        all.remove(project);
        self.write(PROJECTS_FILE, &all)
    }

    fn edit(
        &self,
        project: Option<&Path>,
        change: impl FnOnce(&mut RealPaths),
    ) -> anyhow::Result<()> {
        let _lock = paths::lock(&self.data.join(LOCK))?;
        match project {
            None => {
                let mut known = self.read(OWN_FILE)?;
                change(&mut known);
                self.write(OWN_FILE, &known)
            }
            Some(project) => {
                let mut all: ProjectPaths = self.read(PROJECTS_FILE)?;
                let of_project = all.entry(project.to_owned()).or_default();
                change(of_project);
                Self::check_project(project, of_project)?;
                self.write(PROJECTS_FILE, &all)
            }
        }
    }

    fn read<T: DeserializeOwned + Default>(&self, name: &str) -> anyhow::Result<T> {
        let file = self.data.join(name);
        let shown = visible_path(&file);
        if !ownership::counts(&file, &self.data) && file.try_exists().unwrap_or(true) {
            anyhow::bail!(
                "`{shown}` can have been written by others, so that nobody knows where granted \
                 folders and files of secrets were\n{DELETE_HINT}"
            );
        }
        let bytes = dormouse_files::regular::read_regular_file(&file, MAX_FILE_BYTES)
            .map_err(|error| anyhow::anyhow!("`{shown}` cannot be read: {error}\n{DELETE_HINT}"))?;
        let Some(bytes) = bytes else {
            return Ok(T::default());
        };
        serde_json::from_slice(&bytes).with_context(|| {
            format!(
                "`{shown}` is damaged, so that nobody knows where granted folders and files of secrets were\n{DELETE_HINT}"
            )
        })
    }

    fn write(&self, name: &str, known: &impl Serialize) -> anyhow::Result<()> {
        let file = self.data.join(name);
        let text = serde_json::to_string_pretty(known)?;
        if text.len() as u64 > MAX_FILE_BYTES {
            anyhow::bail!(
                "`{}` would have {} bytes, and has room for {MAX_FILE_BYTES}: nothing is recorded\n\
                 hint: `dormouse trust --revoke` makes room, in projects that need not be trusted any more",
                visible_path(&file),
                text.len()
            );
        }
        replace(&file, text.as_bytes(), Access::Private)
            .with_context(|| format!("`{}` cannot be written", visible_path(&file)))
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
