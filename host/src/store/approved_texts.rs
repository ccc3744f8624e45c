//! Texts that a user has approved in one of the folders that decide a program, for all the others:
//! they have read them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dormouse_catalog::read_regular_file;
use dormouse_config::Fingerprint;
use dormouse_files::paths;
use dormouse_files::replace::{Access, replace};
use serde_json::value::RawValue;

use super::by_folder::told_without_folder;
use super::gated::Gated;
use super::{Pending, PendingItem, Store};

/// Most texts that are remembered of one upstream.
const MAX_TEXTS: usize = 10_000;

/// Largest file with the hashes of these, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Hash of an object as a model is told it under the name of an item, but for the name of its
/// folder. None where nobody is told.
fn hash(item: &PendingItem, object: &RawValue, folder: Option<&Path>) -> Option<String> {
    let key: (Gated, String) = (item.kind, item.name.clone());
    let told = told_without_folder(&key, object, folder)?;
    let mut hasher = blake3::Hasher::new();
    for part in [&item.kind.to_string(), &item.name, &told] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    Some(hasher.finalize().to_hex().to_string())
}

impl Store {
    /// The file with the hashes of what was approved in any folder.
    pub(super) fn approved_file(&self, of: &Fingerprint) -> PathBuf {
        let stem = of.anywhere().file_stem();
        self.folder.join(format!("{stem}.approved.json"))
    }

    /// Notes what a user has approved in a folder, and no longer what they have replaced by it.
    pub(super) fn note_approved(&self, of: &Fingerprint, approved: &Pending) -> anyhow::Result<()> {
        let file = self.approved_file(of);
        let _lock = paths::lock(&self.folder.join("lock"))?;
        let mut hashes = read(&file);
        let hash_of = |item: &PendingItem, object: &RawValue| hash(item, object, of.folder());
        // What other kinds of clients are offered stands beside what it is compared with.
        let replaced = approved.iter().filter(|item| item.replaces);
        let replaced = replaced.filter_map(|item| hash_of(item, item.was.as_deref()?));
        let approved = approved.iter().filter_map(|item| hash_of(item, &item.is));
        let approved: Vec<String> = approved.collect();
        let gone: BTreeSet<String> = replaced.chain(approved.iter().cloned()).collect();
        hashes.retain(|known| !gone.contains(known));
        hashes.extend(approved);
        let old = hashes.len().saturating_sub(MAX_TEXTS);
        hashes.drain(..old);
        let text = serde_json::to_string(&hashes)?;
        let cannot = || format!("`{}` cannot be written", file.display());
        replace(&file, text.as_bytes(), Access::Private).with_context(cannot)
    }

    /// Items of these that a user has approved in whatever folder.
    pub(super) fn approved_of(&self, of: &Fingerprint, pending: &Pending) -> Vec<PendingItem> {
        let hashes: BTreeSet<String> = read(&self.approved_file(of)).into_iter().collect();
        let is_approved = |item: &&PendingItem| {
            !hashes.is_empty()
                && hash(item, &item.is, of.folder()).is_some_and(|hash| hashes.contains(&hash))
        };
        pending.iter().filter(is_approved).cloned().collect()
    }
}

/// The hashes in a file, the oldest first. What cannot be read has approved nothing.
fn read(file: &Path) -> Vec<String> {
    let bytes = read_regular_file(file, MAX_BYTES).ok().flatten();
    let hashes = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    hashes.unwrap_or_default()
}
