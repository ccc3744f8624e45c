//! Continue: a list of servers, each with its `name`, in YAML; headers are below
//! `requestOptions`, `connectionTimeout` is for the start, in milliseconds. JSON
//! files among the blocks are written as other clients write them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::config::discovery::dialect::{COMMON, Dialect, Outcome};
use crate::config::discovery::entry::{Entry, Unit};
use crate::config::discovery::library::{FileUse, Library};
use crate::config::discovery::{Surroundings, dotenv, expansion, files};

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
) -> BTreeMap<String, String> {
    let folders = [
        Some(around.home.join(".continue")),
        project.map(|project| project.join(".continue")),
        project.map(Path::to_owned),
    ];
    let mut secrets = BTreeMap::new();
    for folder in folders.into_iter().flatten() {
        let file = folder.join(".env");
        let Ok(Some(bytes)) = files::read(&file, files::VALUE) else {
            continue;
        };
        if let Some(project) = project.filter(|project| file.starts_with(project)) {
            library.add(project, &file, &bytes, FileUse::FilledIn);
        }
        let Ok(text) = files::text(bytes) else {
            continue;
        };
        for (name, value) in dotenv::parse(&text) {
            secrets.entry(name).or_insert(value);
        }
    }
    secrets
}
