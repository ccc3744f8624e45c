//! Files that are named for values of servers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dormouse_text::visible::visible_line;

/// Files that values of servers are written to be in, each with what takes values from it, in words.
/// Whether that is in order, or used, makes no difference: it may be tomorrow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedFiles(BTreeMap<PathBuf, String>);

impl NamedFiles {
    /// Adds a file. What has named it before stays what is told.
    pub(crate) fn add(&mut self, file: PathBuf, takes: &str) {
        self.0.entry(file).or_insert_with(|| takes.to_owned());
    }

    /// Returns the files, each with what takes values from it.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Path, &str)> {
        let files = self.0.iter();
        files.map(|(file, takes)| (file.as_path(), takes.as_str()))
    }
}

/// Returns a server, or whatever else has a name, in words.
pub(crate) fn named(what: &str, name: &str) -> String {
    format!("the {what} `{}`", visible_line(name))
}
