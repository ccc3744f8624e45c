//! The folder of the project that the process works in, and the files that are in it.

use std::path::{Path, PathBuf};

use dormouse_files::links;

use super::Surroundings;
use super::places::ClientPlace;
use crate::Scope;
use crate::project::project_path::leads_out_from;

/// Folder of the project that the process works in, whether its files are looked at or left out.
#[derive(Debug, Clone)]
pub(super) struct ProjectFolder {
    /// The folder, as the process names it.
    pub(super) path: PathBuf,
    /// The folder without links.
    pub(in crate::discovery) real: Option<PathBuf>,
}

impl ProjectFolder {
    /// Returns the folder of the surroundings' project, where they have one.
    pub(super) fn of(around: &Surroundings) -> Option<Self> {
        let path = around.project.as_ref().or(around.left_out.as_ref());
        let path = path?.clone();
        Some(Self {
            real: path.canonicalize().ok(),
            path,
        })
    }

    /// Whether a file is the project's: by the path that names it, which a project can make
    /// a link, or because that leads into the folder, wherever a link there leads on.
    pub(super) fn has(&self, file: &Path) -> bool {
        let real = self.real.as_deref();
        file.starts_with(&self.path) || real.is_some_and(|real| links::leads_into(file, real))
    }

    /// Whether the way to a file or folder leads into the project's folder, and out of it by a link there.
    pub(super) fn is_passed_by(&self, path: &Path) -> bool {
        let real = self.real.as_deref();
        let way = match path.strip_prefix(&self.path) {
            Ok(way) => Some(way.to_owned()),
            Err(_) => real.and_then(|real| links::way_within(path, real)),
        };
        way.is_some_and(|way| leads_out_from(&self.path, &way))
    }

    /// Makes the places of a user's files that are in the folder places of the project's: whoever
    /// has written the project may have written them.
    pub(super) fn claim(&self, places: &mut [ClientPlace]) {
        for place in places {
            let is_users = matches!(place.scope, Scope::User | Scope::Local(_));
            if is_users && self.has(&place.file) {
                place.scope = Scope::Project(self.path.clone());
            }
        }
    }
}
