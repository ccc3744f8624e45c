//! Granted folders: each is the one that was granted, whatever is put in its place, and none of
//! them contains files that decide about plugins.

#![cfg(unix)]

mod grants;
mod kept;
mod links;
#[cfg(target_os = "linux")]
mod paths;
mod races;
mod shared;
mod special_files;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use dormouse_tests::artifacts;

use super::*;

/// A home with folders in it, and servers that are granted some of them.
pub(crate) struct Granted {
    pub(crate) home: Home,
}

impl Granted {
    pub(crate) fn new(folders: &[&str]) -> Self {
        let home = Home::new().unwrap();
        for folder in folders {
            std::fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        home.server("good", &artifacts::guest("echo").unwrap())
            .unwrap();
        Self { home }
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.home.path().canonicalize().unwrap().join(path)
    }

    /// Adds a server with these folders, each with its mode.
    pub(crate) fn server(&self, name: &str, folders: &[(&str, &str)]) -> &Self {
        let mut grants = format!("[servers.{name}.grants]\nfs = [");
        for (path, mode) in folders {
            let path = self.at(path);
            write!(
                grants,
                "{{ path = '{}', mode = '{mode}' }},",
                path.display()
            )
            .unwrap();
        }
        grants.push(']');
        let guest = artifacts::guest("folders").unwrap();
        self.home.server_with(name, &guest, &grants).unwrap();
        self
    }

    pub(crate) fn serve(&self) -> Client {
        self.home.serve().unwrap()
    }
}

/// Makes a server take some steps, and returns the outcome of each.
pub(crate) fn run(client: &mut Client, server: &str, steps: &[String]) -> Vec<String> {
    let result = client.call(&format!("{server}__run"), json!({ "steps": steps }));
    let result = result.unwrap();
    assert_ne!(result["isError"], true, "{result}");
    let said = result["structuredContent"]["result"].as_array().unwrap();
    said.iter()
        .map(|said| said.as_str().unwrap().to_owned())
        .collect()
}

fn refused(client: &mut Client, server: &str) -> String {
    let error = client.error(&format!("{server}__run"), json!({ "steps": ["granted"] }));
    let error = error.unwrap();
    stays_well(client);
    error
}

pub(crate) fn stays_well(client: &mut Client) {
    let text = client.text("good__echo", json!({ "text": "good" }));
    assert_eq!(text.unwrap(), "good");
}

pub(crate) fn step(verb: &str, paths: &[&Path]) -> String {
    let mut step = verb.to_owned();
    for path in paths {
        step.push('|');
        step.push_str(path.to_str().unwrap());
    }
    step
}
