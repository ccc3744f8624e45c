//! Grants: what a server may do. Nothing by default.

use std::path::{Path, PathBuf};

use crate::HttpGrant;

/// Grants of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants {
    /// Folders.
    pub fs: Vec<FsGrant>,
    /// Names of environment variables of the host that the guest sees.
    pub env: Vec<String>,
    /// HTTP requests.
    pub http: Vec<HttpGrant>,
}

impl Grants {
    /// Whether all of the other grants are among these.
    #[must_use]
    pub fn include(&self, other: &Self) -> bool {
        other.fs.iter().all(|one| self.fs.contains(one))
            && other.env.iter().all(|one| self.env.contains(one))
            && other.http.iter().all(|one| self.http.contains(one))
    }
}

/// Granted folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsGrant {
    /// The folder as it is written, absolute; its guest sees it under this path.
    pub path: PathBuf,
    /// The path without links that `path` led to when it was granted; none where that is not
    /// recorded, and then no link may be in `path`.
    pub real: Option<PathBuf>,
    /// Access to the folder.
    pub mode: FsMode,
}

impl FsGrant {
    /// Returns the path without links that the folder is opened at.
    #[must_use]
    pub fn real_path(&self) -> &Path {
        self.real.as_deref().unwrap_or(&self.path)
    }
}

/// Access to a granted folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FsMode {
    /// `ro`
    ReadOnly,
    /// `rw`
    ReadWrite,
}
