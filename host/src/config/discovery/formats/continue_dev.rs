//! Continue: a list of servers, each with its `name`, in YAML; headers are below
//! `requestOptions`, `connectionTimeout` is for the start, in milliseconds. JSON
//! files among the blocks are written as other clients write them.

use std::collections::BTreeMap;

use crate::config::discovery::dialect::{COMMON, Dialect, Outcome};
use crate::config::discovery::entry::{Entry, Unit};
use crate::config::discovery::{Surroundings, dotenv, expansion, files};

pub(super) const DIALECT: Dialect = Dialect {
    env_file: Some("envFile"),
    headers: "requestOptions.headers",
    start_timeouts: &[("connectionTimeout", Unit::Milliseconds)],
    expansion: expansion::CONTINUE,
    ..COMMON
};

pub(super) fn read(entry: &mut Entry<'_, '_>) -> Outcome {
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
/// for the project's own servers.
pub(in crate::config::discovery) fn secrets(
    around: &Surroundings,
    of_project: bool,
) -> BTreeMap<String, String> {
    let project = around.project.as_deref().filter(|_| of_project);
    let folders = [
        Some(around.home.join(".continue")),
        project.map(|project| project.join(".continue")),
        project.map(std::path::Path::to_owned),
    ];
    let mut secrets = BTreeMap::new();
    for folder in folders.into_iter().flatten() {
        let read = files::read(&folder.join(".env")).ok().flatten();
        let Some(text) = read.and_then(|bytes| files::text(bytes).ok()) else {
            continue;
        };
        for (name, value) in dotenv::parse(&text) {
            secrets.entry(name).or_insert(value);
        }
    }
    secrets
}
