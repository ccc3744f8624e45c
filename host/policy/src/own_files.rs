//! Files of own places, told by their identities: a file that has several names may have one elsewhere.

use std::fs::Metadata;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use super::identity::Identity;

/// Most entries of folders that are looked at. A file that is not found among these may be a later one.
const MAX_ENTRIES: u32 = match cfg!(test) {
    false => 10_000,
    true => 100,
};

/// Search of own places for one file.
pub(super) struct OwnFiles<'f> {
    wanted: &'f Identity,
    /// Number of entries that are still looked at.
    left: u32,
}

impl<'f> OwnFiles<'f> {
    /// Begins a search.
    pub(super) fn new(wanted: &'f Identity) -> Self {
        Self {
            wanted,
            left: MAX_ENTRIES,
        }
    }

    /// Whether the file is the one at a path, through links too. What cannot be told counts as a yes.
    pub(super) fn are_at(&self, path: &Path) -> bool {
        match std::fs::metadata(path) {
            Ok(found) => self.is_it(&found, path),
            Err(error) => !is_gone(&error),
        }
    }

    /// Whether the file lies in a folder, at whatever depth. What cannot be told counts as a yes.
    pub(super) fn are_below(&mut self, folder: &Path) -> bool {
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            match self.is_in(&folder, &mut folders) {
                Ok(false) => {}
                Ok(true) => return true,
                Err(error) if is_gone(&error) => {}
                Err(_) => return true,
            }
        }
        false
    }

    /// Whether the file is an entry of a folder, or comes behind too many others. The folders in it are
    /// added to those that are left.
    fn is_in(&mut self, folder: &Path, folders: &mut Vec<PathBuf>) -> Result<bool, Error> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let Some(left) = self.left.checked_sub(1) else {
                return Ok(true);
            };
            self.left = left;
            let found = match entry.metadata() {
                Ok(found) => found,
                Err(error) if is_gone(&error) => continue,
                Err(error) => return Err(error),
            };
            if found.is_dir() {
                folders.push(entry.path());
            } else if self.is_it(&found, &entry.path()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_it(&self, found: &Metadata, path: &Path) -> bool {
        found.is_file() && Identity::new(found, path) == *self.wanted
    }
}

/// Whether nothing is there, any more or yet.
fn is_gone(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs::{create_dir, create_dir_all, hard_link, write};
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::{OwnPlace, OwnPlaceList, OwnPlaces};

    #[test]
    fn a_file_of_an_own_place_is_known_by_all_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        create_dir_all(root.join("data/deep/er")).unwrap();
        create_dir(root.join("granted")).unwrap();
        let place = |path: &str| OwnPlace {
            path: root.join(path),
            what: "a test's".to_owned(),
        };
        let list = OwnPlaceList {
            places: ["data", "config", "linked", "none/yet"].map(place).into(),
            read: vec![root.join("read")],
            looked_at: Vec::new(),
            folders: vec![place("data")],
        };
        let own = OwnPlaces::new(move || list.clone());
        symlink("dots", root.join("linked")).unwrap();
        let files = [
            "config",
            "dots",
            "read",
            "data/a",
            "data/deep/er/b",
            "notes",
        ];
        for (index, file) in files.into_iter().enumerate() {
            write(root.join(file), file).unwrap();
            let name = root.join("granted").join(index.to_string());
            hard_link(root.join(file), &name).unwrap();
            let is_own = own.has_file(&Identity::at(&name).unwrap());
            assert_eq!(is_own, file != "notes", "{file}");
        }
        // Another file in the place of one.
        write(root.join("new"), "").unwrap();
        std::fs::rename(root.join("new"), root.join("config")).unwrap();
        let known = |name: &str| own.has_file(&Identity::at(&root.join(name)).unwrap());
        assert!(!known("granted/0") && known("config"));
        // Of more entries than are looked at nobody knows whether it is one.
        for number in 0..=MAX_ENTRIES {
            assert!(!known("notes") || number > MAX_ENTRIES - 10, "{number}");
            write(root.join(format!("data/deep/{number}")), "").unwrap();
        }
        assert!(known("notes"));
    }
}
