//! What lies at paths at one moment: of paths that begin alike, the beginning is looked at once.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use super::identity::Identity;

/// Most links on the way to one path; as many as the system follows.
const MAX_LINKS: usize = 40;

/// Paths that were looked at, each by its folder and its name there.
#[derive(Debug, Default)]
pub(super) struct FoundPaths(HashMap<(usize, OsString), FoundPath>);

/// A path with no link on the way to it.
#[derive(Debug, Clone)]
struct FoundPath {
    /// Number of the path; 0 stands for what relative paths begin at.
    number: usize,
    path: Rc<Path>,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Nothing,
    Folder(Identity),
    Link(PathBuf),
    Other,
}

impl Kind {
    fn at(path: &Path) -> Self {
        let Ok(metadata) = std::fs::symlink_metadata(path) else {
            return Self::Nothing;
        };
        if metadata.is_symlink() {
            return std::fs::read_link(path).map_or(Self::Nothing, Self::Link);
        }
        match metadata.is_dir() {
            true => Self::Folder(Identity::new(&metadata, path)),
            false => Self::Other,
        }
    }
}

impl FoundPaths {
    /// Returns the folders on the way to a path, as far as they exist, and the folder at its end,
    /// if it is one.
    pub(super) fn walk(&mut self, path: &Path) -> (Vec<Identity>, Option<Identity>) {
        let mut through = Vec::new();
        let mut last = None;
        let start = FoundPath {
            number: 0,
            path: Rc::from(Path::new("")),
            kind: Kind::Nothing,
        };
        // Where the walk is, behind all that is above.
        let (mut above, mut at) = (Vec::new(), start.clone());
        // The next component is the last of these.
        let mut rest = reversed(path);
        let mut links = 0;
        while let Some(name) = rest.pop() {
            if name == ".." {
                // No link is in `at`, so that its parent is the one that its path tells. The root
                // is its own.
                if at.path.parent().is_some()
                    && let Some(parent) = above.pop()
                {
                    at = parent;
                }
                continue;
            }
            let next = self.look(&at, name);
            match &next.kind {
                Kind::Nothing => return (through, None),
                Kind::Link(target) => {
                    links += 1;
                    if links > MAX_LINKS {
                        return (through, None);
                    }
                    if target.is_absolute() {
                        at = start.clone();
                        above.clear();
                    }
                    rest.extend(reversed(target));
                    continue;
                }
                Kind::Folder(identity) => {
                    last = Some(identity.clone());
                    through.push(identity.clone());
                }
                Kind::Other => last = None,
            }
            above.push(std::mem::replace(&mut at, next));
        }
        (through, last)
    }

    /// Returns what has that name in a folder.
    fn look(&mut self, folder: &FoundPath, name: OsString) -> FoundPath {
        let number = self.0.len() + 1;
        match self.0.entry((folder.number, name)) {
            Entry::Occupied(found) => found.get().clone(),
            Entry::Vacant(place) => {
                let path = folder.path.join(&place.key().1);
                let kind = Kind::at(&path);
                let path = Rc::from(path);
                place.insert(FoundPath { number, path, kind }).clone()
            }
        }
    }
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
