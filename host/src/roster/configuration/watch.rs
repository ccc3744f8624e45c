//! Watcher of changes of the configuration and the components on disk.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use dormouse_config::WatchedFile;
use dormouse_text::visible::visible_path;
use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::settled::QUIET;
use crate::roster::Roster;

/// Longest time for which reading is put off while files change without a pause.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// Time before watching begins. An agent requests all lists right after the first answer, and
/// setting up the watcher would delay them. Changes in that time are read afterwards, with all
/// else.
const START_DELAY: Duration = Duration::from_millis(100);

/// Files that are watched, and the paths by which they are.
#[derive(PartialEq)]
struct WatchedFiles {
    files: BTreeSet<WatchedFile>,
    paths: BTreeSet<PathBuf>,
}

impl WatchedFiles {
    /// Looks at the files of a roster. A file system may take any time for that.
    fn of(roster: &Roster) -> Self {
        let files = roster.files();
        let paths = files.iter().flat_map(WatchedFile::paths).collect();
        Self { files, paths }
    }
}

/// Watched paths, and a notification of changes.
#[derive(Default)]
struct Bell {
    files: Mutex<BTreeSet<PathBuf>>,
    rung: Notify,
}

impl Bell {
    /// Notifies if an event is about one of the files, or a folder above one.
    fn hear(&self, event: &Event) {
        // Reading is what we do ourselves when it has rung.
        let reading = matches!(event.kind, EventKind::Access(access)
            if access != AccessKind::Close(AccessMode::Write));
        if reading {
            return;
        }
        let files = self.files.lock();
        // Without a path it says that events were lost.
        let about = event.paths.is_empty() || event.paths.iter().any(|path| has(&files, path));
        if about {
            self.rung.notify_one();
        }
    }
}

/// Checks whether `path` is one of the files, or a folder above one. This is called for every event
/// in a folder with one of them, however often they come.
fn has(files: &BTreeSet<PathBuf>, path: &Path) -> bool {
    // In the order of paths, what is in a folder comes right behind it.
    let next = files
        .range::<Path, _>((Bound::Included(path), Bound::Unbounded))
        .next();
    next.is_some_and(|file| file.starts_with(path))
}

/// Keeps a roster up to date as long as it exists.
pub(in super::super) async fn run(roster: Weak<Roster>) {
    tokio::time::sleep(START_DELAY).await;
    let bell = Arc::new(Bell::default());
    let ringing = bell.clone();
    let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| match event {
        Ok(event) => ringing.hear(&event),
        Err(error) => tracing::warn!("watching for changed files: {error}"),
    });
    let watched = match watcher {
        Ok(watcher) => Arc::new(Mutex::new(ConfigurationWatch {
            folders: BTreeSet::new(),
            watcher,
        })),
        Err(error) => {
            tracing::warn!("changed files are noticed only when their tools are called: {error}");
            return;
        }
    };
    let mut complaint = None;
    loop {
        let Some(alive) = roster.upgrade() else {
            return;
        };
        // Watched first and read then, or what happens between is lost.
        let looked = spawn_blocking(move || (WatchedFiles::of(&alive), alive)).await;
        // It fails only if that has panicked, and has been logged then.
        let Ok((files, alive)) = looked else {
            return;
        };
        *bell.files.lock() = files.paths.clone();
        let followed = follow(&watched, &files.paths).await;
        // Reads files, and writes the index.
        let read = spawn_blocking(move || {
            let outcome = alive.reload_settled(&files.files);
            alive.save();
            let are_others = WatchedFiles::of(&alive) != files;
            (outcome, are_others, alive)
        })
        .await;
        let Ok((outcome, are_others, alive)) = read else {
            return;
        };
        let error = outcome.err().map(|error| format!("{error:#}"));
        // Once is enough, however often other files change meanwhile.
        if let Some(error) = &error
            && complaint.as_ref() != Some(error)
        {
            tracing::error!("your own configuration counts as it last could be read: {error}");
        }
        complaint = error;
        if are_others {
            continue;
        }
        drop(alive);
        if followed {
            bell.rung.notified().await;
        } else {
            // What is not watched yet rings no bell.
            let _ = tokio::time::timeout(MAX_WAIT, bell.rung.notified()).await;
        }
        let first = Instant::now();
        while first.elapsed() < MAX_WAIT
            && tokio::time::timeout(QUIET, bell.rung.notified())
                .await
                .is_ok()
        {}
    }
}

/// Makes the watcher watch the folders of these files, and waits for that, but not for long: the
/// watcher is held up while files change there without a pause. Returns false where it is not done
/// yet.
async fn follow(watched: &Arc<Mutex<ConfigurationWatch>>, files: &BTreeSet<PathBuf>) -> bool {
    let (watched, files) = (Arc::clone(watched), files.clone());
    let following = spawn_blocking(move || {
        // Only one waits for the watcher at a time.
        let mut watched = watched.try_lock()?;
        watched.follow(&files);
        Some(())
    });
    let followed = tokio::time::timeout(MAX_WAIT, following).await;
    matches!(followed, Ok(Ok(Some(()))))
}

struct ConfigurationWatch {
    watcher: RecommendedWatcher,
    folders: BTreeSet<PathBuf>,
}

impl ConfigurationWatch {
    /// Watches the folders of these files and no others. Files are replaced by renaming as often as
    /// by writing, and only a watch on their folder reports that.
    fn follow(&mut self, files: &BTreeSet<PathBuf>) {
        let wanted: BTreeSet<_> = files.iter().filter_map(|file| folder(file)).collect();
        for gone in self.folders.difference(&wanted) {
            // It may have been deleted, and its watch with it.
            let _ = self.watcher.unwatch(gone);
        }
        // A folder that was deleted and made anew has lost its watch without our
        // knowing, so all of them are asked for again.
        for folder in &wanted {
            if let Err(error) = self.watcher.watch(folder, RecursiveMode::NonRecursive) {
                tracing::warn!(
                    "changes in `{}` are not noticed: {error}",
                    visible_path(folder)
                );
            }
        }
        self.folders = wanted;
    }
}

/// Returns the folder of a file, or the nearest one above that exists.
fn folder(file: &Path) -> Option<PathBuf> {
    file.ancestors()
        .skip(1)
        .find(|folder| folder.is_dir())
        .map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_the_folders_above_them_are_found() {
        let files = ["/a/b/c", "/a/b.d/e", "/a/b/c.d/f", "/g"].map(PathBuf::from);
        let files: BTreeSet<_> = files.into();
        for (path, expected) in [
            ("/a/b/c", true),
            ("/a/b", true),
            ("/a", true),
            ("/", true),
            ("/a/b.d", true),
            ("/a/b/c.d", true),
            ("/g", true),
            ("/a/b/c/d", false),
            ("/a/b/d", false),
            ("/a/b/c.", false),
            ("/a/b.", false),
            ("/g/h", false),
            ("/h", false),
        ] {
            assert_eq!(has(&files, Path::new(path)), expected, "{path}");
            let by_one = files.iter().any(|file| file.starts_with(path));
            assert_eq!(by_one, expected, "{path}");
        }
    }
}
