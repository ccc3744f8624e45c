//! Files and folders at paths at one moment: of paths that begin alike, the beginning is looked at
//! once.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use super::identity::Identity;
use super::mounts::{MountedPath, Mounts};

/// Most links on the way to one path; as many as the system follows.
const MAX_LINKS: usize = 40;

/// Most entries of a folder that are looked at because others have listed it.
const MAX_ENTRIES: usize = 1000;

/// Paths that were looked at.
#[derive(Debug, Default, PartialEq)]
pub(super) struct FoundPaths {
    /// Each by its folder and its name there.
    by_name: HashMap<(usize, OsString), FoundPath>,
    /// Files and folders that were looked into, by the numbers of the paths: folders before what is
    /// in them.
    looked_into: BTreeMap<usize, LookedInto>,
    /// Whether something was looked at of which nobody knows when it changes.
    is_vague: bool,
    /// Mounts that paths lead into; none where that is not asked.
    mounts: Arc<Mounts>,
}

/// Folders and files that were found on the way to a path.
#[derive(Debug, Default, PartialEq)]
pub(super) struct FoundWay {
    /// Folders on the way to it, as far as they exist.
    pub(super) through: Vec<Identity>,
    /// The folder at its end, if it is one.
    pub(super) folder: Option<Identity>,
    /// Path of what is at its end, if something is, with no link in it.
    pub(super) end: Option<PathBuf>,
    /// Places of the folders on the way and of what is at its end, in their filesystems: of those that lie
    /// in one another, the last.
    pub(super) locations: Vec<MountedPath>,
}

/// Folder in which names were looked up or which was listed, or a file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LookedInto {
    /// Path of it, with no link in it.
    pub(super) path: Rc<Path>,
    /// Question that was asked of it.
    pub(super) asked: Asked,
}

/// Question that was asked of a folder or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asked {
    /// Entries of the folder under these names.
    Names(BTreeSet<OsString>),
    /// All that is in the folder.
    Entries,
    /// Content of the file.
    Content,
}

/// A path with no link on the way to it.
#[derive(Debug, Clone, PartialEq)]
struct FoundPath {
    /// Number of the path; 0 stands for what relative paths begin at.
    number: usize,
    path: Rc<Path>,
    kind: FoundPathKind,
    /// The mount that it is in, if that is known.
    mount: Option<usize>,
}

#[derive(Debug, Clone, PartialEq)]
enum FoundPathKind {
    Nothing,
    /// It cannot be looked at.
    Unknown,
    Folder(Identity),
    Link(PathBuf),
    Other,
}

impl FoundPathKind {
    fn at(path: &Path) -> Self {
        let metadata = match std::fs::symlink_metadata(path) {
            Ok(metadata) => metadata,
            Err(error) => {
                return match error.kind() {
                    ErrorKind::NotFound | ErrorKind::NotADirectory => Self::Nothing,
                    _ => Self::Unknown,
                };
            }
        };
        if metadata.is_symlink() {
            return std::fs::read_link(path).map_or(Self::Unknown, Self::Link);
        }
        match metadata.is_dir() {
            true => Self::Folder(Identity::new(&metadata, path)),
            false => Self::Other,
        }
    }
}

impl FoundPaths {
    /// Looks at paths that lead into these mounts.
    pub(super) fn in_mounts(&mut self, mounts: Arc<Mounts>) {
        self.mounts = mounts;
    }

    /// Returns what is on the way to a path.
    pub(super) fn walk(&mut self, path: &Path) -> FoundWay {
        self.follow(path).0
    }

    /// Notes that a file was read or a folder listed, and what its entries are, also behind links.
    pub(super) fn read(&mut self, path: &Path) {
        let (_, Some(found)) = self.follow(path) else {
            return;
        };
        let path = Rc::clone(&found.path);
        self.is_vague |= !path.is_absolute();
        let is_folder = matches!(found.kind, FoundPathKind::Folder(_));
        let asked = match is_folder {
            true => Asked::Entries,
            false => Asked::Content,
        };
        let looked_into = LookedInto {
            path: Rc::clone(&path),
            asked,
        };
        self.looked_into.insert(found.number, looked_into);
        if !is_folder {
            return;
        }
        let entries = std::fs::read_dir(&path).and_then(|entries| {
            let names = entries.map(|entry| Ok(entry?.file_name()));
            names
                .take(MAX_ENTRIES + 1)
                .collect::<Result<BTreeSet<_>, _>>()
        });
        match entries {
            Ok(names) if names.len() <= MAX_ENTRIES => {
                for name in names {
                    self.follow(&path.join(name));
                }
            }
            _ => self.is_vague = true,
        }
    }

    /// Returns the folders and files of which one has to change before any of the paths leads somewhere
    /// else, or something else is read there: each behind those that lead to it. None where nobody knows.
    pub(super) fn looked_into(&self) -> Option<Vec<LookedInto>> {
        (!self.is_vague).then(|| self.looked_into.values().cloned().collect())
    }

    fn follow(&mut self, path: &Path) -> (FoundWay, Option<FoundPath>) {
        let mut way = FoundWay::default();
        let mut passed = Vec::new();
        let end = self.pass(path, &mut way, &mut passed);
        way.end = end.as_ref().map(|end| end.path.to_path_buf());
        if end.is_none() {
            way.folder = None;
        }
        let places = passed.iter().filter_map(|found: &FoundPath| {
            let mount = found.mount?;
            self.mounts.location(mount, &found.path)
        });
        way.locations = places.collect();
        (way, end)
    }

    /// Passes all that is on the way to a path. Returns what is at its end; none where nothing is.
    fn pass(
        &mut self,
        path: &Path,
        way: &mut FoundWay,
        passed: &mut Vec<FoundPath>,
    ) -> Option<FoundPath> {
        let start = FoundPath {
            number: 0,
            path: Rc::from(Path::new("")),
            kind: FoundPathKind::Nothing,
            mount: None,
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
                FoundPathKind::Nothing | FoundPathKind::Unknown => return None,
                FoundPathKind::Link(target) => {
                    links += 1;
                    if links > MAX_LINKS {
                        return None;
                    }
                    if target.is_absolute() {
                        at = start.clone();
                        above.clear();
                    }
                    rest.extend(reversed(target));
                    continue;
                }
                FoundPathKind::Folder(identity) => {
                    way.folder = Some(identity.clone());
                    way.through.push(identity.clone());
                }
                FoundPathKind::Other => way.folder = None,
            }
            match passed.last_mut() {
                Some(last) if last.mount == next.mount && next.path.starts_with(&last.path) => {
                    *last = next.clone();
                }
                _ => passed.push(next.clone()),
            }
            above.push(std::mem::replace(&mut at, next));
        }
        Some(at)
    }

    /// Returns what has that name in a folder.
    fn look(&mut self, folder: &FoundPath, name: OsString) -> FoundPath {
        let number = self.by_name.len() + 1;
        match self.by_name.entry((folder.number, name)) {
            Entry::Occupied(found) => found.get().clone(),
            Entry::Vacant(place) => {
                let name = &place.key().1;
                let path = folder.path.join(name);
                let kind = FoundPathKind::at(&path);
                // A relative path begins wherever this process is.
                self.is_vague |= kind == FoundPathKind::Unknown || !path.is_absolute();
                if matches!(folder.kind, FoundPathKind::Folder(_))
                    && !is_this_process(&folder.path, name)
                {
                    let looked_into = self.looked_into.entry(folder.number);
                    let looked_into = looked_into.or_insert_with(|| LookedInto {
                        path: Rc::clone(&folder.path),
                        asked: Asked::Names(BTreeSet::new()),
                    });
                    if let Asked::Names(names) = &mut looked_into.asked {
                        names.insert(name.clone());
                    }
                }
                let mount = self.mounts.enter(folder.mount, &path);
                let path = Rc::from(path);
                let found = FoundPath {
                    number,
                    path,
                    kind,
                    mount,
                };
                place.insert(found).clone()
            }
        }
    }
}

/// Whether a name in a folder is that of this very process in Linux's `/proc`, which is the same as
/// long as the process runs.
fn is_this_process(folder: &Path, name: &OsStr) -> bool {
    cfg!(target_os = "linux")
        && folder == Path::new("/proc")
        && (name == "self" || name.to_str() == Some(&std::process::id().to_string()))
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
