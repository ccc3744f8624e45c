//! File that a secret's text is read from.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::OpenFolder;

/// File that a secret's text is read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretFile {
    /// Path as it is written, absolute.
    pub path: PathBuf,
    /// Path without links at which the user of a project that names the file was shown it: it is read
    /// there, and nowhere else. None where the user has named it, who may have it be a link.
    pub real: Option<PathBuf>,
}

impl<P: Into<PathBuf>> From<P> for SecretFile {
    fn from(path: P) -> Self {
        Self {
            path: path.into(),
            real: None,
        }
    }
}

impl SecretFile {
    /// Opens the file where it was shown, one part of its path after the other, none of which may be a
    /// link: whoever has the project may have made it one since.
    ///
    /// # Errors
    /// It is not there, is no regular file, or cannot be opened.
    pub fn open_shown(real: &Path) -> io::Result<File> {
        let parts = real.parent().zip(real.file_name());
        let (folder, name) = parts.ok_or(io::ErrorKind::IsADirectory)?;
        let folder = OpenFolder::open(folder).map_err(io::Error::other)?;
        folder.open_file(name)
    }
}
