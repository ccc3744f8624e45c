//! The files and folders that no plugin may reach, because they are Dormouse's own.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::folder::OpenFolder;
use super::identity::Identity;

/// Most links that are followed on the way to one place, before it counts as missing.
const MAX_LINKS: usize = 40;

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
        (self.0)().into_iter().map(Resolved::new).collect()
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
    through: HashSet<Identity>,
    /// The place itself, where it is a folder.
    folder: Option<Identity>,
}

impl Resolved {
    fn new(place: OwnPlace) -> Self {
        let (through, folder) = walk(&place.path);
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

/// Returns the folders on the way to a path, as far as they exist, and the folder at its end, if it
/// is one.
fn walk(path: &Path) -> (HashSet<Identity>, Option<Identity>) {
    let mut through = HashSet::new();
    let mut at = PathBuf::new();
    // The next component is the last of these.
    let mut rest = reversed(path);
    let mut links = 0;
    let mut last = None;
    while let Some(name) = rest.pop() {
        if name == ".." {
            // No link is in `at`, so that its parent is the one that its path tells.
            at.pop();
            continue;
        }
        let next = at.join(&name);
        let Ok(metadata) = std::fs::symlink_metadata(&next) else {
            return (through, None);
        };
        if metadata.is_symlink() {
            links += 1;
            let Ok(target) = std::fs::read_link(&next) else {
                return (through, None);
            };
            if links > MAX_LINKS {
                return (through, None);
            }
            if target.is_absolute() {
                at = PathBuf::new();
            }
            rest.extend(reversed(&target));
            continue;
        }
        at = next;
        last = metadata.is_dir().then(|| Identity::new(&metadata, &at));
        through.extend(last.clone());
    }
    (through, last)
}

/// Returns the components of a path, the last one first.
fn reversed(path: &Path) -> Vec<OsString> {
    let components = path
        .components()
        .filter(|component| !matches!(component, Component::CurDir));
    let mut names: Vec<_> = components
        .map(|component| component.as_os_str().to_owned())
        .collect();
    names.reverse();
    names
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn overlaps(own: &Path, granted: &Path) -> bool {
        let place = OwnPlace {
            path: own.to_owned(),
            what: "a test's".to_owned(),
        };
        Resolved::new(place).overlaps(&OpenFolder::open(granted).unwrap())
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
