//! Records of upstreams whose program is decided by the folder that they are started in.
//!
//! The same command (`npx server`, `python -m tool`) starts a program of its folder. So an
//! upstream's offers in a folder are recorded for that folder; elsewhere the upstream is known by
//! its offers outside of projects, and by what its user has approved. Its first offers in another
//! folder are approved as far as they were in one before; the rest waits.

use std::path::{Path, PathBuf};

use dormouse_config::Fingerprint;

use super::record::KnownElsewhere;
use super::{Record, Store};

/// Most records of other folders that one is compared with, the newest ones. With more of them,
/// items in none of these may be known all the same.
const MAX_RECORDS_COMPARED: usize = 32;

/// Most folders that are searched for pending items, the newest ones.
const MAX_FOLDERS_LOOKED_AT: usize = 32;

impl Store {
    /// Reads the record of an upstream as it is valid in its folder: items there that its user has
    /// approved elsewhere are not pending. If it was never connected in that folder, its record for
    /// all folders is returned.
    ///
    /// # Errors
    /// There is a file, and it is none that can be read.
    pub fn read(&self, of: &Fingerprint) -> anyhow::Result<Option<Record>> {
        let own = self.read_file(of)?;
        let anywhere = of.folder().map(|_| self.read_file(&of.anywhere()));
        let mut record = match (own, anywhere) {
            (None, None) => return Ok(None),
            (None, Some(anywhere)) => match anywhere? {
                Some(anywhere) => anywhere,
                None => return Ok(None),
            },
            (Some(mut own), anywhere) => {
                // What cannot be read has approved nothing.
                if let Some(Ok(Some(anywhere))) = anywhere {
                    own.settle(&anywhere);
                }
                own
            }
        };
        for item in self.approved_of(of, &record) {
            record.accept(&item);
        }
        Ok(Some(record))
    }

    /// Returns the files with the knowledge of an upstream, whether they exist or not.
    #[must_use]
    pub fn files(&self, of: &Fingerprint) -> Vec<PathBuf> {
        let anywhere = of.folder().is_some().then(|| self.file(&of.anywhere()));
        let approved = self.approved_file(of);
        [self.file(of)]
            .into_iter()
            .chain(anywhere)
            .chain([approved])
            .collect()
    }

    /// Returns the record to write for an upstream, and its fingerprint. If a folder's record is
    /// the same as that for all folders, it is the latter, so that its later changes count for
    /// this folder, too.
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

    /// Checks whether an upstream is known in the host's folder alone.
    #[must_use]
    pub fn is_known_here_alone(&self, of: &Fingerprint) -> bool {
        of.folder().is_some() && self.file(of).exists() && !self.file(&of.anywhere()).exists()
    }

    /// Returns the folders, other than that of the host, in which items are pending; an empty path
    /// stands for those that decide nothing. Of very many folders only the newest are searched.
    #[must_use]
    pub fn folders_that_wait(&self, of: &Fingerprint) -> Vec<PathBuf> {
        let folders = self.folders_of(of).take(MAX_FOLDERS_LOOKED_AT);
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

    /// Whether there is any record of an upstream, in whichever folder.
    pub(super) fn has_records(&self, of: &Fingerprint) -> bool {
        self.file(&of.anywhere()).exists() || !self.files_by_folder(of).is_empty()
    }

    /// Returns the folders with a record of an upstream that they decide, newest first. The record
    /// of each is read when the iterator gets there.
    pub(super) fn folders_of(&self, of: &Fingerprint) -> impl Iterator<Item = PathBuf> {
        let files = self.files_by_folder(of).into_iter();
        let records = files.filter_map(|file| Self::read_record(&file).ok().flatten());
        records.filter_map(|record| record.folder())
    }

    /// Returns the files with the records of an upstream in the folders that decide it, newest
    /// first.
    fn files_by_folder(&self, of: &Fingerprint) -> Vec<PathBuf> {
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
        files.into_iter().map(|(_, file)| file).collect()
    }

    /// Returns the knowledge of an upstream from other places where it was started than its folder:
    /// an item that differs from those counts as new here. None where its user knows it from
    /// nowhere.
    pub(super) fn known_elsewhere(&self, of: &Fingerprint) -> Option<KnownElsewhere> {
        let mut files: Vec<PathBuf> = match of.without_project() {
            // What an older version has known of a project's server.
            Some(older) => vec![self.file(&older)],
            None => {
                let anywhere = of.folder().map(|_| self.file(&of.anywhere()));
                let folders = self.files_by_folder(of);
                anywhere.into_iter().chain(folders).collect()
            }
        };
        let own = self.file(of);
        files.retain(|file| *file != own && file.exists());
        let is_partial = files.len() > MAX_RECORDS_COMPARED;
        let mut known = KnownElsewhere::new(of.folder(), is_partial);
        for file in files.iter().take(MAX_RECORDS_COMPARED) {
            let Ok(Some(record)) = Self::read_record(file) else {
                known.miss();
                continue;
            };
            known.add(&record);
        }
        (!files.is_empty()).then_some(known)
    }
}
