//! Continue: a list of servers, each with its `name`, in YAML; headers are below
//! `requestOptions`, `connectionTimeout` is for the start, in milliseconds. JSON
//! files among the blocks are written as other clients write them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::config::discovery::dialect::{COMMON, Dialect, Outcome};
use crate::config::discovery::entry::{Entry, Unit};
use crate::config::discovery::filler::ClientVariables;
use crate::config::discovery::library::{FileUse, Library};
use crate::config::discovery::{Surroundings, dotenv, expansion, files};

/// The files of variables, in several folders.
const FILE: &str = ".env";

pub(super) const DIALECT: Dialect = Dialect {
    env_file: Some("envFile"),
    headers: "requestOptions.headers",
    start_timeouts: &[("connectionTimeout", Unit::Milliseconds)],
    expansion: expansion::CONTINUE,
    ..COMMON
};

pub(super) fn read(entry: &mut Entry<'_, '_>) -> Outcome {
    if entry.has("uses") && !entry.has("command") && !entry.has("url") {
        return Outcome::Skipped("it is a block of Continue's hub".to_owned());
    }
    let plain = Dialect {
        headers: "headers",
        ..DIALECT
    };
    if entry.has("headers") {
        plain.read(entry)
    } else {
        DIALECT.read(entry)
    }
}

/// The secrets that Continue keeps in files of variables. Those in a project are
/// for the project's own servers, which so are made of them.
pub(in crate::config::discovery) fn secrets(
    around: &Surroundings,
    project: Option<&Path>,
    library: &mut Library,
) -> ClientVariables {
    let users_file = around.home.join(".continue").join(FILE);
    let mut of_user = BTreeMap::new();
    if let Ok(Some(bytes)) = files::read(&users_file, files::VALUE) {
        add(bytes, &mut of_user);
    }
    let mut of_project = BTreeMap::new();
    for project in project.into_iter() {
        for folder in [project.join(".continue"), project.to_owned()] {
            let file = folder.join(FILE);
            if let Ok(Some(bytes)) = files::read(&file, files::VALUE) {
                library.add(project, &file, &bytes, FileUse::FilledIn);
                add(bytes, &mut of_project);
            }
        }
    }
    ClientVariables {
        users_file: Some(users_file),
        of_user,
        of_project,
    }
}

/// Adds the variables of a file to those of files that count before it.
fn add(bytes: Vec<u8>, variables: &mut BTreeMap<String, String>) {
    let text = files::text(bytes).unwrap_or_default();
    for (name, value) in dotenv::parse(&text) {
        variables.entry(name).or_insert(value);
    }
}
