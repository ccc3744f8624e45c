//! Reading of files that may be half written.
//!
//! A program that writes a file in place empties it first. Reading it then gives no error, but
//! servers or their restrictions are missing.

use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use dormouse_config::WatchedFile;

/// Time for which a file has to be unchanged before it counts as written.
pub(super) const QUIET: Duration = Duration::from_millis(75);

/// Time for which an empty file has to be unchanged: few are meant to be empty, and on a busy
/// machine a while may pass between emptying a file and writing it.
const QUIET_IF_EMPTY: Duration = Duration::from_secs(2);

/// Longest wait for files that are written to without a pause.
const MAX_WAIT: Duration = Duration::from_secs(3);

/// Times of the last writes to files, and their lengths. None for those that cannot be read.
#[derive(PartialEq)]
struct WriteStamps(Vec<Option<(SystemTime, u64)>>);

impl WriteStamps {
    fn of(files: &BTreeSet<WatchedFile>) -> Self {
        let stamp = |file: &WatchedFile| {
            let metadata = file.metadata()?;
            Some((metadata.modified().ok()?, metadata.len()))
        };
        Self(files.iter().map(stamp).collect())
    }

    /// Checks whether all files were unchanged for long enough. A time in the future does not count
    /// as recent.
    fn are_quiet(&self) -> bool {
        let mut stamps = self.0.iter().flatten();
        !stamps.any(|(written, length)| {
            let quiet = if *length == 0 { QUIET_IF_EMPTY } else { QUIET };
            written.elapsed().is_ok_and(|age| age < quiet)
        })
    }
}

/// Reads these files by a function while they are not written to: it is called again if they have
/// changed meanwhile. Blocks for up to [`MAX_WAIT`], beside the reading.
pub(super) fn read_settled<T>(files: &BTreeSet<WatchedFile>, read: impl Fn() -> T) -> T {
    let start = Instant::now();
    loop {
        let before = WriteStamps::of(files);
        let waits = start.elapsed() < MAX_WAIT;
        if waits && !before.are_quiet() {
            sleep(QUIET);
            continue;
        }
        let what = read();
        if !waits || WriteStamps::of(files) == before {
            return what;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File, write};
    use std::io::Write as _;
    use std::path::{Path, PathBuf};

    use super::*;

    fn watched<const N: usize>(files: [&Path; N]) -> BTreeSet<WatchedFile> {
        files
            .map(|file| WatchedFile::new(file.to_owned(), None))
            .into()
    }

    /// A file that was emptied is waited for, also if that happened while it is read.
    #[test]
    fn half_a_file_is_not_what_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write(&path, "old").unwrap();
        let files = watched([&path, &folder.path().join("none")]);
        let half = |path: &PathBuf| {
            let mut file = File::create(path).unwrap();
            file.write_all(b"ne").unwrap();
            file
        };
        let mut file = File::create(&path).unwrap();
        let writer = std::thread::spawn(move || {
            sleep(QUIET * 2);
            file.write_all(b"new").unwrap();
        });
        let read = || fs::read_to_string(&path).unwrap();
        assert_eq!(read_settled(&files, read), "new");
        writer.join().unwrap();

        let reads = std::cell::Cell::new(0);
        let text = read_settled(&files, || {
            reads.set(reads.get() + 1);
            if reads.get() == 1 {
                drop(half(&path));
            } else if reads.get() == 2 {
                write(&path, "newer").unwrap();
            }
            read()
        });
        assert_eq!((text.as_str(), reads.get()), ("newer", 3));
    }

    /// It is read as it is after the longest wait.
    #[test]
    fn a_file_that_is_written_without_a_pause_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let files = watched([&path]);
        let reads = std::cell::Cell::new(0_u32);
        write(&path, "").unwrap();
        let old = SystemTime::now() - Duration::from_secs(60);
        read_settled(&files, || {
            reads.set(reads.get() + 1);
            let length = u64::from(reads.get());
            let file = File::options().write(true).open(&path).unwrap();
            file.set_len(length).unwrap();
            file.set_modified(old).unwrap();
            sleep(QUIET);
        });
        assert!(reads.get() > 1);
    }

    /// A clock that was set back causes no wait.
    #[test]
    fn a_time_to_come_is_no_reason_to_wait() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let file = File::create(&path).unwrap();
        file.set_modified(SystemTime::now() + Duration::from_secs(600))
            .unwrap();
        assert!(WriteStamps::of(&watched([&path])).are_quiet());
    }
}
