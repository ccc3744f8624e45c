//! Projects whose servers nobody has trusted, as they are told.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use dormouse_text::visible::{first_names, visible_line, visible_path};
use serde::{Deserialize, Serialize};

use super::Configured;
use crate::{Client, Origin};

/// A project whose servers nobody has trusted, as it is told before that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UntrustedProject {
    /// Folder of the project; not said to agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// Number of servers in the project's files.
    pub servers: usize,
    /// Whether it was trusted with what its files said before.
    #[serde(default)]
    pub changed: bool,
    /// Files that have changed since, within the project, as far as that is known: a project names
    /// them, so that only people are told.
    #[serde(skip)]
    pub changed_files: Vec<PathBuf>,
}

/// Returns the first of some files in parentheses, for a person; nothing where there are none.
#[must_use]
pub fn told_files(files: &[PathBuf]) -> String {
    // A project names them.
    let shown = |file: &PathBuf| visible_path(file).replace('`', "\\u{60}");
    let files: Vec<_> = files.iter().map(shown).collect();
    match files.is_empty() {
        true => String::new(),
        false => format!(" ({})", first_names(&files)),
    }
}

impl Configured {
    /// Returns the folder that is worked in, without links, where its user has never trusted it: no link in
    /// it is followed.
    #[must_use]
    pub fn unfollowed(&self) -> Option<&Path> {
        self.found.unfollowed.as_deref()
    }
}

impl UntrustedProject {
    /// Returns the hint for somebody who looks for a server and does not find it.
    #[must_use]
    pub fn hint(&self) -> String {
        format!(
            "hint: there is something that is not shown, {} of a project that is not trusted: \
             `dormouse trust` in its folder shows what would run, and allows it",
            self.counted()
        )
    }

    fn counted(&self) -> String {
        let plural = if self.servers == 1 { "" } else { "s" };
        format!("{} server{plural}", self.servers)
    }
}

impl fmt::Display for UntrustedProject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folder = self.folder.as_deref().unwrap_or(Path::new("."));
        let folder = folder.to_string_lossy();
        let files = told_files(&self.changed_files);
        write!(
            f,
            "{} of a project that is {}, `{}`: not shown, and not started\n\
             hint: `dormouse trust` in that folder shows what they are, and allows them",
            self.counted(),
            match self.changed {
                true => format!("trusted no longer, for its files have changed since{files}"),
                false => "not trusted".to_owned(),
            },
            visible_line(&folder)
        )
    }
}

impl Configured {
    /// Returns the files of a project that are new or others than when its record in the file of
    /// trusted folders was made, within the project, as far as that is known.
    #[must_use]
    pub fn changed_since(&self, project: &Path, record: &str) -> Vec<PathBuf> {
        let hashes = self.projects.get(project);
        hashes.map_or_else(Vec::new, |hashes| hashes.changed_since(record))
    }

    /// Returns the project whose servers nobody has trusted, as far as these are something for a
    /// client: none where it loads all of them itself. All of them where the client is not known.
    #[must_use]
    pub fn untrusted_for(&self, client: Option<Client>) -> Option<UntrustedProject> {
        let all = self.untrusted.clone()?;
        let Some(client) = client else {
            return Some(all);
        };
        // Of one name, the first client's is taken.
        let mut taken: BTreeMap<&String, Option<Client>> = BTreeMap::new();
        for (name, origin) in self.entries_of_untrusted_projects() {
            let first = taken.entry(name).or_insert(origin.client);
            *first = (*first).min(origin.client);
        }
        let others = taken.values().filter(|first| **first != Some(client));
        let servers = others.count();
        (servers > 0).then_some(UntrustedProject { servers, ..all })
    }

    /// Returns the names of the servers in the files of projects that are not trusted.
    pub(super) fn names_of_untrusted_projects(&self) -> impl Iterator<Item = &String> {
        self.entries_of_untrusted_projects().map(|(name, _)| name)
    }

    /// Returns the servers in the files of projects that are not trusted, by name, each with its
    /// place.
    fn entries_of_untrusted_projects(&self) -> impl Iterator<Item = (&String, &Origin)> {
        let found = self.found.found.iter().map(|found| &found.server);
        let filled = self.of_project.iter().chain(found);
        let filled = filled.map(|server| (&server.name, &server.origin));
        let counted = self.found.counted.iter();
        let counted = counted.map(|server| (&server.name, &server.origin));
        let filled = filled.filter(|(_, origin)| !self.is_trusted(origin));
        filled.chain(counted)
    }
}
