//! Continue: a list of servers, each with its `name`, in YAML; headers are below
//! `requestOptions`, `connectionTimeout` is for the start, in milliseconds. JSON
//! files among the blocks are written as other clients write them.

use std::path::Path;

use dormouse_files::ownership;
use dormouse_text::visible::visible_path;

use crate::discovery::entries::dialect::{COMMON, EntryDialect, EntryOutcome};
use crate::discovery::entries::entry::{ServerEntry, Unit};
use crate::discovery::filling::client_variables::ClientVariables;
use crate::discovery::filling::expansion;
use crate::discovery::library::{FileUse, Library};
use crate::discovery::{Surroundings, files};

/// Name of the files of variables, in several folders.
const FILE: &str = ".env";

pub(super) const DIALECT: EntryDialect = EntryDialect {
    env_file: Some("envFile"),
    headers: "requestOptions.headers",
    start_timeouts: &[("connectionTimeout", Unit::Milliseconds)],
    expansion: expansion::CONTINUE,
    ..COMMON
};

pub(super) fn read(entry: &mut ServerEntry<'_, '_>) -> EntryOutcome {
    if entry.has("uses") && !entry.has("command") && !entry.has("url") {
        return EntryOutcome::Skipped("it is a block of Continue's hub".to_owned(), None);
    }
    let plain = EntryDialect {
        headers: "headers",
        ..DIALECT
    };
    if entry.has("headers") {
        plain.read(entry)
    } else {
        DIALECT.read(entry)
    }
}

/// Reads the secrets that Continue keeps in files of variables. Those in a project are for the
/// project's own servers, which so are made of them.
pub(in crate::discovery) fn secrets(
    around: &Surroundings,
    project: Option<&Path>,
    library: &mut Library,
) -> ClientVariables {
    let users_file = around.home.join(".continue").join(FILE);
    let mut variables = ClientVariables::default();
    match files::is_of_user(&users_file) {
        Ok(true) => {
            if let Ok(Some(read)) = library.values.read(&users_file) {
                variables.add_users(&read.bytes);
            }
        }
        Ok(false) => {}
        Err(why) => ownership::warn_once(format!("the file `{}` {why}", visible_path(&users_file))),
    }
    for project in project.into_iter() {
        for folder in [project.join(".continue"), project.to_owned()] {
            let file = folder.join(FILE);
            if let Ok(Some(read)) = library.values.read(&file) {
                library.add(project, &file, read.hash, FileUse::FilledIn);
                variables.add_projects(&read.bytes, &file, read.is_within_project);
            }
        }
    }
    variables.users_file = Some(users_file);
    variables
}
