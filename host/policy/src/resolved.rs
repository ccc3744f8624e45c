//! Own places as they are on disk at one moment, and what is decided by them.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::folder::OpenFolder;
use super::found_paths::{FoundPaths, FoundWay};
use super::identity::Identity;
use super::mounts::{MountedPath, Mounts, ReachedPaths};
use super::own::{OwnPlace, OwnPlaceList};
use super::own_files::OwnFiles;

/// Own places as they are on disk.
#[derive(Debug)]
pub struct ResolvedPlaces {
    places: Vec<Resolved>,
    mounts: Arc<Mounts>,
    /// Folders with nothing but own files, and files that were read to find the places.
    folders: Vec<PathBuf>,
    read: Vec<PathBuf>,
}

/// An own place as it is on disk.
#[derive(Debug)]
struct Resolved {
    place: OwnPlace,
    /// Folders in which something is looked up on the way to the place, through links too, and the
    /// place itself where it is a folder: whoever writes to one of them can put something else in
    /// its place.
    through: Vec<Identity>,
    /// The place itself, where it is a folder.
    folder: Option<Identity>,
    /// Path of the place with no link in it, if something is there.
    path: Option<PathBuf>,
    /// Locations of the last folders on the way and of the place.
    on_the_way: Vec<MountedPath>,
    /// Locations of the place and of what is mounted in it.
    itself: Vec<MountedPath>,
}

impl ResolvedPlaces {
    pub(super) fn new(list: OwnPlaceList, mounts: Arc<Mounts>, found: &mut FoundPaths) -> Self {
        // Nearly all are in the same few folders.
        let places = list.places.into_iter();
        let mut places: Vec<_> = places.map(|place| Resolved::new(place, found)).collect();
        let mut by_path: HashMap<PathBuf, Vec<usize>> = HashMap::new();
        for (index, resolved) in places.iter().enumerate() {
            if let Some(path) = &resolved.path {
                by_path.entry(path.clone()).or_default().push(index);
            }
        }
        for (at, mounted) in mounts.all() {
            let own = at.ancestors().filter_map(|above| by_path.get(above));
            for index in own.flatten() {
                if let Some(own) = places.get_mut(*index) {
                    own.itself.push(mounted.clone());
                }
            }
        }
        let folders = list.folders.into_iter().map(|folder| folder.path);
        Self {
            places,
            mounts,
            folders: folders.collect(),
            read: list.read,
        }
    }

    /// Returns the first place that contains a granted folder or lies in it, by whatever path.
    pub fn overlapping(&self, granted: &OpenFolder) -> Option<&OwnPlace> {
        let reached = self.mounts.reached(granted.path());
        let mut places = self.places.iter();
        let found = places.find(|own| own.overlaps(granted) || own.is_among(&reached));
        found.map(|own| &own.place)
    }

    /// Whether a file is one of the places, or lies in one that has own files alone. It is told for files
    /// that have several names. What cannot be told counts as a yes.
    pub(super) fn has_file(&self, file: &Identity) -> bool {
        let places = self.places.iter().map(|own| own.place.path.as_path());
        let files: BTreeSet<&Path> = places
            .chain(self.read.iter().map(PathBuf::as_path))
            .collect();
        let folders: BTreeSet<&Path> = self.folders.iter().map(PathBuf::as_path).collect();
        let mut own = OwnFiles::new(file);
        files.into_iter().any(|path| own.are_at(path))
            || folders.into_iter().any(|folder| own.are_below(folder))
    }
}

impl Resolved {
    fn new(place: OwnPlace, found: &mut FoundPaths) -> Self {
        let FoundWay {
            through,
            folder,
            end,
            locations,
        } = found.walk(&place.path);
        let itself = match end {
            Some(_) => locations.last().cloned(),
            None => None,
        };
        Self {
            place,
            through,
            folder,
            path: end,
            itself: itself.into_iter().collect(),
            on_the_way: locations,
        }
    }

    /// Whether the place contains a granted folder, or lies in it.
    fn overlaps(&self, granted: &OpenFolder) -> bool {
        let contains = |folder| self.through.contains(folder);
        granted.identity().is_some_and(contains)
            || self
                .folder
                .as_ref()
                .is_some_and(|own| granted.is_within(own))
    }

    /// Whether the place, or a folder on the way to it, is among what is reached, or contains some of it.
    fn is_among(&self, reached: &ReachedPaths) -> bool {
        let mut on_the_way = self.on_the_way.iter();
        let mut itself = self.itself.iter();
        on_the_way.any(|location| reached.contains(location))
            || itself.any(|own| reached.contains(own) || reached.has_within(own))
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::*;
    use crate::OwnPlaces;

    fn overlaps(own: &Path, granted: &Path) -> bool {
        let place = OwnPlace {
            path: own.to_owned(),
            what: "a test's".to_owned(),
        };
        let own = OwnPlaces::new(move || vec![place.clone()]);
        let granted = OpenFolder::open(granted).unwrap();
        own.resolved().overlapping(&granted).is_some()
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
        for resolved in OwnPlaces::new(move || places.to_vec()).resolved().places {
            let path = &resolved.place.path;
            let alone = FoundPaths::default().walk(path);
            let together = (resolved.through, resolved.folder, resolved.path);
            let alone = (alone.through, alone.folder, alone.end);
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
