//! Files whose changes change which servers there are.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use crate::project::project_path::leads_out;

/// File whose changes are noticed, whether it exists or not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WatchedFile {
    path: PathBuf,
    /// Folder of the file's project, where its user has never trusted that: no link is followed out of
    /// it.
    confined_to: Option<PathBuf>,
}

impl WatchedFile {
    /// Makes the watched file of a path. `confined_to` is the folder of its project, where no link is
    /// to be followed out of that.
    #[must_use]
    pub fn new(path: PathBuf, confined_to: Option<PathBuf>) -> Self {
        Self { path, confined_to }
    }

    fn leads_out(&self, path: &Path) -> bool {
        let project = self.confined_to.as_deref();
        project.is_some_and(|project| leads_out(project, path))
    }

    /// Returns the paths whose changes are changes of the file, as links lead now: its own one, and the
    /// one that it leads to. Where it leads out of the folder that it is confined to, that is the link
    /// alone which does: what has its name may be another file later.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        if !self.leads_out(&self.path) {
            let target = self.path.canonicalize().ok();
            return std::iter::once(self.path.clone()).chain(target).collect();
        }
        let mut ancestors = self.path.ancestors();
        let is_within = |path: &&Path| !path.parent().is_some_and(|above| self.leads_out(above));
        let link = ancestors.find(is_within);
        link.map(Path::to_owned).into_iter().collect()
    }

    /// Returns what the system knows of the file; none where it cannot be looked at, or is not in the
    /// folder that it is confined to.
    #[must_use]
    pub fn metadata(&self) -> Option<Metadata> {
        if self.leads_out(&self.path) {
            return None;
        }
        self.path.metadata().ok()
    }
}
