//! Which file or folder something is, whatever path leads to it.

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
    /// The identity of what `metadata` is of, which was read at `path`.
    #[cfg(unix)]
    pub fn new(metadata: &Metadata, _: &Path) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }

    /// The identity of what `metadata` is of, which was read at `path`.
    #[cfg(not(unix))]
    pub fn new(_: &Metadata, path: &Path) -> Self {
        Self {
            path: path.canonicalize().unwrap_or_else(|_| path.to_owned()),
        }
    }

    /// The identity of what a path leads to now, through links.
    ///
    /// # Errors
    /// Nothing is there, or it cannot be looked at.
    pub fn at(path: &Path) -> std::io::Result<Self> {
        Ok(Self::new(&std::fs::metadata(path)?, path))
    }
}
