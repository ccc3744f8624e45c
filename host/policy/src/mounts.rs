//! Mounts of this system: where something is bind-mounted, one folder has several paths.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// Mounts as this process sees them. There are none where the system does not tell.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Mounts {
    mounts: Vec<Mount>,
    /// Mounts by the path that they are mounted at, and by the id of the mount that this path lies in.
    by_path: HashMap<PathBuf, HashMap<u32, usize>>,
}

#[derive(Debug, PartialEq, Eq)]
struct Mount {
    id: u32,
    filesystem: Filesystem,
    /// Path of what is mounted, in its filesystem.
    root: PathBuf,
    /// Path that it is mounted at.
    at: PathBuf,
}

/// Filesystem, by the numbers of its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Filesystem {
    major: u32,
    minor: u32,
}

/// Place of a file or folder in its filesystem, the same whichever path leads to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MountedPath {
    filesystem: Filesystem,
    path: PathBuf,
}

/// Files and folders that are reached from a folder without a link: its own, and those that are mounted
/// below it.
#[derive(Debug, Default)]
pub(super) struct ReachedPaths(HashMap<Filesystem, BTreeSet<PathBuf>>);

impl Mounts {
    /// Reads the mounts of this process. There are none where they cannot be read.
    #[cfg(target_os = "linux")]
    pub(super) fn read() -> Self {
        use std::io::Read as _;

        /// Most bytes that are read. The system has a limit of its own, 100,000 mounts by default.
        const MAX_BYTES: u64 = 64 << 20;

        let mut text = Vec::new();
        let file = std::fs::File::open("/proc/self/mountinfo");
        match file.and_then(|file| file.take(MAX_BYTES).read_to_end(&mut text)) {
            Ok(_) => Self::parse(&text),
            Err(_) => Self::default(),
        }
    }

    /// Returns none.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn read() -> Self {
        Self::default()
    }

    /// Reads the text of `/proc/self/mountinfo`. Lines that are not understood are left out.
    #[cfg(any(target_os = "linux", all(unix, test)))]
    fn parse(text: &[u8]) -> Self {
        let mut all = Self::default();
        for line in text.split(|byte| *byte == b'\n') {
            let Some((mount, within)) = Mount::parse(line) else {
                continue;
            };
            let here = all.by_path.entry(mount.at.clone()).or_default();
            here.insert(within, all.mounts.len());
            all.mounts.push(mount);
        }
        all
    }

    /// Returns the mount that a path is in: the one above it, or one that is mounted there. The path has
    /// no link in it.
    pub(super) fn enter(&self, above: Option<usize>, path: &Path) -> Option<usize> {
        let Some(here) = self.by_path.get(path) else {
            return above;
        };
        // Each is mounted on another one there, but for the first: that is mounted in what is above, or,
        // if it is the root, in what nobody sees.
        let mut found = match above {
            Some(above) => above,
            None => self.lowest(here)?,
        };
        for _ in 0..here.len() {
            let id = self.mounts.get(found)?.id;
            match here.get(&id) {
                Some(next) if *next != found => found = *next,
                _ => break,
            }
        }
        Some(found)
    }

    /// Returns the mount at a path that is mounted on no other one there.
    fn lowest(&self, here: &HashMap<u32, usize>) -> Option<usize> {
        let ids = here.values().filter_map(|index| self.mounts.get(*index));
        let ids: HashMap<u32, &Mount> = ids.map(|mount| (mount.id, mount)).collect();
        let mut lowest = here.iter().filter(|(within, index)| {
            let on = ids.get(*within);
            on.is_none_or(|on| self.mounts.get(**index) == Some(*on))
        });
        lowest.next().map(|(_, index)| *index)
    }

    /// Returns where a path in a mount leads to.
    pub(super) fn location(&self, mount: usize, path: &Path) -> Option<MountedPath> {
        let mount = self.mounts.get(mount)?;
        let rest = path.strip_prefix(&mount.at).ok()?;
        Some(MountedPath {
            filesystem: mount.filesystem,
            path: mount.root.join(rest),
        })
    }

    /// Returns what is mounted below a path or at it, each with the path that it is mounted at. Those are
    /// among it which others hide: who has opened a folder before can reach them.
    pub(super) fn at_or_below(&self, path: &Path) -> impl Iterator<Item = MountedPath> {
        let mounts = self.mounts.iter();
        let below = mounts.filter(move |mount| mount.at.starts_with(path));
        below.map(Mount::location)
    }

    /// Returns all that is mounted, each with the path that it is mounted at.
    pub(super) fn all(&self) -> impl Iterator<Item = (&Path, MountedPath)> {
        let mounts = self.mounts.iter();
        mounts.map(|mount| (mount.at.as_path(), mount.location()))
    }

    /// Returns what is reached from a folder, at a path with no link in it.
    pub(super) fn reached(&self, folder: &Path) -> ReachedPaths {
        let mut on_the_way: Vec<&Path> = folder.ancestors().collect();
        on_the_way.reverse();
        let mount = on_the_way
            .into_iter()
            .fold(None, |above, path| self.enter(above, path));
        let itself = mount.and_then(|mount| self.location(mount, folder));
        let mut reached = ReachedPaths::default();
        for location in itself.into_iter().chain(self.at_or_below(folder)) {
            let of_filesystem = reached.0.entry(location.filesystem).or_default();
            of_filesystem.insert(location.path);
        }
        reached
    }
}

impl Mount {
    /// Reads a line: the mount, and the id of the one that it is mounted in.
    #[cfg(any(target_os = "linux", all(unix, test)))]
    fn parse(line: &[u8]) -> Option<(Self, u32)> {
        let mut fields = line.split(|byte| *byte == b' ');
        let mut number = || str::from_utf8(fields.next()?).ok()?.parse().ok();
        let (id, within) = (number()?, number()?);
        let device = str::from_utf8(fields.next()?).ok()?;
        let (major, minor) = device.split_once(':')?;
        let filesystem = Filesystem {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        };
        let (root, at) = (unescaped(fields.next()?), unescaped(fields.next()?));
        let mount = Self {
            id,
            filesystem,
            root,
            at,
        };
        Some((mount, within))
    }

    fn location(&self) -> MountedPath {
        MountedPath {
            filesystem: self.filesystem,
            path: self.root.clone(),
        }
    }
}

/// Reads a path in which space, tab, line feed, `#` and the backslash are written as three octal digits
/// behind a backslash.
#[cfg(any(target_os = "linux", all(unix, test)))]
fn unescaped(field: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;

    let mut path = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| *first == b'\\');
        let digits = digits.and_then(|digits| str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        path.push(byte.unwrap_or(*first));
        rest = match byte {
            Some(_) => after.get(3..).unwrap_or_default(),
            None => after,
        };
    }
    std::ffi::OsString::from_vec(path).into()
}

impl ReachedPaths {
    /// Whether a file or folder is one of these, or lies in one.
    pub(super) fn contains(&self, location: &MountedPath) -> bool {
        let reached = self.0.get(&location.filesystem);
        reached.is_some_and(|reached| {
            let mut above = location.path.ancestors();
            above.any(|path| reached.contains(path))
        })
    }

    /// Whether one of these lies in a folder, or is it.
    pub(super) fn has_within(&self, location: &MountedPath) -> bool {
        let reached = self.0.get(&location.filesystem);
        reached.is_some_and(|reached| {
            // What lies in a folder comes behind it, before all that does not.
            let mut from = reached.range::<PathBuf, _>(&location.path..);
            let next = from.next();
            next.is_some_and(|path| path.starts_with(&location.path))
        })
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
