//! The files and folders that no plugin may reach, because they are Dormouse's own.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use super::folder::OpenFolder;
use super::found_paths::FoundPaths;
use super::identity::Identity;
use super::own_watch::{JudgedAt, OwnWatch};

/// A file or folder that no grant may contain or lie in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnPlace {
    /// Path of the place; it need not exist.
    pub path: PathBuf,
    /// Name of the place for messages: `Dormouse's cache`.
    pub what: String,
}

/// Own places at one moment.
#[derive(Debug, Clone, Default)]
pub struct OwnPlaceList {
    /// The places.
    pub places: Vec<OwnPlace>,
    /// Absolute paths of folders that were listed to find these, and of files that were read. They need
    /// not exist.
    pub read: Vec<PathBuf>,
    /// Absolute paths of which nothing more was asked than whether something is there, what and whose.
    pub looked_at: Vec<PathBuf>,
}

impl From<Vec<OwnPlace>> for OwnPlaceList {
    fn from(places: Vec<OwnPlace>) -> Self {
        Self {
            places,
            ..Self::default()
        }
    }
}

/// List of Dormouse's own places. It is made anew where anything has changed that it was made of: some
/// places depend on what is on disk.
#[derive(Clone)]
pub struct OwnPlaces {
    list: Arc<dyn Fn() -> OwnPlaceList + Send + Sync>,
    version: Arc<dyn Fn() -> u64 + Send + Sync>,
    watch: Arc<Mutex<OwnWatch>>,
}

impl fmt::Debug for OwnPlaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries((self.list)().places).finish()
    }
}

impl OwnPlaces {
    /// Makes a list that `list` fills.
    pub fn new<L: Into<OwnPlaceList>>(list: impl Fn() -> L + Send + Sync + 'static) -> Self {
        Self {
            list: Arc::new(move || list().into()),
            version: Arc::new(|| 0),
            watch: Arc::default(),
        }
    }

    /// Has the list made anew where `version` returns another number than before, too: that of what is
    /// not on disk.
    #[must_use]
    pub fn with_version(mut self, version: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.version = Arc::new(version);
        self
    }

    /// Returns the places as they are on disk now.
    pub fn resolved(&self) -> Vec<Resolved> {
        self.find(&mut FoundPaths::default())
    }

    fn find(&self, found: &mut FoundPaths) -> Vec<Resolved> {
        let list = (self.list)();
        for path in &list.looked_at {
            found.walk(path);
        }
        for path in &list.read {
            found.read(path);
        }
        // Nearly all are in the same few folders.
        let places = list.places.into_iter();
        places.map(|place| Resolved::new(place, found)).collect()
    }

    /// Judges folders at these paths by the places as they are now. What is judged with is told whether
    /// it still holds with [`OwnPlaces::holds`]; none where that cannot be told.
    ///
    /// The folders and files on the way to all of these paths are watched first, and looked at again
    /// then, so that nothing goes unnoticed that happens after the look by which is judged.
    ///
    /// # Errors
    /// Those of `judge`.
    pub fn judge<T, E>(
        &self,
        paths: &[&Path],
        judge: impl FnOnce(&[Resolved]) -> Result<T, E>,
    ) -> Result<(T, Option<JudgedAt>), E> {
        let version = (self.version)();
        let begun = self.watch.lock().begin(version);
        let Some(begun) = begun else {
            return Ok((judge(&self.resolved())?, None));
        };
        let (own, is_own_watched) = match begun.own {
            Some(own) => (own, true),
            None => {
                let (own, is_watched) = self.watched(|found| self.find(found));
                (Arc::from(own), is_watched)
            }
        };
        let ((), are_paths_watched) = self.watched(|found| {
            for path in paths {
                found.walk(path);
            }
        });
        let judged = judge(&own)?;
        let mut watch = self.watch.lock();
        if !is_own_watched {
            watch.rest();
            return Ok((judged, None));
        }
        let at = watch.end(begun.at, own);
        Ok((judged, at.filter(|_| are_paths_watched)))
    }

    /// Whether nothing has changed by which was judged then.
    pub fn holds(&self, judged: JudgedAt) -> bool {
        let version = (self.version)();
        self.watch.lock().is_as_at(judged, version)
    }

    /// Finds paths, has all watched that leads to them, and finds them again. Returns what was found, and
    /// whether no change of it goes unnoticed.
    ///
    /// What leads to a folder is watched before the folder. If the same was found twice, each watch is
    /// that of the folder which was found: another one in its place meanwhile would have come and gone
    /// in a folder that was watched by then.
    fn watched<T>(&self, find: impl Fn(&mut FoundPaths) -> T) -> (T, bool) {
        let mut before = FoundPaths::default();
        let found = find(&mut before);
        let Some(looked_into) = before.looked_into() else {
            return (found, false);
        };
        if !OwnWatch::is_told_of(&looked_into) || !self.watch.lock().add(&looked_into) {
            return (found, false);
        }
        let mut after = FoundPaths::default();
        let found = find(&mut after);
        (found, before == after)
    }
}

/// An own place as it is on disk.
#[derive(Debug)]
pub struct Resolved {
    /// The place as it is named.
    pub place: OwnPlace,
    /// Folders in which something is looked up on the way to the place, through links too, and the
    /// place itself where it is a folder: whoever writes to one of them can put something else in
    /// its place.
    through: Vec<Identity>,
    /// The place itself, where it is a folder.
    folder: Option<Identity>,
}

impl Resolved {
    fn new(place: OwnPlace, found: &mut FoundPaths) -> Self {
        let (through, folder) = found.walk(&place.path);
        Self {
            place,
            through,
            folder,
        }
    }

    /// Whether the place contains a granted folder, or lies in it.
    pub fn overlaps(&self, granted: &OpenFolder) -> bool {
        let contains = |folder| self.through.contains(folder);
        granted.identity().is_some_and(contains)
            || self
                .folder
                .as_ref()
                .is_some_and(|own| granted.is_within(own))
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::*;

    fn overlaps(own: &Path, granted: &Path) -> bool {
        let place = OwnPlace {
            path: own.to_owned(),
            what: "a test's".to_owned(),
        };
        Resolved::new(place, &mut FoundPaths::default())
            .overlaps(&OpenFolder::open(granted).unwrap())
    }

    #[test]
    fn a_place_is_kept_whatever_leads_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in ["home/.config/dm", "dots/deep", "notes", "data/dm/sub"] {
            std::fs::create_dir_all(root.join(path)).unwrap();
        }
        std::fs::write(root.join("dots/deep/file"), "").unwrap();
        symlink(
            root.join("dots/second"),
            root.join("home/.config/dm/linked"),
        )
        .unwrap();
        symlink("deep/file", root.join("dots/second")).unwrap();
        symlink("../../data/dm", root.join("home/.config/data")).unwrap();
        for (own, granted, expected) in [
            // What contains it, and what lies in it.
            ("home/.config/dm", "home", true),
            ("home/.config/dm", "home/.config", true),
            ("home/.config/dm", "home/.config/dm", true),
            ("home/.config", "home/.config/dm", true),
            ("home/.config/dm", "notes", false),
            // A file behind two links: each folder with a link in it, and its own.
            ("home/.config/dm/linked", "home/.config/dm", true),
            ("home/.config/dm/linked", "dots", true),
            ("home/.config/dm/linked", "dots/deep", true),
            ("home/.config/dm/linked", "notes", false),
            // A folder behind a link.
            ("home/.config/data", "data/dm/sub", true),
            ("home/.config/data", "data", true),
            // What does not exist can be made where it would be.
            ("home/.config/new/file", "home/.config", true),
            ("home/.config/new/file", "home/.config/dm", false),
        ] {
            let found = overlaps(&root.join(own), &root.join(granted));
            assert_eq!(found, expected, "{own} and {granted}");
        }
        // Many at once, with one look at what they share, are what each is by itself.
        let names = [
            "home/.config/dm/linked",
            "home/.config/data",
            "home/.config/data/../dm",
            "home/.config/dm/linked",
            "home/.config/new/file",
            "dots/deep/file/below",
        ];
        let places = names.map(|name| OwnPlace {
            path: root.join(name),
            what: String::new(),
        });
        for resolved in OwnPlaces::new(move || places.to_vec()).resolved() {
            let path = &resolved.place.path;
            let alone = FoundPaths::default().walk(path);
            let together = (resolved.through, resolved.folder);
            assert_eq!(together, alone, "{}", path.display());
        }
    }

    #[test]
    fn links_in_a_circle_end() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        symlink("b", root.join("a")).unwrap();
        symlink("a", root.join("b")).unwrap();
        assert!(overlaps(&root.join("a/x"), &root));
    }
}
