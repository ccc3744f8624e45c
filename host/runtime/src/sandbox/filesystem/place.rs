//! Places of files and folders, whatever is moved meanwhile.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Component, Path};

use cap_primitives::fs::{FollowSymlinks, open_dir, read_link_contents, stat};
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

use super::FilesystemResult;

/// Name in a folder that is held open: whatever is moved meanwhile, it is in that folder.
pub(super) struct NameInFolder {
    pub(super) parent: File,
    pub(super) name: OsString,
    /// Whether there is a slash behind the name, which only a folder may have.
    pub(super) is_of_folder: bool,
}

impl NameInFolder {
    /// Opens the folder of a path.
    ///
    /// # Errors
    /// It cannot be opened, or the path does not end with a name.
    pub(super) fn open(dir: &File, path: &str) -> FilesystemResult<Self> {
        let named = path.trim_end_matches('/');
        let is_name = !matches!(named.rsplit('/').next(), Some("." | ".."));
        let named = Path::new(named);
        let name = named.file_name().filter(|_| is_name);
        let name = match (name, path.is_empty()) {
            (Some(name), _) => name.to_owned(),
            (None, true) => return Err(ErrorCode::NoEntry),
            (None, false) => return Err(ErrorCode::Invalid),
        };
        let parent = match named.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => open_dir(dir, parent)?,
            _ => dir.try_clone()?,
        };
        Ok(Self {
            parent,
            name,
            is_of_folder: path.ends_with('/'),
        })
    }

    /// Checks that what is there is no link that would lead elsewhere from another place: no guest
    /// makes such a link, but there may be one.
    ///
    /// Returns whether it is a folder.
    ///
    /// # Errors
    /// It is one, or nothing is there.
    pub(super) fn check_movable(&self) -> FilesystemResult<bool> {
        let name = Path::new(&self.name);
        let kind = stat(&self.parent, name, FollowSymlinks::No)?.file_type();
        if kind.is_symlink() {
            // Also with a slash behind it, with which it would be followed here and not where it is
            // renamed.
            let target = read_link_contents(&self.parent, name)?;
            if !target.to_str().is_some_and(stays_below) {
                return Err(ErrorCode::NotPermitted);
            }
        }
        match self.is_of_folder && !kind.is_dir() {
            true => Err(ErrorCode::NotDirectory),
            false => Ok(kind.is_dir()),
        }
    }
}

/// Checks whether a link to that target leads to a place beside or below it, wherever the link is.
pub(super) fn stays_below(target: &str) -> bool {
    let mut components = Path::new(target).components();
    components.all(|component| matches!(component, Component::Normal(_) | Component::CurDir))
}

#[cfg(test)]
mod tests {
    use cap_primitives::fs::rename;

    use super::*;

    #[test]
    fn links_lead_to_what_is_beside_or_below_them() {
        for (target, stays) in [
            ("a", true),
            ("./a/b", true),
            ("a/./b/", true),
            ("..", false),
            ("a/../b", false),
            ("../a", false),
            ("a/b/..", false),
            ("/", false),
            ("/etc", false),
        ] {
            assert_eq!(stays_below(target), stays, "{target}");
        }
    }

    /// Another call of the guest's may exchange folders between a look at a link and its move.
    #[cfg(unix)]
    #[test]
    fn what_is_moved_is_what_was_looked_at() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let dir = File::open(root).unwrap();
        for folder in ["harmless", "links"] {
            std::fs::create_dir(root.join(folder)).unwrap();
        }
        std::fs::write(root.join("harmless/l"), "file").unwrap();
        symlink("..", root.join("links/l")).unwrap();
        symlink("/etc", root.join("links/root")).unwrap();
        symlink("l", root.join("links/beside")).unwrap();
        let place = |path| NameInFolder::open(&dir, path);
        let (from, to) = (place("harmless/l").unwrap(), place("moved").unwrap());
        std::fs::rename(root.join("harmless"), root.join("away")).unwrap();
        std::fs::rename(root.join("links"), root.join("harmless")).unwrap();
        from.check_movable().unwrap();
        rename(
            &from.parent,
            from.name.as_ref(),
            &to.parent,
            to.name.as_ref(),
        )
        .unwrap();
        assert_eq!(std::fs::read_to_string(root.join("moved")).unwrap(), "file");
        assert!(root.join("harmless/l").is_symlink());
        for (path, code) in [
            ("harmless/l", ErrorCode::NotPermitted),
            ("harmless/l/", ErrorCode::NotPermitted),
            ("harmless/root", ErrorCode::NotPermitted),
            ("harmless/beside/", ErrorCode::NotDirectory),
            ("harmless/nothing", ErrorCode::NoEntry),
        ] {
            let refused = place(path).unwrap().check_movable().unwrap_err();
            assert_eq!(refused, code, "{path}");
        }
        for path in ["harmless/beside", "harmless/", "./harmless"] {
            place(path).unwrap().check_movable().unwrap();
        }
        for path in ["", ".", "..", "/", "harmless/.", "harmless/..", "nothing/x"] {
            assert!(place(path).is_err(), "{path}");
        }
    }
}
