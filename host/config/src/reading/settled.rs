//! Reading a file that somebody may be writing at this moment.
//!
//! Many clients write their files in place: they empty one, and then write it. What is read in
//! between is nothing, or the beginning, and to put a text back that was made from it would take all
//! the rest from them.

use std::fs::Metadata;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::bail;
use dormouse_catalog::Stamp;
use dormouse_text::visible::visible_path;

use crate::discovery::places::Syntax;
use crate::file;

/// Time after its last change for which a file may not be complete.
const YOUNG: Duration = Duration::from_secs(2);

/// Time for which a young file has to stay as it is.
const INTERVAL: Duration = Duration::from_millis(50);

/// Time for which nothing has to be written into a file of which the beginning alone could be a
/// whole: whoever writes it may pause.
const QUIET: Duration = Duration::from_secs(1);

/// Longest time that is waited.
const LONGEST: Duration = Duration::from_secs(5);

/// Reads a configuration file as [`file::read`] does, when nobody is writing it. An empty one may be
/// about to be written for as long as it is young. Of a document in JSON the beginning is none; of
/// others it is, up to the end of any line.
///
/// # Errors
/// Errors of [`file::read`], or somebody goes on writing it.
pub(crate) fn read(path: &Path, syntax: Syntax) -> anyhow::Result<Option<String>> {
    let start = Instant::now();
    while start.elapsed() < LONGEST {
        let before = Look::at(path);
        let text = file::read(path)?;
        let is_empty = text.as_ref().is_some_and(String::is_empty);
        let age = before.as_ref().and_then(|look| look.age);
        if age.is_some() {
            sleep(INTERVAL);
        }
        let may_be_part = before.as_ref().is_some_and(|look| {
            let is_quiet = age.is_none_or(|age| age >= QUIET);
            let may_be_cut = syntax != Syntax::Json && look.is_written_last && !is_quiet;
            may_be_cut || is_empty && age.is_some()
        });
        let stamp = |look: Option<Look>| look.map(|look| look.stamp);
        if stamp(Look::at(path)) == stamp(before) && !may_be_part {
            return Ok(text);
        }
    }
    bail!(
        "`{}` is being written by somebody else\nhint: try again when that is done",
        visible_path(path)
    )
}

/// State of a file at one moment.
struct Look {
    stamp: Stamp,
    /// Time since its last change, where it was changed just now.
    age: Option<Duration>,
    /// Whether the last thing that was done to the file may be that something was written into it.
    is_written_last: bool,
}

impl Look {
    fn at(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        let age = match metadata.modified().ok()?.elapsed() {
            Ok(age) => Some(age).filter(|age| *age < YOUNG),
            // The clocks of a file server and of this machine may differ.
            Err(error) => (error.duration() < YOUNG).then_some(Duration::ZERO),
        };
        Some(Self {
            stamp: Stamp::of(&metadata),
            age,
            is_written_last: is_written_last(&metadata),
        })
    }
}

/// Whether the last thing that was done to a file may be that something was written into it. One
/// that has got its name since, as those that Dormouse and careful editors write, is complete.
#[cfg(unix)]
fn is_written_last(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    (metadata.ctime(), metadata.ctime_nsec()) == (metadata.mtime(), metadata.mtime_nsec())
}

#[cfg(not(unix))]
fn is_written_last(_: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write as _;
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_file_that_is_written_in_place_is_read_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        let whole = "a = 1\nb = 2\n";
        let paused = [("", 300), ("", 20), ("a = 1\n", 20), ("a = 1\n", 600)];
        for (begun, pause) in paused {
            fs::write(&path, whole).unwrap();
            let mut file = File::create(&path).unwrap();
            file.write_all(begun.as_bytes()).unwrap();
            let read = std::thread::scope(|scope| {
                scope.spawn(|| {
                    sleep(Duration::from_millis(pause));
                    file.write_all(&whole.as_bytes()[begun.len()..]).unwrap();
                });
                read(&path, Syntax::Toml)
            });
            assert_eq!(read.unwrap().as_deref(), Some(whole), "{begun:?} {pause}");
        }
    }

    #[test]
    fn what_cannot_be_a_part_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        fs::write(&path, "{}").unwrap();
        let start = Instant::now();
        assert_eq!(read(&path, Syntax::Json).unwrap().as_deref(), Some("{}"));
        assert!(start.elapsed() < QUIET / 2);
        // Its writer was done before it got its name.
        #[cfg(unix)]
        {
            let other = folder.path().join("a.toml");
            fs::write(&path, "a = 1\n").unwrap();
            sleep(INTERVAL);
            fs::rename(&path, &other).unwrap();
            let start = Instant::now();
            let text = read(&other, Syntax::Toml).unwrap();
            assert_eq!(text.as_deref(), Some("a = 1\n"));
            assert!(start.elapsed() < QUIET / 2);
        }
    }

    #[test]
    fn a_file_is_empty_if_it_stays_that() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        assert_eq!(read(&path, Syntax::Json).unwrap(), None);
        fs::write(&path, "").unwrap();
        assert_eq!(read(&path, Syntax::Json).unwrap().as_deref(), Some(""));
        // It is young no more.
        let start = Instant::now();
        assert_eq!(read(&path, Syntax::Json).unwrap().as_deref(), Some(""));
        assert!(start.elapsed() < INTERVAL);
        // Nor is one from the future.
        let future = SystemTime::now() + Duration::from_secs(3600);
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(future)
            .unwrap();
        assert_eq!(read(&path, Syntax::Json).unwrap().as_deref(), Some(""));
        assert!(start.elapsed() < INTERVAL * 4);
    }

    #[test]
    fn a_file_that_somebody_goes_on_writing_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        fs::write(&path, "0").unwrap();
        let is_done = std::sync::atomic::AtomicBool::new(false);
        let read = std::thread::scope(|scope| {
            scope.spawn(|| {
                let ordering = std::sync::atomic::Ordering::Relaxed;
                for text in (1..).map(|number: u32| number.to_string()) {
                    if is_done.load(ordering) {
                        break;
                    }
                    fs::write(&path, text).unwrap();
                    sleep(Duration::from_millis(5));
                }
            });
            let read = read(&path, Syntax::Json);
            is_done.store(true, std::sync::atomic::Ordering::Relaxed);
            read
        });
        let error = read.unwrap_err().to_string();
        assert!(
            error.contains("is being written by somebody else"),
            "{error}"
        );
    }
}
