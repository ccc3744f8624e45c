//! Texts that a user has approved in one of the folders that decide a program. They count as
//! approved in all others, because the user has read them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dormouse_config::Fingerprint;
use dormouse_files::regular::read_regular_file;
use dormouse_files::replace::{Access, replace};
use dormouse_text::visible::visible_path;
use serde_json::value::RawValue;

use super::record::told_without_folder;
use super::{Pending, PendingItem, Record, Store, counts};

/// Most texts that are remembered of one upstream.
const MAX_TEXTS: usize = 10_000;

/// Largest file with the hashes of these texts, in bytes.
pub(super) const MAX_APPROVED_BYTES: u64 = 1 << 20;

/// Returns the hash of an item's object as models are told it, without the name of its folder. None
/// if models are not told it.
fn hash(item: &PendingItem, object: &RawValue, folder: Option<&Path>) -> Option<String> {
    let told = told_without_folder(item.kind, &item.name, object, folder)?;
    let mut hasher = blake3::Hasher::new();
    for part in [&item.kind.to_string(), &item.name, &told] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    Some(hasher.finalize().to_hex().to_string())
}

impl Store {
    /// Returns the file with the hashes of the texts that were approved in any folder.
    pub(super) fn approved_file(&self, of: &Fingerprint) -> PathBuf {
        let stem = of.anywhere().file_stem();
        self.folder.join(format!("{stem}.approved.json"))
    }

    /// Records the texts that a user has approved in a folder, and removes those that these
    /// replace.
    pub(super) fn note_approved(&self, of: &Fingerprint, approved: &Pending) -> anyhow::Result<()> {
        let file = self.approved_file(of);
        let hash_of = |item: &PendingItem, object: &RawValue| hash(item, object, of.folder());
        // What other kinds of clients are offered stands beside what it is compared with.
        let replaced = approved.iter().filter(|item| item.replaces);
        let replaced = replaced.filter_map(|item| hash_of(item, item.was.as_deref()?));
        let approved = approved.iter().filter_map(|item| hash_of(item, &item.is));
        let approved: Vec<String> = approved.collect();
        let gone: BTreeSet<String> = replaced.chain(approved.iter().cloned()).collect();
        // Hashes take time, for which nobody has to wait.
        let _lock = self.lock_files()?;
        let mut hashes = read(&file);
        hashes.retain(|known| !gone.contains(known));
        hashes.extend(approved);
        let old = hashes.len().saturating_sub(MAX_TEXTS);
        hashes.drain(..old);
        let text = serde_json::to_string(&hashes)?;
        let cannot = || format!("`{}` cannot be written", visible_path(&file));
        replace(&file, text.as_bytes(), Access::Private).with_context(cannot)
    }

    /// Returns the pending items of a record that a user has approved in any folder.
    pub(super) fn approved_of(&self, of: &Fingerprint, record: &Record) -> Vec<PendingItem> {
        let hashes: BTreeSet<String> = read(&self.approved_file(of)).into_iter().collect();
        if hashes.is_empty() {
            return Vec::new();
        }
        let is_approved = |item: &PendingItem| {
            hash(item, &item.is, of.folder()).is_some_and(|hash| hashes.contains(&hash))
        };
        let Pending(pending) = record.pending();
        pending.into_iter().filter(is_approved).collect()
    }
}

/// Reads the hashes in a file, the oldest first. A file that cannot be read has none.
fn read(file: &Path) -> Vec<String> {
    if !counts(file) {
        return Vec::new();
    }
    let bytes = read_regular_file(file, MAX_APPROVED_BYTES).ok().flatten();
    let hashes = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    hashes.unwrap_or_default()
}
