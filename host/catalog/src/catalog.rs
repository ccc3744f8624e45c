//! The declarations of all components that anybody asks for.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::ReadError;
use crate::index::{Index, Key};
use crate::read;
use crate::stamp::{self, Stamp};
use crate::{Entry, Listing};

/// How many threads read at once.
const THREADS: usize = 4;

/// How many bytes of listings are parsed in the time that a thread takes to
/// start and to be worth it.
const WORTH_A_THREAD: usize = 512 << 10;

/// The declarations of components, from the index where their files have not
/// changed since. Many threads may ask at once.
#[derive(Debug)]
pub struct Catalog {
    file: PathBuf,
    state: Mutex<State>,
    read: AtomicU64,
    indexed: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    /// What the file held when the catalog was opened, until it is saved.
    index: Arc<Index>,
    /// What has been asked for since.
    held: HashMap<PathBuf, (Key, Arc<Entry>)>,
    /// Whether `held` has something that the file has not, or the file something
    /// that is damaged.
    changed: bool,
}

/// How the catalog has come by what it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Component files that were opened.
    pub read: u64,
    /// Entries that were taken from the index.
    pub indexed: u64,
}

impl Catalog {
    /// Opens the catalog with the index in the file `index`. Whatever is wrong
    /// with that, the catalog works: it reads the components instead, and says so
    /// in the log.
    #[must_use]
    pub fn open(index: &Path) -> Self {
        let file = index.to_owned();
        let index = Index::open(index);
        let state = State {
            changed: index.damaged,
            index: Arc::new(index),
            ..State::default()
        };
        Self {
            file,
            state: Mutex::new(state),
            read: AtomicU64::new(0),
            indexed: AtomicU64::new(0),
        }
    }

    /// What the component in a file declares. Opens the file only if it has
    /// changed since it was last read, by this process or by the one that wrote
    /// the index.
    ///
    /// # Errors
    /// The file is no component, or its declaration is not to be used.
    pub fn entry(&self, path: &Path) -> Result<Arc<Entry>, ReadError> {
        match self.look(path)? {
            Found::Held(entry) => Ok(entry),
            Found::Indexed(key, index) => self.take(path, key, &index),
            Found::Nothing => self.fetch(path),
        }
    }

    /// [`entry`](Self::entry) for many files, in their order. Uses several
    /// threads where there is enough to do for them.
    #[must_use]
    pub fn entries(&self, paths: &[PathBuf]) -> Vec<Result<Arc<Entry>, ReadError>> {
        let found: Vec<_> = paths.iter().map(|path| self.look(path)).collect();
        let mut files = 0;
        let mut bytes = 0;
        for (path, found) in paths.iter().zip(&found) {
            match found {
                Ok(Found::Nothing) => files += 1,
                Ok(Found::Indexed(_, index)) => {
                    bytes += index.get(text(path)).map_or(0, |(_, body)| body.len());
                }
                Ok(Found::Held(_)) | Err(_) => {}
            }
        }
        let finish = |path: &PathBuf, found| match found {
            Ok(Found::Held(entry)) => Ok(entry),
            Ok(Found::Indexed(key, index)) => self.take(path, key, &index),
            Ok(Found::Nothing) => self.fetch(path),
            Err(error) => Err(error),
        };
        let cores = std::thread::available_parallelism()
            .map_or(1, NonZero::get)
            .min(THREADS);
        let threads = cores.min(files + bytes / WORTH_A_THREAD);
        if threads < 2 {
            return paths
                .iter()
                .zip(found)
                .map(|(path, found)| finish(path, found))
                .collect();
        }
        // Files differ in size by orders of magnitude, so each thread takes the
        // next one when it is done with its last.
        let jobs: Vec<_> = paths
            .iter()
            .zip(found)
            .map(|job| Mutex::new(Job::Waiting(job)))
            .collect();
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let work = || {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut job = lock(job);
                    if let Job::Waiting((path, found)) = std::mem::replace(&mut *job, Job::Taken) {
                        *job = Job::Done(finish(path, found));
                    }
                }
            };
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
        jobs.into_iter()
            .zip(paths)
            .map(
                |(job, path)| match job.into_inner().unwrap_or_else(PoisonError::into_inner) {
                    Job::Done(result) => result,
                    // No thread leaves a job like this; reading it now is right anyhow.
                    Job::Waiting(_) | Job::Taken => self.fetch(path),
                },
            )
            .collect()
    }

    /// Writes the index, if there is anything new to write. Takes time, so call
    /// it after whatever somebody is waiting for. Returns whether it has written.
    ///
    /// The index that was opened is let go of: entries that nobody has asked for
    /// until now are read from their components later.
    ///
    /// # Errors
    /// The index cannot be written. The catalog works without.
    pub fn save(&self) -> io::Result<bool> {
        let mut fresh = BTreeMap::new();
        {
            let mut state = self.lock();
            let now = stamp::now();
            let stale = state.held.values().any(|(key, _)| key.stale(now));
            state.index = Arc::default();
            if !state.changed && !stale {
                return Ok(false);
            }
            state.changed = false;
            for (path, (key, entry)) in &mut state.held {
                key.used = now;
                // A path that is no text cannot be in JSON; it is read each time.
                if let Some(path) = path.to_str() {
                    let body = serde_json::to_string(&entry.listing)?;
                    fresh.insert(path.to_owned(), (*key, body));
                }
            }
        }
        let written = Index::write(&self.file, &fresh);
        if written.is_err() {
            self.lock().changed = true;
        }
        written.map(|()| true)
    }

    /// How it has come by its entries so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            read: self.read.load(Ordering::Relaxed),
            indexed: self.indexed.load(Ordering::Relaxed),
        }
    }

    /// Finds what is known of a file as it is now.
    fn look(&self, path: &Path) -> Result<Found, ReadError> {
        let stamp = Stamp::of(&read::metadata(path)?);
        let state = self.lock();
        if let Some((key, entry)) = state.held.get(path) {
            return Ok(if key.proves(&stamp) {
                Found::Held(entry.clone())
            } else {
                Found::Nothing
            });
        }
        Ok(match state.index.get(text(path)) {
            Some((key, _)) if key.proves(&stamp) => Found::Indexed(key, state.index.clone()),
            _ => Found::Nothing,
        })
    }

    /// Takes an entry from the index, or from the component if it is damaged there.
    fn take(&self, path: &Path, key: Key, index: &Index) -> Result<Arc<Entry>, ReadError> {
        let body = index.get(text(path)).map_or("", |(_, body)| body);
        match serde_json::from_str(body) {
            Ok(listing) => {
                self.indexed.fetch_add(1, Ordering::Relaxed);
                Ok(self.hold(path, key, listing, false))
            }
            Err(error) => {
                tracing::warn!(
                    "`{}` is damaged in the catalog's index and read anew: {error}",
                    path.display()
                );
                self.fetch(path)
            }
        }
    }

    /// Reads a component.
    fn fetch(&self, path: &Path) -> Result<Arc<Entry>, ReadError> {
        self.read.fetch_add(1, Ordering::Relaxed);
        let read = stamp::now();
        let (stamp, listing) = read::read(path)?;
        Ok(self.hold(path, Key::new(stamp, read), listing, true))
    }

    fn hold(&self, path: &Path, key: Key, listing: Listing, changed: bool) -> Arc<Entry> {
        let entry = Arc::new(Entry {
            path: path.to_owned(),
            stamp: key.stamp,
            listing: Arc::new(listing),
        });
        let mut state = self.lock();
        state.changed |= changed;
        state.held.insert(path.to_owned(), (key, entry.clone()));
        entry
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// What is known of a file as it is now.
enum Found {
    /// An entry that this process has read.
    Held(Arc<Entry>),
    /// One in the index that is still to be parsed.
    Indexed(Key, Arc<Index>),
    /// Nothing, or nothing that is proven to be of its present content.
    Nothing,
}

enum Job<'a> {
    Waiting((&'a PathBuf, Result<Found, ReadError>)),
    Taken,
    Done(Result<Arc<Entry>, ReadError>),
}

/// A path as it is named in the index; one that is no text is not in there.
fn text(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}

/// Nothing that is locked here is left half done by a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
