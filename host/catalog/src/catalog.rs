//! Declarations of all requested components.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dormouse_text::visible::visible_path;
use parking_lot::Mutex;

use crate::component_file;
use crate::error::{Problem, ReadError};
use crate::read;
use crate::read_process::ReadCommand;
use crate::round::ReadRound;
use crate::stamp::{self, Stamp};
use crate::{CatalogEntry, Listing};

mod entries;
mod index;

use index::{Index, IndexKey};

/// Time that it has taken to read a file from which on its outcome is written at once: whoever waits
/// for a host may give up before it has read all, and each start would begin anew.
const WORTH_WRITING: Duration = Duration::from_millis(500);

/// Declarations of components, from the index where their files have not changed since. What is wrong
/// with a file is remembered as its declaration would be: finding that out may take seconds. Many
/// threads may use it at once.
#[derive(Debug)]
pub struct Catalog {
    file: PathBuf,
    /// Start of the process that reads what may take much.
    command: ReadCommand,
    state: Mutex<CatalogState>,
    /// Taken while the index is written, so that no older content replaces a newer one.
    writing: Mutex<()>,
    read: AtomicU64,
    indexed: AtomicU64,
}

#[derive(Debug, Default)]
struct CatalogState {
    /// Content of the file when the catalog was opened, until it is saved.
    index: Arc<Index>,
    /// Outcomes for the files that were requested since.
    held: HashMap<PathBuf, (IndexKey, CatalogResult)>,
    /// Whether `held` has something that the file has not, or the file is damaged.
    changed: bool,
    /// Files of the last request that there was no time to read.
    unread: Vec<PathBuf>,
    /// Files of the current request that there was no time to read again, and whose outcomes from
    /// before were taken.
    doubtful: Vec<PathBuf>,
    /// Whether the file has been written since the catalog was saved last.
    written: bool,
}

/// Entry of a file, or what is wrong with it.
type CatalogResult = Result<Arc<CatalogEntry>, Problem>;

/// Number of entries that the catalog has got from each source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CatalogCounts {
    /// Component files that were opened.
    pub read: u64,
    /// Entries that were taken from the index.
    pub indexed: u64,
}

impl Catalog {
    /// Opens the catalog with the index in the file `index`. If the index is faulty, the catalog
    /// reads the components instead, and logs the fault.
    #[must_use]
    pub fn open(index: &Path, command: ReadCommand) -> Self {
        let file = index.to_owned();
        let index = Index::open(index);
        let state = CatalogState {
            changed: index.damaged,
            index: Arc::new(index),
            ..CatalogState::default()
        };
        Self {
            file,
            command,
            state: Mutex::new(state),
            writing: Mutex::default(),
            read: AtomicU64::new(0),
            indexed: AtomicU64::new(0),
        }
    }

    /// Returns the declarations of the component in a file. Opens the file only if it has changed
    /// since it was last read, by this process or by the one that wrote the index.
    ///
    /// # Errors
    /// The file is no component, or its declaration is unusable.
    pub fn entry(&self, path: &Path) -> Result<Arc<CatalogEntry>, ReadError> {
        let round = ReadRound::begin();
        told(path, self.finish(path, self.look(path)?, round))
    }

    /// Returns the files of the last request for many that there was no time to read.
    #[must_use]
    pub fn unread(&self) -> Vec<PathBuf> {
        self.state.lock().unread.clone()
    }

    /// Does the same as [`entry`](Self::entry) for many files, in their order: each file once, and
    /// those that are to be read in a process only while the round has time. What it has not read
    /// then, or not once more after a change just before, is [`unread`](Self::unread), and the next
    /// call goes on. Uses several threads where there is enough work for them.
    #[must_use]
    pub fn entries(
        &self,
        paths: &[PathBuf],
        round: ReadRound,
    ) -> Vec<Result<Arc<CatalogEntry>, ReadError>> {
        let mut seen = HashSet::new();
        let different: Vec<_> = paths.iter().filter(|path| seen.insert(*path)).collect();
        let found = self.different_entries(&different, round);
        let found: HashMap<_, _> = different.into_iter().zip(found).collect();
        let is_unread = |outcome: &Result<_, ReadError>| {
            let problem = outcome.as_ref().err().map(|error| &error.problem);
            matches!(problem, Some(Problem::NotYet))
        };
        let unread = found.iter().filter(|(_, outcome)| is_unread(outcome));
        let unread = unread.map(|(path, _)| (*path).clone());
        let mut state = self.state.lock();
        state.unread = unread.chain(std::mem::take(&mut state.doubtful)).collect();
        drop(state);
        let of = |path: &PathBuf| match found.get(path) {
            Some(found) => found.clone(),
            // Every path is there; reading the file now is right anyhow.
            None => self.entry(path),
        };
        paths.iter().map(of).collect()
    }

    /// Writes the index, if there is anything new to write. This takes time, so it is to be called
    /// after everything that a user waits for. Returns whether it has been
    /// written since the last time.
    ///
    /// The index that was opened is dropped: entries that were not requested until now are read
    /// from their components later.
    ///
    /// # Errors
    /// The index cannot be written. The catalog works without.
    pub fn save(&self) -> io::Result<bool> {
        let written = {
            let mut state = self.state.lock();
            state.index = Arc::default();
            std::mem::take(&mut state.written)
        };
        Ok(self.write()? || written)
    }

    /// Writes all that is held, if anything of that is new.
    fn write(&self) -> io::Result<bool> {
        let _writing = self.writing.lock();
        let mut fresh = BTreeMap::new();
        {
            let mut state = self.state.lock();
            let now = stamp::now();
            let stale = state.held.values().any(|(key, _)| key.stale(now));
            if !state.changed && !stale {
                return Ok(false);
            }
            state.changed = false;
            for (path, (key, outcome)) in &mut state.held {
                key.used = now;
                // A path that is not UTF-8 cannot be in JSON; its file is read each time.
                if let Some(path) = path.to_str() {
                    let found = outcome.as_ref().map(|entry| &entry.listing);
                    let body = serde_json::to_string(&found)?;
                    fresh.insert(path.to_owned(), (*key, body));
                }
            }
        }
        let written = Index::write(&self.file, &fresh);
        if written.is_err() {
            self.state.lock().changed = true;
        }
        written.map(|()| true)
    }

    /// Returns the number of entries from each source so far.
    #[must_use]
    pub fn counts(&self) -> CatalogCounts {
        CatalogCounts {
            read: self.read.load(Ordering::Relaxed),
            indexed: self.indexed.load(Ordering::Relaxed),
        }
    }

    /// Looks a file up, as it is now.
    fn look(&self, path: &Path) -> Result<CatalogLookup, ReadError> {
        let stamp = Stamp::of(&component_file::metadata(path)?);
        let state = self.state.lock();
        let held = state.held.get(path);
        let key = match held {
            Some((key, _)) => Some(*key),
            None => state.index.get(text(path)).map(|(key, _)| key),
        };
        let Some(key) = key.filter(|key| key.stamp == stamp) else {
            return Ok(CatalogLookup::Nothing { failures: 0 });
        };
        let is_proven = key.proves(&stamp);
        if key.may_be_tried_again(stamp::now()) {
            let failures = if is_proven { key.failures } else { 0 };
            return Ok(CatalogLookup::Nothing { failures });
        }
        let found = match held {
            Some((_, outcome)) => CatalogLookup::Held(outcome.clone()),
            None => CatalogLookup::Indexed(key, state.index.clone()),
        };
        Ok(match is_proven {
            true => found,
            false => CatalogLookup::Doubtful(Box::new(found)),
        })
    }

    /// Returns what is in a file that was looked up.
    fn finish(&self, path: &Path, found: CatalogLookup, round: ReadRound) -> CatalogResult {
        match found {
            CatalogLookup::Held(outcome) => outcome,
            CatalogLookup::Indexed(key, index) => self.take(path, key, &index, round),
            CatalogLookup::Nothing { failures } => self.fetch(path, failures, round),
            CatalogLookup::Doubtful(found) => match self.fetch(path, 0, round) {
                Err(Problem::NotYet) => {
                    self.state.lock().doubtful.push(path.to_owned());
                    self.finish(path, *found, round)
                }
                read => read,
            },
        }
    }

    /// Takes an entry from the index, or from the component if the index is damaged there.
    fn take(&self, path: &Path, key: IndexKey, index: &Index, round: ReadRound) -> CatalogResult {
        let body = index.get(text(path)).map_or("", |(_, body)| body);
        match serde_json::from_str::<Result<Listing, Problem>>(body) {
            Ok(found) => {
                self.indexed.fetch_add(1, Ordering::Relaxed);
                self.hold(path, key, found, false)
            }
            Err(error) => {
                tracing::warn!(
                    "`{}` is damaged in the catalog's index and read anew: {error}",
                    visible_path(path)
                );
                self.fetch(path, key.failures, round)
            }
        }
    }

    /// Reads a component, after so many attempts in a row that have failed.
    fn fetch(&self, path: &Path, failures: u32, round: ReadRound) -> CatalogResult {
        self.read.fetch_add(1, Ordering::Relaxed);
        let (read, begun) = (stamp::now(), Instant::now());
        let (stamp, found) = read::read(path, self.command, Some(round))?;
        let mut key = IndexKey::new(stamp, read);
        let found = match found {
            Err(problem) if problem.is_failed_attempt() => {
                key.failures = failures.saturating_add(1);
                Err(problem)
            }
            // It may be gone the next time.
            Err(problem) if !problem.is_of_content() => return Err(problem),
            found => found,
        };
        let outcome = self.hold(path, key, found, true);
        if begun.elapsed() >= WORTH_WRITING {
            match self.write() {
                Ok(written) => self.state.lock().written |= written,
                // Whoever saves the index is told the same.
                Err(error) => tracing::debug!("the catalog's index cannot be written yet: {error}"),
            }
        }
        outcome
    }

    fn hold(
        &self,
        path: &Path,
        key: IndexKey,
        found: Result<Listing, Problem>,
        changed: bool,
    ) -> CatalogResult {
        let entry = |listing| {
            Arc::new(CatalogEntry {
                path: path.to_owned(),
                stamp: key.stamp,
                listing: Arc::new(listing),
            })
        };
        let outcome = found.map(entry).map_err(Problem::shortened);
        let mut state = self.state.lock();
        state.changed |= changed;
        state.held.insert(path.to_owned(), (key, outcome.clone()));
        outcome
    }
}

/// Result of looking a file up.
enum CatalogLookup {
    /// Outcome that this process has read.
    Held(CatalogResult),
    /// An entry in the index that is still to be parsed.
    Indexed(IndexKey, Arc<Index>),
    /// One of these that is not proven to be of the file's present content: the file was changed just
    /// before it was read, and may have been changed once more since without a trace.
    Doubtful(Box<CatalogLookup>),
    /// No entry, or so many failed attempts to read the file's present content.
    Nothing { failures: u32 },
}

/// Returns what is in a file, in words for whoever has named the file.
fn told(path: &Path, outcome: CatalogResult) -> Result<Arc<CatalogEntry>, ReadError> {
    outcome.map_err(|problem| ReadError {
        path: path.to_owned(),
        problem,
    })
}

/// Returns a path as text, as it is in the index; empty for a path that is not UTF-8, which is not
/// in there.
fn text(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}

#[cfg(test)]
mod tests;
