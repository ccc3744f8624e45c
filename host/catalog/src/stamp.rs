//! Stamps of files: they tell whether a file is unchanged since it was read, without opening it.

use std::fs::Metadata;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Time after its last change for which a stamp cannot be trusted to tell a file from a changed
/// one.
///
/// Clocks of file systems tick: two changes within one tick leave the same time behind, so a file
/// that is read between them looks unchanged afterwards. The coarsest clock in use (FAT's) ticks
/// every two seconds.
const TICK: Duration = Duration::from_secs(2);

/// A file's size, times and identity. Equal stamps mean an unchanged file, if
/// the file had been [settled](Stamp::settled) when the first one was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change of its content, in nanoseconds since the Unix epoch. Programs can
    /// set it at will.
    pub mtime: i64,
    /// Time of the last change of content or metadata, in nanoseconds since the Unix epoch;
    /// programs cannot set it. 0 where the platform has none.
    pub ctime: i64,
    /// Inode number; 0 where the platform has none.
    pub inode: u64,
}

impl Stamp {
    /// Returns the stamp of the file with that metadata.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        let (ctime, inode) = platform::change(metadata);
        Self {
            size: metadata.len(),
            mtime: metadata.modified().map_or(0, nanos),
            ctime,
            inode,
        }
    }

    /// Checks whether the last change was long enough before `read` (nanoseconds since the Unix
    /// epoch) that any later change must show in the stamp. A file from the future is never
    /// settled: it may change at that very time.
    #[must_use]
    pub fn settled(&self, read: i64) -> bool {
        // A change sets both times. Where there is a ctime, it alone decides,
        // because a file may have any mtime, even one of next year.
        let changed = if self.ctime == 0 {
            self.mtime
        } else {
            self.ctime
        };
        let tick = i64::try_from(TICK.as_nanos()).unwrap_or(i64::MAX);
        changed.saturating_add(tick) < read
    }
}

/// Returns the current time, in nanoseconds since the Unix epoch.
pub(crate) fn now() -> i64 {
    nanos(SystemTime::now())
}

fn nanos(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |ns| -ns),
    }
}

#[cfg(unix)]
mod platform {
    use std::fs::Metadata;
    use std::os::unix::fs::MetadataExt;

    /// Returns the file's ctime and inode.
    pub(super) fn change(metadata: &Metadata) -> (i64, u64) {
        let seconds = metadata.ctime().saturating_mul(1_000_000_000);
        (
            seconds.saturating_add(metadata.ctime_nsec()),
            metadata.ino(),
        )
    }
}

#[cfg(not(unix))]
mod platform {
    use std::fs::Metadata;

    /// Returns zeros: the standard library has neither value here.
    pub(super) fn change(_: &Metadata) -> (i64, u64) {
        (0, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    #[test]
    fn any_change_shows() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        let stamp = || Stamp::of(&std::fs::metadata(&file).unwrap());
        std::fs::write(&file, "one").unwrap();
        let first = stamp();
        assert_eq!(first, stamp());
        std::fs::write(&file, "four").unwrap();
        assert_ne!(first, stamp(), "another size");
        // A replacement with the same size and, set by hand, the same mtime.
        let mtime = std::fs::metadata(&file).unwrap().modified().unwrap();
        let second = stamp();
        let other = folder.path().join("b");
        std::fs::write(&other, "five").unwrap();
        std::fs::File::options()
            .write(true)
            .open(&other)
            .unwrap()
            .set_modified(mtime)
            .unwrap();
        std::fs::rename(&other, &file).unwrap();
        assert_eq!(second.mtime, stamp().mtime);
        if cfg!(unix) {
            assert_ne!(second, stamp(), "another inode and ctime");
        }
    }

    #[test]
    fn a_fresh_change_is_not_settled() {
        let changed = 1_000 * SECOND;
        let stamp = Stamp {
            size: 1,
            mtime: 0,
            ctime: changed,
            inode: 1,
        };
        assert!(!stamp.settled(changed));
        assert!(!stamp.settled(changed + 2 * SECOND));
        assert!(stamp.settled(changed + 2 * SECOND + 1));
        assert!(!stamp.settled(changed - 5 * SECOND), "from the future");
        // The mtime says nothing where there is a ctime.
        let stamp = Stamp {
            mtime: i64::MAX,
            ..stamp
        };
        assert!(stamp.settled(changed + 3 * SECOND));
        let stamp = Stamp {
            ctime: 0,
            mtime: changed,
            ..stamp
        };
        assert!(!stamp.settled(changed + SECOND));
        assert!(stamp.settled(changed + 3 * SECOND));
    }
}
