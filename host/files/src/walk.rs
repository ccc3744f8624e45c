//! Walk along a path, name by name, through each link on it.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

/// Most links on the way, as systems have it.
const MAX_LINKS: usize = 40;

/// Name that is to be followed next.
pub(crate) struct WalkStep {
    pub(crate) name: OsString,
    /// Whether what it leads to is Dormouse's own, where nobody else may write.
    pub(crate) is_own: bool,
}

/// Walk along a path, with facts of each folder that it has passed.
pub(crate) struct Walk<F> {
    /// Names that are still to be followed. The next one is the last.
    steps: Vec<WalkStep>,
    passed: Vec<(PathBuf, F)>,
    links: usize,
}

impl<F> Walk<F> {
    /// Begins a walk along an absolute path, of which all from so many components on is Dormouse's own.
    pub(crate) fn along(path: &Path, own_from: usize) -> Self {
        let steps = path.components().enumerate();
        let steps = steps.map(|(index, component)| WalkStep {
            name: component.as_os_str().to_owned(),
            is_own: index + 1 >= own_from,
        });
        let mut steps: Vec<WalkStep> = steps.collect();
        steps.reverse();
        Self {
            steps,
            passed: Vec::new(),
            links: 0,
        }
    }

    /// Returns the next path on the way, and whether it is Dormouse's own; none at the end.
    pub(crate) fn next(&mut self) -> Option<(PathBuf, bool)> {
        while let Some(WalkStep { name, is_own }) = self.steps.pop() {
            match name.to_str() {
                // A link leads there.
                Some("/") => self.passed.clear(),
                Some("..") => {
                    let above = self.passed.len().saturating_sub(1).max(1);
                    self.passed.truncate(above);
                    continue;
                }
                Some(".") => continue,
                _ => {}
            }
            let path = match self.passed.last() {
                Some((above, _)) => above.join(&name),
                None => PathBuf::from(&name),
            };
            return Some((path, is_own));
        }
        None
    }

    /// Returns the names that are still to be followed.
    pub(crate) fn rest(&self) -> PathBuf {
        self.steps.iter().rev().map(|step| &step.name).collect()
    }

    /// Goes on where a link leads. Returns false where there are too many of them.
    pub(crate) fn follow(&mut self, target: &Path, is_own: bool) -> bool {
        self.links += 1;
        // The folders that lead to where it leads are the user's, or the system's.
        let target = target.components().rev().map(Component::as_os_str);
        let step = |(above, name): (usize, &OsStr)| WalkStep {
            name: name.to_owned(),
            is_own: is_own && above == 0,
        };
        self.steps.extend(target.enumerate().map(step));
        self.links <= MAX_LINKS
    }

    /// Goes on inside of a folder.
    pub(crate) fn pass(&mut self, folder: PathBuf, facts: F) {
        self.passed.push((folder, facts));
    }

    /// Returns the folders that lead to the current path, the outermost first.
    pub(crate) fn passed(&self) -> &[(PathBuf, F)] {
        &self.passed
    }
}
