//! Files that are named for values of servers.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use dormouse_text::visible::short_name;

/// Files that values of servers are written to be in, each with what takes values from it, in words.
/// Whether that is in order, or used, makes no difference: it may be tomorrow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedFiles(BTreeMap<PathBuf, String>);

impl NamedFiles {
    /// Adds a file, if there can be one. What has named it before stays what is told.
    pub(crate) fn add(&mut self, file: PathBuf, takes: &str) {
        if can_be_at(&file) {
            self.0.entry(file).or_insert_with(|| takes.to_owned());
        }
    }

    /// Adds other files, which another user may have named: none that cannot be looked at, for what may be
    /// there counts as everything.
    pub(crate) fn add_others(&mut self, others: Self) {
        let is_told = |file: &Path| match file.metadata() {
            Ok(_) => true,
            Err(error) => matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
        };
        for (file, takes) in others.0 {
            if is_told(&file) {
                self.0.entry(file).or_insert(takes);
            }
        }
    }

    /// Returns the files, each with what takes values from it.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Path, &str)> {
        let files = self.0.iter();
        files.map(|(file, takes)| (file.as_path(), takes.as_str()))
    }
}

/// Most bytes of the name of a file or folder on the systems that Dormouse runs on.
const MAX_NAME_BYTES: usize = match cfg!(windows) {
    // There, they are counted in UTF-16, of which one unit can be three bytes.
    true => 3 * 255,
    false => 255,
};

/// Most bytes of a path; longer ones than Windows' are looked up nowhere.
pub(crate) const MAX_PATH_BYTES: usize = match cfg!(windows) {
    true => 3 * 32_767,
    false => 4095,
};

/// Whether a file can be at a path. Where none can, no look tells that another file is not the one there.
pub(crate) fn can_be_at(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    let mut names = path.components();
    bytes.len() <= MAX_PATH_BYTES
        && !bytes.contains(&0)
        && names.all(|name| name.as_os_str().len() <= MAX_NAME_BYTES)
}

/// Returns a server, or whatever else has a name, in words.
pub(crate) fn named(what: &str, name: &str) -> String {
    format!("the {what} `{}`", short_name(name))
}
