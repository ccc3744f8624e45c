//! Variables that a client takes from files of its own, each with the file that it comes from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::dotenv;
use super::files;

/// Variables that a client takes from files of variables of its own.
#[derive(Default)]
pub(super) struct ClientVariables {
    /// The file of the user's in which a client looks first; none where it has no such file.
    pub(super) users_file: Option<PathBuf>,
    /// The variables in the user's file.
    pub(super) of_user: BTreeMap<String, String>,
    /// The variables in files of the project that the server is of.
    pub(super) of_project: BTreeMap<String, ProjectVariable>,
}

/// A variable in a file of a project.
pub(super) struct ProjectVariable {
    pub(super) value: String,
    /// The file, as the project names it.
    pub(super) file: Rc<Path>,
    /// Whether the file is in the project's folder, also by the path that links lead to.
    pub(super) is_within: bool,
}

impl ClientVariables {
    /// Returns the value of a variable that is in one of the files.
    pub(super) fn get(&self, name: &str) -> Option<&String> {
        let of_project = || self.of_project.get(name).map(|of| &of.value);
        self.of_user.get(name).or_else(of_project)
    }

    /// Returns all variables, with the values that count.
    pub(super) fn all(&self) -> BTreeMap<String, String> {
        let of_project = self.of_project.iter();
        let mut all: BTreeMap<_, _> = of_project
            .map(|(name, of)| (name.clone(), of.value.clone()))
            .collect();
        all.extend(self.of_user.clone());
        all
    }

    /// Adds the variables of the user's file.
    pub(super) fn add_users(&mut self, bytes: &[u8]) {
        for (name, value) in parsed(bytes) {
            self.of_user.entry(name).or_insert(value);
        }
    }

    /// Adds the variables of a project's file to those of files that count before it.
    pub(super) fn add_projects(&mut self, bytes: &[u8], file: &Path, is_within: bool) {
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
