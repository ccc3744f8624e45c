//! Identities of files and folders, whatever path leads to them.

use std::fs::Metadata;
use std::path::Path;
#[cfg(not(unix))]
use std::path::PathBuf;

/// Identifies a file or folder: two paths with equal identities lead to the same one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Identity {
    #[cfg(unix)]
    device: u64,
    #[cfg(unix)]
    inode: u64,
    /// The path without links: what the standard library tells elsewhere.
    #[cfg(not(unix))]
    path: PathBuf,
}

impl Identity {
    /// Makes the identity of the file or folder with this `metadata`, which was read at `path`.
    #[cfg(unix)]
    pub fn new(metadata: &Metadata, _: &Path) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }

    /// Makes the identity of the file or folder with this metadata, which was read at `path`.
    #[cfg(not(unix))]
    pub fn new(_: &Metadata, path: &Path) -> Self {
        Self {
            path: path.canonicalize().unwrap_or_else(|_| path.to_owned()),
        }
    }

    /// Reads the identity of the file or folder that a path leads to now, through links.
    ///
    /// # Errors
    /// The path leads nowhere, or the metadata cannot be read.
    pub fn at(path: &Path) -> std::io::Result<Self> {
        Ok(Self::new(&std::fs::metadata(path)?, path))
    }
}
