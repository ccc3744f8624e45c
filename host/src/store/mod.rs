//! Records of upstreams, kept from one run to the next: one file for each, named by the fingerprint
//! of its configuration.

mod approved_texts;
mod by_folder;
mod carry_over;
mod decisions;
mod failed_start;
mod folders;
mod forgotten;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod item;
mod record;
mod record_edit;
mod trust;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use dormouse_catalog::{Listing, Stamp};
use dormouse_config::{ChangePolicy, Fingerprint};
use dormouse_files::ownership;
use dormouse_files::regular::read_regular_file;
use dormouse_text::visible::visible_path;
use dormouse_upstream::Offered;
use parking_lot::Mutex;

pub use decisions::{DecidedBy, Decision, Decisions};
pub use failed_start::FailedStart;
pub use folders::{RealPaths, RecordedFolders};
use item::DeclaredItems;
pub use item::{Gated, Pending, PendingItem, Selection, Treatment};
pub(crate) use item::{frozen_tool, is_for_models, is_for_pages, takes_other_arguments};
use record::Rules;
pub(crate) use record::is_other_version;
pub use record::{
    Asker, ConnectionOffer, Damaged, ItemChanged, KnownUpstream, OfferedChanges, Record,
};
use record_edit::Recorded;
pub use trust::Trust;

/// Largest record that is read or written, in bytes.
const MAX_RECORD_BYTES: u64 = 256 << 20;

/// Records of all upstreams. Several processes may use one store at a time.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    /// Records that were read, each at one content of its file. Each object's text is kept once,
    /// shared with all listings.
    known: Mutex<HashMap<Fingerprint, (RecordStamps, Arc<KnownUpstream>)>>,
}

/// Stamps of the [files](Store::files) that a record was read from.
type RecordStamps = Vec<Option<Stamp>>;

impl Store {
    /// Opens the store in a folder, which need not exist yet.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            known: Mutex::default(),
        }
    }

    /// Opens the store in Dormouse's data folder.
    #[must_use]
    pub fn of(data: &Path) -> Self {
        Self::new(data.join("servers"))
    }

    /// Returns the folder of its files.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the knowledge of an upstream; checks its files each time, and reads them when they
    /// have changed. Nothing is known from a damaged file.
    #[must_use]
    pub fn known(&self, of: &Fingerprint) -> Option<Arc<KnownUpstream>> {
        let stamp = |file| Some(Stamp::of(&std::fs::metadata(file).ok()?));
        let stamps: RecordStamps = self.files(of).iter().map(stamp).collect();
        if stamps.iter().all(Option::is_none) {
            return None;
        }
        if let Some((at, known)) = self.known.lock().get(of)
            && *at == stamps
        {
            return Some(Arc::clone(known));
        }
        let read = || Ok(self.read(of)?.map(Record::into_known).transpose()?);
        let known: anyhow::Result<Option<KnownUpstream>> = read();
        let known = match known {
            Ok(known) => Arc::new(known?),
            Err(error) => {
                tracing::warn!("{error:#}");
                return None;
            }
        };
        self.known
            .lock()
            .insert(of.clone(), (stamps, Arc::clone(&known)));
        Some(known)
    }

    /// Does the same as [`learn_as`](Self::learn_as) for an agent.
    #[cfg(test)]
    pub(crate) fn learn(
        &self,
        of: &Fingerprint,
        offered: Offered,
        changes: &ChangePolicy,
        seen: Option<&Arc<Listing>>,
    ) -> anyhow::Result<OfferedChanges> {
        self.learn_as(of, Asker::Agent, offered, changes, seen)
    }

    /// Records what an upstream offers now to an agent, or to Dormouse itself, and returns the
    /// changes: against the record or, where there is none, against what its user has seen
    /// elsewhere: `seen`, the listing of the component in front of it.
    ///
    /// # Errors
    /// There is something new, and the record cannot be written.
    pub fn learn_as(
        &self,
        of: &Fingerprint,
        asker: Asker,
        offered: Offered,
        changes: &ChangePolicy,
        seen: Option<&Arc<Listing>>,
    ) -> anyhow::Result<OfferedChanges> {
        let declared = seen.map(|listing| DeclaredItems::of(listing));
        let rules = Rules {
            changes,
            declared: declared.as_ref(),
            asker,
        };
        let learn = |record: Recorded| {
            let mut record = match record {
                Recorded::Readable(record) => *record,
                Recorded::Missing => Record::new(),
                Recorded::Damaged => Record::after_damage(),
            };
            // It decides what it lists first, and what later.
            let is_asked = record.has_unknown(&offered);
            let known_elsewhere = is_asked.then(|| self.known_elsewhere(of)).flatten();
            let news = record.update(offered.clone(), rules, known_elsewhere.as_ref());
            Ok((record, news))
        };
        let turn = self.take_turn(of);
        let learnt = turn.and_then(|_turn| self.edit(of, learn));
        let Err(error) = learnt else {
            self.clear_marks(of);
            // Here nobody waits for it but who has asked this upstream.
            let _ = self.known(of);
            return learnt;
        };
        // Where it offers what it did, nothing is lost.
        let recorded = self.read(of).ok().flatten();
        let same = recorded.is_some_and(|recorded| {
            let mut now = recorded.clone();
            now.update(offered, rules, None);
            now.says_the_same(&recorded)
        });
        if !same {
            return Err(error);
        }
        tracing::warn!("{error:#}");
        self.clear_marks(of);
        Ok(OfferedChanges::default())
    }

    /// Approves what an upstream offers now, if its [digest](Pending::digest) is that of what its
    /// user was shown. Returns the items that were not known like that.
    ///
    /// # Errors
    /// It is something else by now, or the record cannot be written.
    pub fn approve(
        &self,
        of: &Fingerprint,
        shown: &str,
        selection: Selection<'_>,
    ) -> anyhow::Result<Pending> {
        let approved = self.edit(of, |record| {
            let Recorded::Readable(mut record) = record else {
                return Err(ItemChanged.into());
            };
            let approved = record.approve(shown, selection)?;
            Ok((*record, approved))
        })?;
        if of.folder().is_some()
            && let Err(error) = self.note_approved(of, &approved)
        {
            tracing::warn!("{error:#}: what was approved waits in other folders");
        }
        Ok(approved)
    }

    /// Records that its user was shown which items of an upstream are gone.
    ///
    /// # Errors
    /// There is no record that can be read, or it cannot be written.
    pub fn take_note_of_gone(&self, of: &Fingerprint) -> anyhow::Result<()> {
        self.edit(of, |record| {
            let Recorded::Readable(mut record) = record else {
                return Err(ItemChanged.into());
            };
            record.take_note_of_gone();
            Ok((*record, ()))
        })
    }

    /// Notes that an upstream has answered.
    fn clear_marks(&self, of: &Fingerprint) {
        self.remember(of);
        self.clear_failed_start(of);
    }

    /// Reads the record of an upstream for its folder alone.
    ///
    /// # Errors
    /// There is a file, and it is none that can be read.
    fn read_file(&self, of: &Fingerprint) -> anyhow::Result<Option<Record>> {
        Self::read_record(&self.file(of))
    }

    fn read_record(file: &Path) -> anyhow::Result<Option<Record>> {
        let shown = visible_path(file);
        if !counts(file) {
            return match file.try_exists() {
                Ok(false) => Ok(None),
                _ => Err(Damaged::NotKept).with_context(|| {
                    format!("`{shown}` does not count, and so nothing of that server is seen")
                }),
            };
        }
        let cannot = || format!("`{shown}` cannot be read");
        let Some(bytes) = read_regular_file(file, MAX_RECORD_BYTES).with_context(cannot)? else {
            return Ok(None);
        };
        let text = String::from_utf8(bytes).with_context(cannot)?;
        Record::parse(&text).map(Some).with_context(|| {
            format!(
                "`{shown}` is damaged, and so nothing of that server counts as seen\n\
                 hint: `dormouse sync` fetches what it offers now, and `dormouse approve` shows it"
            )
        })
    }

    /// Returns the file of an upstream's record.
    #[must_use]
    pub fn file(&self, of: &Fingerprint) -> PathBuf {
        self.folder.join(format!("{}.json", of.file_stem()))
    }
}

/// Checks that nobody but its user can have written a file of the store.
fn counts(file: &Path) -> bool {
    let data = file.ancestors().nth(2).unwrap_or(file);
    ownership::counts(file, data)
}

#[cfg(test)]
mod tests;
