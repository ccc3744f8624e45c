//! Links on the way to a file.

use std::path::{Path, PathBuf};

#[cfg(unix)]
use crate::walk::Walk;

/// Whether the way to a path leads into a folder, as [`way_within`] finds it.
#[must_use]
pub fn leads_into(path: &Path, folder: &Path) -> bool {
    way_within(path, folder).is_some()
}

/// Returns the path where a path leads, by links that are not in a folder: those in it are not looked at.
/// One that leads nowhere is returned as it is. `unfollowed` is a path without links.
#[must_use]
pub fn real_path_outside(path: &Path, unfollowed: Option<&Path>) -> PathBuf {
    let within = unfollowed.and_then(|folder| Some(folder.join(way_within(path, folder)?)));
    let real = within.or_else(|| path.canonicalize().ok());
    real.unwrap_or_else(|| path.to_owned())
}

/// Returns the way on from a folder, where that to a path leads into it: by the names in it, by links or by
/// another name that the folder has, as in other letter case or where it is mounted once more. `folder` is a
/// path without links. Nothing in the folder is looked at, so that no link in it is followed.
#[cfg(unix)]
#[must_use]
pub fn way_within(path: &Path, folder: &Path) -> Option<PathBuf> {
    use std::os::unix::fs::MetadataExt as _;

    let path = std::path::absolute(path).ok()?;
    let identity = |found: &std::fs::Metadata| (found.dev(), found.ino());
    let of_folder = folder.symlink_metadata().ok();
    let of_folder = of_folder.as_ref().map(identity);
    let mut walk: Walk<()> = Walk::along(&path, usize::MAX);
    while let Some((path, _)) = walk.next() {
        if path == folder {
            return Some(walk.rest());
        }
        match path.symlink_metadata() {
            Ok(found) if found.is_symlink() => {
                let target = path.read_link();
                if !target.is_ok_and(|target| walk.follow(&target, false)) {
                    return None;
                }
            }
            Ok(found) if of_folder == Some(identity(&found)) => return Some(walk.rest()),
            Ok(_) => walk.pass(path, ()),
            Err(_) => return None,
        }
    }
    None
}

/// Returns the way on from a folder, where a path leads into it: by the names in it, or by where its links
/// lead in the end. `folder` is a path without links.
#[cfg(not(unix))]
#[must_use]
pub fn way_within(path: &Path, folder: &Path) -> Option<PathBuf> {
    if let Ok(within) = path.strip_prefix(folder) {
        return Some(within.to_owned());
    }
    let real = path.canonicalize().ok()?;
    real.strip_prefix(folder).ok().map(Path::to_owned)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_way_leads_into_a_folder_by_each_link_on_it() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("project/sub")).unwrap();
        fs::create_dir_all(root.join("home")).unwrap();
        let link = |at: &str, target: &str| symlink(target, root.join(at)).unwrap();
        link("home/link", "../project");
        link("home/two", "link/sub");
        link("home/file", "../project/out");
        link("home/elsewhere", "..");
        link("home/loop", "loop");
        // It goes on elsewhere, wherever that is.
        link("project/out", "/net/nowhere.invalid/file");
        for (path, expected) in [
            ("project", true),
            ("project/sub/missing", true),
            ("project/../home", true),
            ("home/link", true),
            ("home/link/missing", true),
            ("home/two", true),
            ("home/file", true),
            ("home/elsewhere/project", true),
            ("home/missing/../../project", false),
            ("home/elsewhere", false),
            ("home/loop", false),
            ("projects", false),
        ] {
            let found = leads_into(&root.join(path), &root.join("project"));
            assert_eq!(found, expected, "{path}");
        }
        for (path, expected) in [
            ("project", ""),
            ("home/two/missing", "sub/missing"),
            ("home/file", "out"),
            ("home/link/../home", "../home"),
        ] {
            let way = way_within(&root.join(path), &root.join("project"));
            assert_eq!(way.as_deref(), Some(Path::new(expected)), "{path}");
        }
    }
}
