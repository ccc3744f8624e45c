//! Policy for filling variables, files and answers into servers: into which, and how much of that.

use std::path::Path;

use crate::Inputs;
use crate::discovery::ContentHash;
use crate::discovery::project_folder::ProjectFolder;

/// Policy for what is filled into the servers that are found.
#[derive(Clone, Copy)]
pub struct FillPolicy<'a> {
    /// Answers of the user to the clients' questions.
    pub inputs: &'a Inputs,
    /// Whether anything may be filled into the servers of a project's files, and any file
    /// be opened that these name, given the project's folder and the content of the files
    /// themselves (none where it has none).
    pub may_fill: &'a dyn Fn(&Path, Option<&ContentHash>) -> bool,
    /// Whether files of a project that are links out of its folder are opened, given the
    /// project's folder.
    pub may_follow: &'a dyn Fn(&Path) -> bool,
    /// Most bytes that are filled into all servers of one project together, and into those of one
    /// file of the user's.
    pub max_bytes: usize,
}

/// The project that the process works in, whose files a user's own server may be made of.
#[derive(Debug, Clone)]
pub(in crate::discovery) struct EnteredProject {
    /// Folder of the project.
    pub(in crate::discovery) folder: ProjectFolder,
    /// Whether files of the project may be opened for a server of the user's.
    pub(in crate::discovery) may_fill: bool,
}

impl EnteredProject {
    /// Makes the project of a folder.
    pub(in crate::discovery) fn of(
        folder: ProjectFolder,
        may_fill: &dyn Fn(&Path) -> bool,
    ) -> Self {
        Self {
            may_fill: may_fill(&folder.path),
            folder,
        }
    }
}
