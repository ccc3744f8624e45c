//! Own folders, held so that each is known wherever it is moved.

use super::own::OwnPlace;

/// Most folders that are held. Of more, those that have been held longest are let go.
#[cfg(target_os = "linux")]
const MAX_FOLDERS: usize = 16;

/// Own folders that were found at their paths.
#[derive(Debug, Default)]
pub(super) struct OwnFolders {
    #[cfg(target_os = "linux")]
    held: std::collections::VecDeque<held::HeldFolder>,
}

impl OwnFolders {
    /// Returns those that are at another path than the one at which they were found, each with the one at
    /// which it is now. Folders at the paths of these places are held from now on.
    #[cfg(target_os = "linux")]
    pub(super) fn moved(&mut self, places: &[OwnPlace]) -> Vec<OwnPlace> {
        for place in places {
            let Some(folder) = held::HeldFolder::open(place) else {
                continue;
            };
            if !self.held.iter().any(|held| held.is_same(&folder)) {
                if self.held.len() == MAX_FOLDERS {
                    self.held.pop_front();
                }
                self.held.push_back(folder);
            }
        }
        self.held.retain(|held| !held.is_removed());
        self.held
            .iter()
            .filter_map(held::HeldFolder::moved)
            .collect()
    }

    /// Returns none.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn moved(&mut self, _: &[OwnPlace]) -> Vec<OwnPlace> {
        Vec::new()
    }
}

#[cfg(target_os = "linux")]
mod held {
    //! Folders whose paths the system tells.

    use std::fs::File;
    use std::os::fd::AsRawFd as _;
    use std::os::unix::fs::MetadataExt as _;

    use rustix::fs::{CWD, Mode, OFlags, openat};

    use crate::{Identity, OwnPlace};

    /// Folder that is held open, and the place at which it was found.
    #[derive(Debug)]
    pub(super) struct HeldFolder {
        place: OwnPlace,
        file: File,
        identity: Identity,
    }

    impl HeldFolder {
        /// Opens the folder of a place, if there is one.
        pub(super) fn open(place: &OwnPlace) -> Option<Self> {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let file = openat(CWD, &place.path, flags, Mode::empty()).ok()?;
            let file = File::from(file);
            let identity = Identity::new(&file.metadata().ok()?, &place.path);
            Some(Self {
                place: place.clone(),
                file,
                identity,
            })
        }

        /// Whether both are one folder, found at one place.
        pub(super) fn is_same(&self, other: &Self) -> bool {
            self.identity == other.identity && self.place == other.place
        }

        /// Whether the folder is gone.
        pub(super) fn is_removed(&self) -> bool {
            self.file.metadata().is_ok_and(|found| found.nlink() == 0)
        }

        /// Returns the folder as it is now, if it is at another path.
        pub(super) fn moved(&self) -> Option<OwnPlace> {
            let there = Identity::at(&self.place.path);
            if there.is_ok_and(|there| there == self.identity) {
                return None;
            }
            let link = format!("/proc/self/fd/{}", self.file.as_raw_fd());
            let path = std::fs::read_link(link).ok()?;
            path.is_absolute().then(|| OwnPlace {
                path,
                what: self.place.what.clone(),
            })
        }
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::fs::{create_dir_all, remove_dir, rename};

    use super::*;
    use crate::{OpenFolder, OwnPlaceList, OwnPlaces};

    #[test]
    fn an_own_folder_stays_one_wherever_it_is_moved() {
        let keep = tempfile::tempdir().unwrap();
        let root = keep.path().canonicalize().unwrap();
        for path in ["home/.local/data", "granted/sub", "other"] {
            create_dir_all(root.join(path)).unwrap();
        }
        let place = OwnPlace {
            path: root.join("home/.local/data"),
            what: "which is a test's".to_owned(),
        };
        let list = OwnPlaceList {
            places: vec![place.clone()],
            folders: vec![place],
            ..OwnPlaceList::default()
        };
        let own = OwnPlaces::new(move || list.clone());
        let overlapping = |granted: &str| {
            let granted = OpenFolder::open(&root.join(granted)).unwrap();
            let own = own.resolved();
            own.overlapping(&granted).map(|own| own.path.clone())
        };
        let at = |path: &str| Some(root.join(path));
        assert_eq!(overlapping("granted"), None);
        rename(root.join("home/.local"), root.join("granted/sub/moved")).unwrap();
        assert_eq!(overlapping("granted"), at("granted/sub/moved/data"));
        assert_eq!(overlapping("other"), None);
        // Another one in its place does not make the first one somebody else's.
        create_dir_all(root.join("home/.local/data")).unwrap();
        assert_eq!(overlapping("granted/sub"), at("granted/sub/moved/data"));
        assert_eq!(overlapping("home"), at("home/.local/data"));
        rename(root.join("granted/sub/moved/data"), root.join("other/x")).unwrap();
        assert_eq!(overlapping("granted"), None);
        assert_eq!(overlapping("other"), at("other/x"));
        remove_dir(root.join("other/x")).unwrap();
        assert_eq!(overlapping("other"), None);
    }

    #[test]
    fn few_folders_are_held() {
        let keep = tempfile::tempdir().unwrap();
        let path = keep.path().canonicalize().unwrap().join("data");
        let place = OwnPlace {
            path: path.clone(),
            what: String::new(),
        };
        let mut folders = OwnFolders::default();
        for number in 0..3 * MAX_FOLDERS {
            create_dir_all(&path).unwrap();
            let moved = folders.moved(std::slice::from_ref(&place));
            assert_eq!(moved.len(), number.min(MAX_FOLDERS - 1));
            rename(&path, path.with_extension(number.to_string())).unwrap();
        }
        assert_eq!(folders.held.len(), MAX_FOLDERS);
    }
}
