//! Which servers may have variables, files and answers filled in, and how much of that.

use std::path::{Path, PathBuf};

use super::{Content, Surroundings};
use crate::Inputs;

/// Whether and how much is filled into the servers that are found.
#[derive(Clone, Copy)]
pub struct FillPolicy<'a> {
    /// Answers of the user to the clients' questions.
    pub inputs: &'a Inputs,
    /// Whether anything may be filled into the servers of a project's files, and any file
    /// be opened that these name, given the project's folder and the content of the files
    /// themselves (none where it has none).
    pub may_fill: &'a dyn Fn(&Path, Option<&Content>) -> bool,
    /// Whether files of a project that are links out of its folder are opened, given the
    /// project's folder.
    pub may_follow: &'a dyn Fn(&Path) -> bool,
    /// How much may be filled into all servers of one project together, and into those of
    /// one file of the user's, in bytes.
    pub max_bytes: usize,
}

/// The project that the process works in, whose files a user's own server may be made of.
#[derive(Debug, Clone)]
pub(super) struct EnteredProject {
    /// Its folder.
    pub(super) folder: PathBuf,
    /// Its folder, without links.
    real_folder: Option<PathBuf>,
    /// Whether files of it may be opened for a server of the user's.
    pub(super) may_fill: bool,
}

impl EnteredProject {
    /// The project of the surroundings, where they have one.
    pub(super) fn of(around: &Surroundings, may_fill: &dyn Fn(&Path) -> bool) -> Option<Self> {
        let folder = around.project.as_ref()?;
        Some(Self {
            folder: folder.clone(),
            real_folder: folder.canonicalize().ok(),
            may_fill: may_fill(folder),
        })
    }

    /// Whether a file is the project's: by the path that names it, which a project can make
    /// a link, or by the one that it leads to.
    pub(super) fn has(&self, file: &Path) -> bool {
        let is_within = |file: &Path| {
            let real = self.real_folder.as_deref();
            file.starts_with(&self.folder) || real.is_some_and(|real| file.starts_with(real))
        };
        is_within(file) || file.canonicalize().is_ok_and(|real| is_within(&real))
    }
}
