//! The files and folders that no plugin may reach, because they are Dormouse's own.

use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use super::found_paths::FoundPaths;
use super::identity::Identity;
use super::mounts::Mounts;
use super::own_folders::OwnFolders;
use super::own_watch::{JudgedAt, OwnWatch};
use super::resolved::ResolvedPlaces;

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
    /// Places that are folders with nothing but Dormouse's own in them. Each stays one
    /// wherever it is moved, and so do its files by whatever other names they have.
    pub folders: Vec<OwnPlace>,
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
    folders: Arc<Mutex<OwnFolders>>,
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
            folders: Arc::default(),
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
    pub fn resolved(&self) -> ResolvedPlaces {
        self.find(&mut FoundPaths::default())
    }

    /// Whether a file is one of an own place, by whatever name. It is told for files that have several
    /// names. What cannot be told counts as a yes.
    pub fn has_file(&self, file: &Identity) -> bool {
        let judged = self.judge(&[], |own| Ok::<_, Infallible>(own.has_file(file)));
        let Ok((has_file, _)) = judged;
        has_file
    }

    fn find(&self, found: &mut FoundPaths) -> ResolvedPlaces {
        let mut list = (self.list)();
        let moved = self.folders.lock().moved(&list.folders);
        list.places.extend(moved.iter().cloned());
        list.folders.extend(moved);
        let mounts = Arc::new(Mounts::read());
        found.in_mounts(Arc::clone(&mounts));
        for path in &list.looked_at {
            found.walk(path);
        }
        for path in &list.read {
            found.read(path);
        }
        ResolvedPlaces::new(list, mounts, found)
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
        judge: impl FnOnce(&ResolvedPlaces) -> Result<T, E>,
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
                (Arc::new(own), is_watched)
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
