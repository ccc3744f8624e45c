//! Records of upstreams whose program is decided by the folder that they are started in.
//!
//! The same words (`npx server`, `python -m tool`) start what a folder has there. So what one has
//! said in a folder is known of that folder; elsewhere it is known of what was said in no project,
//! of what its user has approved, and of what was the same in two folders.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::value::RawValue;

use super::gated::Gated;
use super::{Pending, PendingItem, Record, Recorded, Store, write};
use crate::config::{Fingerprint, paths};

/// Most records of other folders that one is compared with: the newest.
const MAX_FOLDERS_COMPARED: usize = 32;

impl Store {
    /// The record of an upstream as it counts in its folder: what waits there, and its user has
    /// approved elsewhere, does not wait. Where it was never connected in that folder, what is
    /// known of it anywhere.
    ///
    /// # Errors
    /// There is a file, and it is none that can be read.
    pub fn read(&self, of: &Fingerprint) -> anyhow::Result<Option<Record>> {
        let own = self.read_file(of)?;
        if of.folder().is_none() {
            return Ok(own);
        }
        let anywhere = self.read_file(&of.anywhere());
        match (own, anywhere) {
            (None, anywhere) => anywhere,
            (Some(mut own), anywhere) => {
                // What cannot be read has approved nothing.
                if let Some(anywhere) = anywhere.ok().flatten() {
                    own.settle(&anywhere);
                }
                Ok(Some(own))
            }
        }
    }

    /// The files that what is known of an upstream is in, whether they exist or not.
    #[must_use]
    pub fn files(&self, of: &Fingerprint) -> Vec<PathBuf> {
        let anywhere = of.folder().is_some().then(|| self.file(&of.anywhere()));
        [self.file(of)].into_iter().chain(anywhere).collect()
    }

    /// The record that is kept of an upstream, and of which folder. Where a folder's tells nothing
    /// else than what is known anywhere, it is that one: what becomes of it is so for this folder.
    pub(super) fn kept(&self, of: &Fingerprint, mut record: Record) -> (Fingerprint, Record) {
        let folder = of.folder();
        record.folder = folder.map(|folder| folder.to_string_lossy().into_owned());
        if folder.is_none() || self.file(of).exists() || self.is_forgotten(of) {
            return (of.clone(), record);
        }
        match self.read_file(&of.anywhere()) {
            Ok(Some(anywhere)) if anywhere.tells_the_same(&record) => {
                record.folder = None;
                (of.anywhere(), record)
            }
            _ => (of.clone(), record),
        }
    }

    /// Whether what is known of an upstream is known in the host's folder alone.
    #[must_use]
    pub fn is_known_here_alone(&self, of: &Fingerprint) -> bool {
        of.folder().is_some() && self.file(of).exists() && !self.file(&of.anywhere()).exists()
    }

    /// The folders, other than that of the host, in which something waits for its user; an empty
    /// path stands for those that decide nothing.
    #[must_use]
    pub fn folders_that_wait(&self, of: &Fingerprint) -> Vec<PathBuf> {
        let folders = self.folders_of(of).into_iter();
        let all = folders.map(|folder| of.in_folder(&folder));
        let others = all.chain([of.anywhere()]).filter(|other| other != of);
        let waits = |other: &Fingerprint| {
            let record = self.read(other).ok().flatten();
            record.is_some_and(|record| !record.pending().is_empty())
        };
        let waiting = others.filter(waits);
        waiting
            .map(|other| other.folder().unwrap_or(Path::new("")).to_owned())
            .collect()
    }

    /// The folders of which something is known of an upstream that they decide, newest first.
    pub(super) fn folders_of(&self, of: &Fingerprint) -> Vec<PathBuf> {
        let beginning = of.file_stem_of_folders();
        let files = std::fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten();
        let mut files: Vec<_> = files
            .filter_map(|file| {
                let name = file.file_name().into_string().ok()?;
                let stem = name.strip_suffix(".json")?;
                let is_record = stem.starts_with(&beginning) && !stem.ends_with(".failed");
                let modified = file.metadata().ok()?.modified().ok()?;
                is_record.then(|| (modified, file.path()))
            })
            .collect();
        files.sort_unstable_by(|one, other| other.cmp(one));
        let records = files.iter().map(|(_, file)| Self::read_record(file));
        let records = records.filter_map(|record| record.ok().flatten());
        records.filter_map(|record| record.folder()).collect()
    }

    /// Has what is known of an upstream in its folder be known everywhere, where nothing is so far,
    /// and it is the same in another folder.
    pub(super) fn share_what_is_the_same(&self, of: &Fingerprint) -> anyhow::Result<()> {
        let Some(folder) = of.folder() else {
            return Ok(());
        };
        let file = self.file(&of.anywhere());
        if file.exists() {
            return Ok(());
        }
        let _lock = paths::lock(&self.folder.join("lock"))?;
        let Some(own) = self.read_file(of)?.filter(|_| !file.exists()) else {
            return Ok(());
        };
        let is_apart = |other: &PathBuf| !other.starts_with(folder) && !folder.starts_with(other);
        let others = self.folders_of(of).into_iter().filter(is_apart);
        for other in others.take(MAX_FOLDERS_COMPARED) {
            let other = self.read_file(&of.in_folder(&other))?;
            if let Some(shared) = other.and_then(|other| own.shared_with(&other)) {
                let cannot = || format!("`{}` cannot be written", file.display());
                return write(&file, &shared).with_context(cannot);
            }
        }
        Ok(())
    }

    /// Has what a user has approved in one folder be approved everywhere: they have read it.
    pub(super) fn approve_anywhere(
        &self,
        of: &Fingerprint,
        approved: &Pending,
    ) -> anyhow::Result<()> {
        let anywhere = of.anywhere();
        if of.folder().is_none() || !self.file(&anywhere).exists() {
            return Ok(());
        }
        self.edit(&anywhere, |record| match record {
            Recorded::Readable(mut record) => {
                record.take_approved(approved);
                Ok((*record, ()))
            }
            Recorded::Missing | Recorded::Damaged => anyhow::bail!("nothing of it can be read"),
        })
    }
}

impl Record {
    /// The folder that it is of; none where it is of all.
    fn folder(&self) -> Option<PathBuf> {
        self.folder.as_ref().map(PathBuf::from)
    }

    /// Has nothing wait that another record has approved as it is.
    fn settle(&mut self, anywhere: &Self) {
        let pending = self.pending();
        if pending.is_empty() {
            return;
        }
        let approved = anywhere.approved_by_name();
        for item in pending.iter() {
            let known = approved.get(&(item.kind, item.name.clone()));
            if known.is_some_and(|known| item.kind.same(&item.name, known, &item.is)) {
                self.accept(item);
            }
        }
    }

    /// Takes what its user has approved of the same upstream in a folder, as they have seen it.
    fn take_approved(&mut self, approved: &Pending) {
        for kind in Gated::ALL {
            let items = approved.iter().filter(|item| item.kind == kind);
            let items = items.filter(|item| item.of_others.is_empty());
            let items: BTreeMap<&str, &PendingItem> =
                items.map(|item| (item.name.as_str(), item)).collect();
            let mut missing: BTreeSet<&str> = items.keys().copied().collect();
            kind.replace(&mut self.offered, |name, _| {
                let item = items.get(name).filter(|_| missing.remove(name))?;
                Some(item.is.clone())
            });
            for item in missing.into_iter().filter_map(|name| items.get(name)) {
                kind.add(&mut self.offered, item.is.clone());
            }
            for item in items.into_values() {
                self.accept(item);
            }
        }
    }

    /// Common part of two folders' records, where that is all that a model is told of either.
    fn shared_with(&self, other: &Self) -> Option<Self> {
        let is_settled = |record: &Self| record.pending().is_empty();
        if !is_settled(self) || !is_settled(other) {
            return None;
        }
        let (own, others) = (self.approved_by_name(), other.approved_by_name());
        let is_same = own.len() == others.len()
            && own.iter().all(|(key, object)| {
                let (kind, name) = key;
                let other = others.get(key);
                other.is_some_and(|other| kind.same(name, other, object))
            });
        if !is_same {
            return None;
        }
        let mut shared = self.clone();
        shared.folder = None;
        // Of what is gone, or was offered to others, only one folder has told.
        shared.unseen.clear();
        let resources = other.offered.resources.iter();
        let resources: BTreeSet<&str> = resources.map(|resource| resource.get()).collect();
        let own = &mut shared.offered.resources;
        own.retain(|resource| resources.contains(resource.get()));
        if shared.offered.server_info != other.offered.server_info {
            shared.offered.server_info.clear();
        }
        Some(shared)
    }

    /// Offered items that its user has approved, as they have approved it.
    fn approved_by_name(&self) -> BTreeMap<(Gated, String), Box<RawValue>> {
        let all = Gated::ALL.into_iter().flat_map(|kind| {
            let objects = kind.of(&self.offered).into_iter();
            objects.filter_map(move |(name, object)| {
                let unseen = self.unseen.get(&kind);
                let changed = unseen.and_then(|unseen| unseen.changed.get(&name).cloned());
                let is_new = unseen.is_some_and(|unseen| unseen.added.contains(&name));
                let approved = changed.or((!is_new).then_some(object))?;
                // What cannot be shown, nobody has approved.
                kind.told(&name, &approved)?;
                Some(((kind, name), approved))
            })
        });
        all.collect()
    }
}
