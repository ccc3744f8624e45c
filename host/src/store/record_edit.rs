//! Changes of records. Working one out may take long, because an upstream chooses how much there is
//! to compare: this is done while nobody waits, and what was worked out is written if the record is
//! still what it was made from.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use blake3::Hash;
use dormouse_catalog::Stamp;
use dormouse_config::Fingerprint;
use dormouse_files::paths;
use dormouse_files::regular::read_regular_file;
use dormouse_files::replace::{Access, replace};
use dormouse_text::visible::visible_path;

use super::{Damaged, MAX_RECORD_BYTES, Record, Store};

/// Most times that a change is worked out before others are kept waiting for it: who changes the
/// record in between is its user, or an older Dormouse. Learning takes turns.
pub(super) const MAX_ATTEMPTS: usize = 3;

/// Record of an upstream on disk, before a change.
pub(super) enum Recorded {
    /// No record: the upstream is new.
    Missing,
    /// A record that cannot be read: the upstream is known, but what its user has seen of it is
    /// not.
    Damaged,
    /// A record that can be read.
    Readable(Box<Record>),
}

/// A changed record that is ready to be written.
struct EditedRecord<T> {
    file: PathBuf,
    text: String,
    /// Whether it replaces a file that cannot be read, of which a copy is kept.
    is_damaged: bool,
    outcome: T,
}

impl<T> EditedRecord<T> {
    fn write(self) -> anyhow::Result<T> {
        let Self { file, .. } = self;
        if self.is_damaged {
            let kept = file.with_extension("json.damaged");
            read_regular_file(&file, MAX_RECORD_BYTES)
                .map_err(anyhow::Error::from)
                .and_then(|bytes| replace(&kept, &bytes.unwrap_or_default(), Access::Private))
                .with_context(|| format!("`{}` cannot be written", visible_path(&kept)))?;
        }
        replace(&file, self.text.as_bytes(), Access::Private)
            .with_context(|| format!("`{}` cannot be written", visible_path(&file)))?;
        Ok(self.outcome)
    }
}

impl Store {
    /// Changes a record. Nothing is written where the change fails. A copy of a damaged file is kept
    /// beside the record that replaces it. `change` is called again where another process has
    /// changed the record in the meantime, and lastly under a lock that holds for all processes.
    pub(super) fn edit<T>(
        &self,
        of: &Fingerprint,
        change: impl Fn(Recorded) -> anyhow::Result<(Record, T)>,
    ) -> anyhow::Result<T> {
        for _ in 0..MAX_ATTEMPTS {
            let before = self.state_of_files(of);
            let edited = self.edited(of, &change)?;
            let _lock = self.lock_files()?;
            if self.state_of_files(of) == before {
                return edited.write();
            }
        }
        let _lock = self.lock_files()?;
        self.edited(of, &change)?.write()
    }

    fn edited<T>(
        &self,
        of: &Fingerprint,
        change: impl Fn(Recorded) -> anyhow::Result<(Record, T)>,
    ) -> anyhow::Result<EditedRecord<T>> {
        let recorded = match self.read(of) {
            Ok(Some(record)) => Recorded::Readable(Box::new(record)),
            Ok(None) => Recorded::Missing,
            Err(error) => match error.downcast_ref::<Damaged>() {
                Some(Damaged::Unreadable(_) | Damaged::NotKept) => Recorded::Damaged,
                // What cannot be read at the moment, or was written by a later Dormouse, is
                // not replaced: what its user has seen is in it.
                Some(Damaged::Newer(_)) | None => return Err(error),
            },
        };
        // What is known anywhere stays as it is.
        let is_damaged = matches!(recorded, Recorded::Damaged) && self.file(of).exists();
        let (record, outcome) = change(recorded)?;
        let (of, record) = self.kept(of, record);
        let file = self.file(&of);
        let text = text(&record)
            .with_context(|| format!("`{}` cannot be written", visible_path(&file)))?;
        Ok(EditedRecord {
            file,
            text,
            is_damaged,
            outcome,
        })
    }

    /// Returns what decides a change: the files that it is made from, each by its stamp and its
    /// content. Stamps alone could be those of two contents within one tick of the clock.
    fn state_of_files(&self, of: &Fingerprint) -> Vec<Option<(Stamp, Option<Hash>)>> {
        let state = |file: PathBuf| {
            let stamp = Stamp::of(&std::fs::metadata(&file).ok()?);
            let bytes = read_regular_file(&file, MAX_RECORD_BYTES).ok().flatten();
            Some((stamp, bytes.map(|bytes| blake3::hash(&bytes))))
        };
        let marks = [of.clone(), of.anywhere()].map(|of| self.mark(&of));
        self.files(of).into_iter().chain(marks).map(state).collect()
    }

    /// Takes the lock that excludes all other processes from changing files of the store. It is held
    /// for no longer than writing takes.
    pub(super) fn lock_files(&self) -> anyhow::Result<File> {
        self.lock("lock")
    }

    /// Takes the lock of those who learn what one upstream offers, in whichever folder: one at a time,
    /// so that nobody works out for nothing what another one is about to change. Who does anything
    /// else does not wait for it.
    pub(super) fn take_turn(&self, of: &Fingerprint) -> anyhow::Result<File> {
        self.lock(&format!("{}.lock", of.anywhere().file_stem()))
    }

    fn lock(&self, name: &str) -> anyhow::Result<File> {
        let shown = visible_path(&self.folder);
        // Dormouse's data folder first: nobody else has any business in there.
        let folders = self
            .folder
            .parent()
            .into_iter()
            .chain([self.folder.as_path()]);
        for folder in folders {
            paths::make_private(folder).with_context(|| format!("`{shown}` cannot be made"))?;
        }
        paths::lock(&self.folder.join(name))
    }
}

/// Returns the text of a record, if it can be read back: otherwise what its user has seen would be
/// lost.
fn text(record: &Record) -> anyhow::Result<String> {
    let text = serde_json::to_string(record)?;
    if text.len() as u64 > MAX_RECORD_BYTES {
        bail!(
            "it would have {} bytes, and {MAX_RECORD_BYTES} are allowed",
            text.len()
        );
    }
    Record::parse(&text).context("it could not be read back")?;
    Ok(text)
}

/// Writes a record, if it can be read back.
pub(super) fn write(file: &Path, record: &Record) -> anyhow::Result<()> {
    replace(file, text(record)?.as_bytes(), Access::Private)
}
