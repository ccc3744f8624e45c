//! Grants: what a server may do. Nothing by default.

use std::path::PathBuf;

/// All that a server is granted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants {
    /// Folders, seen by the guest under the path that they have on the host.
    pub fs: Vec<FsGrant>,
    /// Names of environment variables of the host that the guest sees.
    pub env: Vec<String>,
}

/// One granted folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsGrant {
    /// The folder, absolute.
    pub path: PathBuf,
    /// What may be done there.
    pub mode: FsMode,
}

/// What may be done in a granted folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FsMode {
    /// `ro`
    ReadOnly,
    /// `rw`
    ReadWrite,
}
