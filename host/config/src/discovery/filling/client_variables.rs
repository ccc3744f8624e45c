//! Variables that a client takes from files of its own, each with the file that it comes from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::dotenv;
use crate::discovery::files;

/// Variables that a client takes from files of variables of its own.
#[derive(Default)]
pub(in crate::discovery) struct ClientVariables {
    /// The file of the user's in which a client looks first; none where it has no such file.
    pub(in crate::discovery) users_file: Option<PathBuf>,
    /// The variables in the user's file.
    pub(in crate::discovery) of_user: BTreeMap<String, String>,
    /// The variables in files of the project that the server is of.
    pub(in crate::discovery) of_project: BTreeMap<String, ProjectVariable>,
}

/// A variable in a file of a project.
pub(in crate::discovery) struct ProjectVariable {
    pub(in crate::discovery) value: String,
    /// The file, as the project names it.
    pub(in crate::discovery) file: Rc<Path>,
    /// Whether the file is in the project's folder, also by the path that links lead to.
    pub(in crate::discovery) is_within: bool,
}

impl ClientVariables {
    /// Returns the value of a variable that is in one of the files.
    pub(in crate::discovery) fn get(&self, name: &str) -> Option<&String> {
        let of_project = || self.of_project.get(name).map(|of| &of.value);
        self.of_user.get(name).or_else(of_project)
    }

    /// Returns all variables, with the values that count.
    pub(in crate::discovery) fn all(&self) -> BTreeMap<String, String> {
        let of_project = self.of_project.iter();
        let mut all: BTreeMap<_, _> = of_project
            .map(|(name, of)| (name.clone(), of.value.clone()))
            .collect();
        all.extend(self.of_user.clone());
        all
    }

    /// Adds the variables of the user's file.
    pub(in crate::discovery) fn add_users(&mut self, bytes: &[u8]) {
        for (name, value) in parsed(bytes) {
            self.of_user.entry(name).or_insert(value);
        }
    }

    /// Adds the variables of a project's file to those of files that count before it.
    pub(in crate::discovery) fn add_projects(
        &mut self,
        bytes: &[u8],
        file: &Path,
        is_within: bool,
    ) {
        let file: Rc<Path> = file.into();
        for (name, value) in parsed(bytes) {
            self.of_project.entry(name).or_insert(ProjectVariable {
                value,
                file: Rc::clone(&file),
                is_within,
            });
        }
    }
}

fn parsed(bytes: &[u8]) -> Vec<(String, String)> {
    dotenv::parse(&files::text(bytes.to_vec()).unwrap_or_default())
}
