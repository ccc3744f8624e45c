//! The index: one file that holds what was read from all components, so that a
//! start with nothing changed reads one file and looks at the others' stamps.
//!
//! It is JSON Lines. The first line says what it is; then each component has two:
//! a short one with its path, its stamp and the length of the other, and its
//! listing. So opening the index parses the short lines only, and a listing is
//! parsed when it is asked for.
//!
//! Nothing in it is worth keeping: whatever is wrong with an index, a new one is
//! made from the components.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::regular::read_regular_file;
use crate::stamp::{self, Stamp};

/// The version of the file's layout, and of what a listing holds.
const LAYOUT: u32 = 4;

/// The largest index that is read, in bytes.
const LIMIT: u64 = 1 << 30;

/// How long a component that nobody asked for stays in the index, in
/// nanoseconds. Several configurations may share one index, so an entry that one
/// of them does not know is not therefore useless.
const MAX_UNUSED_NANOSECONDS: i64 = 30 * DAY;

/// How old an entry's time of last use may become before it is written again.
/// (Writing it at every start would make every start write.)
const REFRESHED: i64 = 7 * DAY;

const DAY: i64 = 24 * 60 * 60 * 1_000_000_000;

/// The first line.
#[derive(Serialize, Deserialize)]
struct Header {
    #[serde(rename = "dormouse-index")]
    layout: u32,
    /// The version of Dormouse that wrote it: another one may derive other
    /// declarations from the same bytes.
    version: String,
}

/// The short line of an entry.
#[derive(Serialize, Deserialize)]
struct KeyLine<'a> {
    #[serde(borrow)]
    path: Cow<'a, str>,
    stamp: Stamp,
    read: i64,
    used: i64,
    /// The length of the line that follows, in bytes, without its line feed.
    length: usize,
}

/// When an entry was made, and from what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    /// What the file looked like.
    pub(crate) stamp: Stamp,
    /// When it was read, in nanoseconds since the Unix epoch.
    pub(crate) read: i64,
    /// When the entry was last known to be in use, likewise.
    pub(crate) used: i64,
}

impl Key {
    /// The key of what has been read just now.
    pub(crate) fn new(stamp: Stamp, read: i64) -> Self {
        Self {
            stamp,
            read,
            used: read,
        }
    }

    /// Whether a file that looks like this now is the one that was read.
    pub(crate) fn proves(&self, stamp: &Stamp) -> bool {
        self.stamp == *stamp && stamp.settled(self.read)
    }

    /// Whether the time of last use is so old that it should be written again.
    pub(crate) fn stale(&self, now: i64) -> bool {
        now.saturating_sub(self.used) > REFRESHED
    }
}

/// An index as it was read.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// Whether the file was not to be used, or not in full. Then it has to be
    /// written even if nothing is missing, or each start would complain anew.
    pub(crate) damaged: bool,
    text: String,
    slots: BTreeMap<String, (Key, Range<usize>)>,
}

/// Why an index is not to be used.
#[derive(Debug, thiserror::Error)]
enum Unusable {
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("it is no index of Dormouse's")]
    Foreign,
    #[error("it is from another version of Dormouse (`{0}`)")]
    Version(String),
    #[error("it is damaged, {0} bytes into it")]
    Damaged(usize),
}

impl Index {
    /// Reads an index. An index that is missing or not to be used is an empty
    /// one; why is said in the log, because making a new one takes time.
    pub(crate) fn open(file: &Path) -> Self {
        let text = match read(file) {
            Ok(Some(text)) => text,
            Ok(None) => return Self::default(),
            Err(problem) => return Self::unusable(file, &problem),
        };
        match Self::parse(text) {
            (index, None) => index,
            // What stands before the damage is as good as ever.
            (index, Some(problem)) => Self {
                text: index.text,
                slots: index.slots,
                ..Self::unusable(file, &problem)
            },
        }
    }

    fn unusable(file: &Path, problem: &Unusable) -> Self {
        let file = file.display();
        match problem {
            Unusable::Version(_) => {
                tracing::info!("the catalog's index `{file}` is made anew: {problem}");
            }
            _ => tracing::warn!("the catalog's index `{file}` is made anew: {problem}"),
        }
        Self {
            damaged: true,
            ..Self::default()
        }
    }

    /// Parses as many entries as are whole.
    fn parse(text: String) -> (Self, Option<Unusable>) {
        let Some((first, _)) = text.split_once('\n') else {
            return (Self::default(), Some(Unusable::Foreign));
        };
        let Ok(header) = serde_json::from_str::<Header>(first) else {
            return (Self::default(), Some(Unusable::Foreign));
        };
        if header.layout != LAYOUT || header.version != env!("CARGO_PKG_VERSION") {
            return (Self::default(), Some(Unusable::Version(header.version)));
        }
        let mut at = first.len() + 1;
        let mut slots = BTreeMap::new();
        let mut damage = None;
        while at < text.len() {
            let Some((path, key, body)) = slot(&text, at) else {
                damage = Some(Unusable::Damaged(at));
                break;
            };
            at = body.end + 1;
            slots.insert(path, (key, body));
        }
        let index = Self {
            damaged: damage.is_some(),
            text,
            slots,
        };
        (index, damage)
    }

    /// What is known of a file: its key, and its listing as JSON.
    pub(crate) fn get(&self, path: &str) -> Option<(Key, &str)> {
        let (key, range) = self.slots.get(path)?;
        Some((*key, self.text.get(range.clone())?))
    }

    /// Writes an index with `fresh` (path → key and listing as JSON) and with
    /// whatever else the file holds at this moment that may still be of use, and
    /// has the old one replaced by it in one step.
    ///
    /// Two hosts that write at once both write a whole index; what the loser knew
    /// is read again by whoever misses it.
    pub(crate) fn write(file: &Path, fresh: &BTreeMap<String, (Key, String)>) -> io::Result<()> {
        let folder = file.parent().unwrap_or(Path::new("."));
        create_private(folder)?;
        let old = match read(file) {
            Ok(Some(text)) => Self::parse(text).0,
            Ok(None) | Err(_) => Self::default(),
        };
        let now = stamp::now();
        let others = old
            .slots
            .keys()
            .filter(|path| !fresh.contains_key(*path))
            .filter_map(|path| {
                let (key, body) = old.get(path)?;
                let current = now.saturating_sub(key.used) <= MAX_UNUSED_NANOSECONDS
                    && Path::new(path).exists();
                current.then_some((path.as_str(), key, body))
            });
        let fresh = fresh
            .iter()
            .map(|(path, (key, body))| (path.as_str(), *key, body.as_str()));

        // A temporary file is 0600 from its first moment. It is not synced to the
        // disk: an index that a power cut leaves in pieces is made anew.
        let mut temporary = tempfile::Builder::new()
            .prefix(".index-")
            .tempfile_in(folder)?;
        let mut out = io::BufWriter::with_capacity(1 << 16, temporary.as_file_mut());
        let header = Header {
            layout: LAYOUT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        line(&mut out, &header)?;
        for (path, key, body) in fresh.chain(others) {
            let Key { stamp, read, used } = key;
            line(
                &mut out,
                &KeyLine {
                    path: path.into(),
                    stamp,
                    read,
                    used,
                    length: body.len(),
                },
            )?;
            out.write_all(body.as_bytes())?;
            out.write_all(b"\n")?;
        }
        out.flush()?;
        drop(out);
        temporary.persist(file).map_err(|error| error.error)?;
        Ok(())
    }
}

/// The entry whose short line begins at `at`.
fn slot(text: &str, at: usize) -> Option<(String, Key, Range<usize>)> {
    let (short, _) = text.get(at..)?.split_once('\n')?;
    let KeyLine {
        path,
        stamp,
        read,
        used,
        length,
    } = serde_json::from_str(short).ok()?;
    let start = at + short.len() + 1;
    let end = start.checked_add(length)?;
    (text.as_bytes().get(end) == Some(&b'\n')).then_some(())?;
    text.get(start..end)?;
    Some((path.into_owned(), Key { stamp, read, used }, start..end))
}

fn line(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

/// The index's text; none where there is no such file.
fn read(file: &Path) -> Result<Option<String>, Unusable> {
    use ErrorKind::{FileTooLarge, InvalidInput, IsADirectory};
    let bytes = match read_regular_file(file, LIMIT) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(None),
        Err(error) if matches!(error.kind(), FileTooLarge | InvalidInput | IsADirectory) => {
            return Err(Unusable::Foreign);
        }
        Err(error) => return Err(error.into()),
    };
    // What is no text any more is replaced, so that it damages only the entry that
    // it is in.
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    Ok(Some(text))
}

/// Makes a folder that only its user can enter, with all above it.
fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests;
