//! Entries of many files, read by several threads.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::{Catalog, CatalogLookup, text, told};
use crate::CatalogEntry;
use crate::error::ReadError;
use crate::round::ReadRound;

/// Most threads that read at once.
const THREADS: usize = 4;

/// Bytes of listings that are parsed in the time that starting a thread takes.
const WORTH_A_THREAD: usize = 512 << 10;

enum ReadJob<'a> {
    Waiting((&'a PathBuf, Result<CatalogLookup, ReadError>)),
    Taken,
    Done(Result<Arc<CatalogEntry>, ReadError>),
}

impl Catalog {
    /// Returns the entries of files, all of which are different, in their order.
    pub(super) fn different_entries(
        &self,
        paths: &[&PathBuf],
        round: ReadRound,
    ) -> Vec<Result<Arc<CatalogEntry>, ReadError>> {
        let found: Vec<_> = paths.iter().map(|path| self.look(path)).collect();
        let mut files = 0;
        let mut bytes = 0;
        for (path, found) in paths.iter().zip(&found) {
            match found {
                Ok(CatalogLookup::Nothing { .. } | CatalogLookup::Doubtful(_)) => files += 1,
                Ok(CatalogLookup::Indexed(_, index)) => {
                    bytes += index.get(text(path)).map_or(0, |(_, body)| body.len());
                }
                Ok(CatalogLookup::Held(_)) | Err(_) => {}
            }
        }
        let finish = |path: &Path, found| told(path, self.finish(path, found?, round));
        let wanted = THREADS.min(files + bytes / WORTH_A_THREAD);
        // The system reads several files to find out.
        let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
        let threads = if wanted < 2 {
            wanted
        } else {
            wanted.min(cores())
        };
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
            .copied()
            .zip(found)
            .map(|job| Mutex::new(ReadJob::Waiting(job)))
            .collect();
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let work = || {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut job = job.lock();
                    if let ReadJob::Waiting((path, found)) =
                        std::mem::replace(&mut *job, ReadJob::Taken)
                    {
                        *job = ReadJob::Done(finish(path, found));
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
            .map(|(job, path)| match job.into_inner() {
                ReadJob::Done(result) => result,
                // No thread leaves a job like this; reading the file now is right anyhow.
                ReadJob::Waiting(_) | ReadJob::Taken => told(path, self.fetch(path, 0, round)),
            })
            .collect()
    }
}
