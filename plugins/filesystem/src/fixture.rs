//! A folder to test in.

use tempfile::TempDir;

/// A new folder, which goes when the first value does, and its real path.
pub(crate) fn folder() -> (TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let root = root.to_str().unwrap().to_owned();
    (dir, root)
}
