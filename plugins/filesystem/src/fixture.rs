//! A folder to test in.

use tempfile::TempDir;

/// Makes a folder, which goes when the first value does, and returns its real path, too.
pub(crate) fn folder() -> (TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let root = root.to_str().unwrap().to_owned();
    (dir, root)
}
