//! Record of the files with secrets that projects were trusted with.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use dormouse_files::paths;

use super::{LOCK, MAX_PROJECT_BYTES, RecordedFolders};

/// Real paths of files with secrets, by the folders of the projects whose secrets these are.
type ProjectSecrets = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

/// File of them.
const SECRETS_FILE: &str = "project-secrets.json";

impl RecordedFolders {
    /// Returns the real paths of the files with secrets that projects were trusted with, each with the
    /// folder of one such project: whichever project their user works in, no plugin is granted them. Where
    /// links lead by now, and whether the files are there, makes no difference.
    ///
    /// # Errors
    /// There is a record, and it is none that can be read.
    pub fn files_with_secrets(&self) -> anyhow::Result<BTreeMap<PathBuf, PathBuf>> {
        let all: ProjectSecrets = self.read(SECRETS_FILE)?;
        let each = all.into_iter().flat_map(|(project, files)| {
            let files = files.into_iter();
            files.map(move |file| (file, project.clone()))
        });
        Ok(each.collect())
    }

    /// Records the real paths of the files with secrets that a project is trusted with, in place of those
    /// that it was before.
    ///
    /// # Errors
    /// The record cannot be read or written, or there is too much for it.
    pub fn record_secrets(&self, project: &Path, files: &BTreeSet<PathBuf>) -> anyhow::Result<()> {
        let is_known = |all: &ProjectSecrets| match all.get(project) {
            Some(known) => known == files,
            None => files.is_empty(),
        };
        if is_known(&self.read(SECRETS_FILE)?) {
            return Ok(());
        }
        let bytes = serde_json::to_string_pretty(files)?.len();
        if bytes > MAX_PROJECT_BYTES {
            return Err(Self::too_much(project, files.len(), bytes));
        }
        let _lock = paths::lock(&self.data.join(LOCK))?;
        let mut all: ProjectSecrets = self.read(SECRETS_FILE)?;
        match files.is_empty() {
            true => all.remove(project),
            false => all.insert(project.to_owned(), files.clone()),
        };
        self.write(SECRETS_FILE, &all)
    }

    /// Records the same of a project of which nothing is recorded, for an older version has trusted it.
    ///
    /// # Errors
    /// The record cannot be read or written, or there is too much for it.
    pub fn record_first_secrets(
        &self,
        project: &Path,
        files: impl FnOnce() -> BTreeSet<PathBuf>,
    ) -> anyhow::Result<()> {
        let all: ProjectSecrets = self.read(SECRETS_FILE)?;
        match all.contains_key(project) {
            true => Ok(()),
            false => self.record_secrets(project, &files()),
        }
    }
}
