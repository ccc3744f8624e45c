//! Texts that a user has approved in one of the folders that decide a program, for all the others:
//! they have read them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dormouse_catalog::read_regular_file;

use super::by_folder::told_without_folder;
use super::gated::Gated;
use super::{Pending, PendingItem, Store};
use crate::config::{Fingerprint, paths};
use crate::replace::{Access, replace};

/// Most texts that are remembered of one upstream.
const MAX_TEXTS: usize = 10_000;

/// Largest file with the hashes of these, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Hash of an item as a model is told it, but for the name of its folder. None where nobody is told.
fn hash(item: &PendingItem, folder: Option<&Path>) -> Option<String> {
    let key: (Gated, String) = (item.kind, item.name.clone());
    let told = told_without_folder(&key, &item.is, folder)?;
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

    /// Notes what a user has approved in a folder.
    pub(super) fn note_approved(&self, of: &Fingerprint, approved: &Pending) -> anyhow::Result<()> {
        let file = self.approved_file(of);
        let _lock = paths::lock(&self.folder.join("lock"))?;
        let mut hashes = read(&file);
        for hash in approved.iter().filter_map(|item| hash(item, of.folder())) {
            hashes.retain(|known| *known != hash);
            hashes.push(hash);
        }
        let old = hashes.len().saturating_sub(MAX_TEXTS);
        hashes.drain(..old);
        let text = serde_json::to_string(&hashes)?;
        let cannot = || format!("`{}` cannot be written", file.display());
        replace(&file, text.as_bytes(), Access::Private).with_context(cannot)
    }

    /// Those of these items that a user has approved in whatever folder.
    pub(super) fn approved_of(&self, of: &Fingerprint, pending: &Pending) -> Vec<PendingItem> {
        let hashes: BTreeSet<String> = read(&self.approved_file(of)).into_iter().collect();
        let is_approved = |item: &&PendingItem| {
            !hashes.is_empty() && hash(item, of.folder()).is_some_and(|hash| hashes.contains(&hash))
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
