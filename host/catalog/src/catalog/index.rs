//! The index: one file with the declarations of all components, so that a start without changes
//! reads one file and only the stamps of the others.
//!
//! The format is JSON Lines. The first line is a header; then each component has two lines: a short
//! one with its path, its stamp and the length of the other, and its listing, or the fault for which
//! it has none. So opening the index parses the short lines only, and a listing is parsed when it is
//! requested.
//!
//! The index is disposable: a faulty one is replaced by a new one, made from the components.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::ops::Range;
use std::path::Path;

use dormouse_files::ownership;
use dormouse_text::visible::visible_path;
use serde::{Deserialize, Serialize};

use crate::stamp::{self, Stamp};
use dormouse_files::regular::read_regular_file;

/// Version of the file's layout, and of the content of a listing or a fault.
const LAYOUT: u32 = 7;

/// Largest index that is read and written, in bytes.
const LIMIT: u64 = 1 << 30;

/// Time for which an unused component stays in the index, in nanoseconds. Several configurations
/// may share one index, so an entry that one of them does not know may be of use to another.
const MAX_UNUSED_NANOSECONDS: i64 = 30 * DAY;

/// Age of an entry's time of last use at which it is written again, in nanoseconds. (Writing it at
/// every start would make every start write.)
const REFRESHED: i64 = 7 * DAY;

/// Most failed attempts to read a file, after which it is tried again only when some time has passed.
const MAX_ATTEMPTS: u32 = 3;

/// Time after which such a file is tried again, in nanoseconds.
const RETRIED: i64 = DAY;

const DAY: i64 = 24 * 60 * 60 * 1_000_000_000;

/// The first line of the file.
#[derive(Serialize, Deserialize)]
struct Header {
    #[serde(rename = "dormouse-index")]
    layout: u32,
    /// Version of Dormouse that wrote the index: another one may derive other declarations from the
    /// same bytes.
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
    #[serde(default, skip_serializing_if = "is_zero")]
    failures: u32,
    /// Length of the line that follows, in bytes, without its line feed.
    length: usize,
}

/// Origin and times of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexKey {
    /// Stamp of the file.
    pub(crate) stamp: Stamp,
    /// Time at which the file was read, in nanoseconds since the Unix epoch.
    pub(crate) read: i64,
    /// Time at which the entry was last known to be in use, likewise.
    pub(crate) used: i64,
    /// Number of attempts in a row to read the file that have failed for what may have been another
    /// reason than its content.
    pub(crate) failures: u32,
}

impl IndexKey {
    /// Returns the key of a file that has just been read.
    pub(crate) fn new(stamp: Stamp, read: i64) -> Self {
        Self {
            stamp,
            read,
            used: read,
            failures: 0,
        }
    }

    /// Checks whether the file may be read once more, although nothing in it has changed: what
    /// reading it has failed of may have passed.
    pub(crate) fn may_be_tried_again(&self, now: i64) -> bool {
        match self.failures {
            0 => false,
            1..MAX_ATTEMPTS => true,
            _ => now.saturating_sub(self.read) > RETRIED,
        }
    }

    /// Checks whether a file with this stamp is the one that was read.
    pub(crate) fn proves(&self, stamp: &Stamp) -> bool {
        self.stamp == *stamp && stamp.settled(self.read)
    }

    /// Checks whether the time of last use is so old that it should be written again.
    pub(crate) fn stale(&self, now: i64) -> bool {
        now.saturating_sub(self.used) > REFRESHED
    }
}

/// An index as it was read.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// Whether the file was not usable in full. Then it has to be written even if nothing is
    /// missing, or each start would complain anew.
    pub(crate) damaged: bool,
    text: String,
    slots: BTreeMap<String, (IndexKey, Range<usize>)>,
}

/// Reason for which an index is unusable.
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
    /// Reads an index. A missing or unusable index counts as an empty one; the reason is logged,
    /// because making a new one takes time.
    pub(crate) fn open(file: &Path) -> Self {
        let text = match read(file) {
            Ok(Some(text)) => text,
            Ok(None) => return Self::default(),
            Err(problem) => return Self::unusable(file, &problem),
        };
        match Self::parse(text) {
            (index, None) => index,
            // Entries before the damage are valid.
            (index, Some(problem)) => Self {
                text: index.text,
                slots: index.slots,
                ..Self::unusable(file, &problem)
            },
        }
    }

    fn unusable(file: &Path, problem: &Unusable) -> Self {
        let file = visible_path(file);
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

    /// Parses entries until the first that is damaged.
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

    /// Returns the key of a file and what was found in it, as JSON.
    pub(crate) fn get(&self, path: &str) -> Option<(IndexKey, &str)> {
        let (key, range) = self.slots.get(path)?;
        Some((*key, self.text.get(range.clone())?))
    }

    /// Writes an index with `fresh` (path → key and what was found, as JSON) and with all other entries of
    /// the file that may still be of use, and replaces the old one atomically.
    ///
    /// Two hosts that write at once both write a whole index; entries that only the overwritten one
    /// had are read again when they are missed. The largest entries are left out of an index that
    /// would be larger than one that is read.
    pub(crate) fn write(
        file: &Path,
        fresh: &BTreeMap<String, (IndexKey, String)>,
    ) -> io::Result<()> {
        Self::write_within(LIMIT, file, fresh)
    }

    fn write_within(
        limit: u64,
        file: &Path,
        fresh: &BTreeMap<String, (IndexKey, String)>,
    ) -> io::Result<()> {
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
        let header = Header {
            layout: LAYOUT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let header = serde_json::to_string(&header)?;
        let mut lines = Vec::new();
        for (path, key, body) in fresh.chain(others) {
            lines.push((path, key_line(path, key, body)?, body));
        }
        let room = limit.saturating_sub(header.len() as u64 + 1);
        leave_out_largest(file, room, &mut lines);

        // A temporary file is 0600 from its first moment. It is not synced to the
        // disk: an index that a power cut leaves in pieces is made anew.
        let mut temporary = tempfile::Builder::new()
            .prefix(".index-")
            .tempfile_in(folder)?;
        let mut out = io::BufWriter::with_capacity(1 << 16, temporary.as_file_mut());
        let lines = lines.iter().flat_map(|(_, key, body)| [key.as_str(), body]);
        for line in [header.as_str()].into_iter().chain(lines) {
            out.write_all(line.as_bytes())?;
            out.write_all(b"\n")?;
        }
        out.flush()?;
        drop(out);
        temporary.persist(file).map_err(|error| error.error)?;
        Ok(())
    }
}

/// Returns the entry whose short line begins at `at`.
fn slot(text: &str, at: usize) -> Option<(String, IndexKey, Range<usize>)> {
    let (short, _) = text.get(at..)?.split_once('\n')?;
    let KeyLine {
        path,
        stamp,
        read,
        used,
        failures,
        length,
    } = serde_json::from_str(short).ok()?;
    let start = at + short.len() + 1;
    let end = start.checked_add(length)?;
    (text.as_bytes().get(end) == Some(&b'\n')).then_some(())?;
    text.get(start..end)?;
    let key = IndexKey {
        stamp,
        read,
        used,
        failures,
    };
    Some((path.into_owned(), key, start..end))
}

fn key_line(path: &str, key: IndexKey, body: &str) -> serde_json::Result<String> {
    serde_json::to_string(&KeyLine {
        path: path.into(),
        stamp: key.stamp,
        read: key.read,
        used: key.used,
        failures: key.failures,
        length: body.len(),
    })
}

/// Leaves the largest entries of an index out that has no room for all, and says so.
fn leave_out_largest(file: &Path, room: u64, lines: &mut Vec<(&str, String, &str)>) {
    let bytes = |(_, key, body): &(&str, String, &str)| (key.len() + body.len() + 2) as u64;
    let mut all: u64 = lines.iter().map(bytes).sum();
    if all <= room {
        return;
    }
    lines.sort_by_key(bytes);
    let (count, mut left_out) = (lines.len(), Vec::new());
    while all > room
        && let Some(largest) = lines.pop()
    {
        all -= bytes(&largest);
        left_out.push(largest.0);
    }
    tracing::warn!(
        "the catalog's index `{}` has no room for {} of {count} components, which are read anew \
         at each start, such as `{}`\n\
         hint: let these components offer less",
        visible_path(file),
        left_out.len(),
        left_out.first().copied().unwrap_or_default()
    );
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Reads the index's text; none where there is no such file, or where others could have written it.
fn read(file: &Path) -> Result<Option<String>, Unusable> {
    use ErrorKind::{FileTooLarge, InvalidInput, IsADirectory};
    // Agents are shown what is in it.
    if !ownership::counts(file, file.parent().unwrap_or(file)) {
        return Ok(None);
    }
    let bytes = match read_regular_file(file, LIMIT) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(None),
        Err(error) if matches!(error.kind(), FileTooLarge | InvalidInput | IsADirectory) => {
            return Err(Unusable::Foreign);
        }
        Err(error) => return Err(error.into()),
    };
    // Bytes that are not UTF-8 are replaced, so that they damage only the entry that they are in.
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    Ok(Some(text))
}

/// Makes a folder that only its user can enter, with all folders above it.
fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests;
