//! The files and folders that no plugin may reach, because they are Dormouse's own.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::folder::OpenFolder;
use super::found_paths::FoundPaths;
use super::identity::Identity;

/// A file or folder that no grant may contain or lie in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnPlace {
    /// Path of the place; it need not exist.
    pub path: PathBuf,
    /// Name of the place for messages: `Dormouse's cache`.
    pub what: String,
}

/// List of Dormouse's own places, made anew for each use: some depend on what is on disk.
#[derive(Clone)]
pub struct OwnPlaces(Arc<dyn Fn() -> Vec<OwnPlace> + Send + Sync>);

impl fmt::Debug for OwnPlaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries((self.0)()).finish()
    }
}

impl OwnPlaces {
    /// Makes a list that `list` fills.
    pub fn new(list: impl Fn() -> Vec<OwnPlace> + Send + Sync + 'static) -> Self {
        Self(Arc::new(list))
    }

    /// Returns the places as they are on disk now.
    pub fn resolved(&self) -> Vec<Resolved> {
        // Nearly all are in the same few folders.
        let mut found = FoundPaths::default();
        let places = (self.0)().into_iter();
        places
            .map(|place| Resolved::new(place, &mut found))
            .collect()
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
