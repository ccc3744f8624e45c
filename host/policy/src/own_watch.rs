//! Watch of all by which granted folders were judged, so that they are judged anew only where something
//! of it has changed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::found_paths::LookedInto;
use super::path_watch::{self, PathWatch};
use super::resolved::ResolvedPlaces;

/// Time for which nothing is watched where something has changed soon after it was, or cannot be
/// watched: to watch it all again takes longer than to judge once. Tests, which change something all
/// the while, would have nothing watched.
const REST: Duration = match cfg!(test) {
    false => Duration::from_secs(1),
    true => Duration::ZERO,
};

/// A moment at which folders were judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgedAt {
    /// Number of changes on disk before it.
    changes: u64,
    /// Version of what is not on disk.
    version: u64,
}

/// The beginning of a judgement.
pub(super) struct Begun {
    pub(super) at: JudgedAt,
    /// Own places, if they are known and watched.
    pub(super) own: Option<Arc<ResolvedPlaces>>,
}

/// Watch of the folders and files by which was judged.
#[derive(Debug, Default)]
pub(super) struct OwnWatch {
    /// None before the first judgement, and where the system has no such thing.
    watch: Option<PathWatch>,
    changes: u64,
    own: Option<(JudgedAt, Arc<ResolvedPlaces>)>,
    /// Time of the last change.
    changed: Option<Instant>,
    /// Time until which nothing is watched.
    rests: Option<Instant>,
}

impl OwnWatch {
    /// Begins a judgement; none where nothing is to be watched for it.
    pub(super) fn begin(&mut self, version: u64) -> Option<Begun> {
        self.look();
        if self.rests.is_some_and(|until| Instant::now() < until) {
            return None;
        }
        self.rests = None;
        if self.watch.is_none() {
            self.watch = PathWatch::new();
        }
        if self.watch.is_none() {
            self.rest();
            return None;
        }
        let changes = self.changes;
        let at = JudgedAt { changes, version };
        let own = self.own.as_ref().filter(|(known_at, _)| *known_at == at);
        let own = own.map(|(_, own)| Arc::clone(own));
        Some(Begun { at, own })
    }

    /// Ends a judgement by these places. Returns its moment, if nothing has changed since it began.
    pub(super) fn end(&mut self, at: JudgedAt, own: Arc<ResolvedPlaces>) -> Option<JudgedAt> {
        self.look();
        if self.changes != at.changes {
            return None;
        }
        self.own = Some((at, own));
        Some(at)
    }

    /// Watches nothing for a while.
    pub(super) fn rest(&mut self) {
        self.rests = Some(Instant::now() + REST);
    }

    /// Whether nothing has changed since then.
    pub(super) fn is_as_at(&mut self, judged: JudgedAt, version: u64) -> bool {
        self.look();
        let changes = self.changes;
        judged == JudgedAt { changes, version }
    }

    /// Watches folders and files. Returns false where that cannot be done.
    pub(super) fn add(&mut self, looked_into: &[LookedInto]) -> bool {
        let watch = self.watch.as_mut();
        watch.is_some_and(|watch| watch.add(looked_into))
    }

    /// Whether the system tells of each change of these. May wait for a disk.
    pub(super) fn is_told_of(looked_into: &[LookedInto]) -> bool {
        let mut paths = looked_into.iter().map(|one| one.path.as_ref());
        paths.all(path_watch::is_told_of)
    }

    /// Counts a change, if there was one.
    fn look(&mut self) {
        if !self.watch.as_mut().is_some_and(PathWatch::has_changed) {
            return;
        }
        self.changes += 1;
        self.own = None;
        let now = Instant::now();
        let before = self.changed.replace(now);
        if before.is_some_and(|before| now.duration_since(before) < REST) {
            self.rest();
        }
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests;
