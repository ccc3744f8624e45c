//! Carrying over what is known of an upstream, where its configuration is spelled in another way, or has
//! other secrets.

use std::path::PathBuf;

use anyhow::Context as _;
use dormouse_config::Fingerprint;
use dormouse_files::regular::read_regular_file;
use dormouse_files::replace::{Access, replace};
use dormouse_text::visible::visible_path;

use super::approved_texts::MAX_APPROVED_BYTES;
use super::record_edit::write;
use super::{Store, counts};

/// Largest file with the digits of a launch that is read, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 10;

impl Store {
    /// Notes with which secrets the upstream of a server has been started last, so that what is known of
    /// it can be carried over to others. Where that cannot be written, it is not.
    pub fn note_secrets(&self, server: &str, of: &Fingerprint) {
        if self.last_launch(server, of).as_deref() == Some(of.launch()) {
            return;
        }
        let file = self.file_of_launch(server, of);
        if let Err(error) = replace(&file, of.launch().as_bytes(), Access::Private) {
            tracing::warn!("`{}` cannot be written: {error:#}", visible_path(&file));
        }
    }

    /// Copies what is known of the upstream that a server had with other secrets, where nothing is known
    /// of it with these, in any folder: a token that is replaced makes no new server, whose first offers
    /// would count as approved. Returns false where nothing is copied.
    pub fn carry_over_secrets(&self, server: &str, to: &Fingerprint) -> bool {
        let last = self.last_launch(server, to);
        let last = last.filter(|launch| launch != to.launch());
        let from = last.and_then(|launch| to.with_other_secrets(&launch));
        let Some(from) = from.filter(|_| !self.has_records(&to.anywhere())) else {
            return false;
        };
        let copied = self.carry_over_all(&from.anywhere(), &to.anywhere());
        let is_copied = copied.unwrap_or_else(|error| {
            tracing::warn!("what is known of server `{server}` is not carried over: {error:#}");
            false
        });
        // What its user decides from now on is known of these secrets.
        if is_copied {
            self.note_secrets(server, to);
        }
        is_copied
    }

    fn carry_over_all(&self, from: &Fingerprint, to: &Fingerprint) -> anyhow::Result<bool> {
        let [approved, own] = [from, to].map(|of| self.approved_file(of));
        let lock = self.lock_files()?;
        if counts(&approved)
            && !own.exists()
            && let Some(bytes) = read_regular_file(&approved, MAX_APPROVED_BYTES)?
        {
            replace(&own, &bytes, Access::Private)?;
        }
        drop(lock);
        self.carry_over(from, to)
    }

    /// Returns the digits of the launch with which the upstream of a server has been started last.
    fn last_launch(&self, server: &str, of: &Fingerprint) -> Option<String> {
        let file = self.file_of_launch(server, of);
        if !counts(&file) {
            return None;
        }
        let bytes = read_regular_file(&file, MAX_FILE_BYTES).ok()??;
        String::from_utf8(bytes).ok()
    }

    fn file_of_launch(&self, server: &str, of: &Fingerprint) -> PathBuf {
        let stem = of.file_stem_without_secrets(server);
        self.folder.join(format!("{stem}.launch"))
    }

    /// Copies the record of an upstream for the same one under another spelling of its
    /// configuration, unless that has a record which is as new. Returns false where nothing is
    /// copied.
    ///
    /// # Errors
    /// The record cannot be read, or the copy cannot be written.
    pub fn carry_over(&self, from: &Fingerprint, to: &Fingerprint) -> anyhow::Result<bool> {
        let mut is_copied = self.carry_over_in(from, to)?;
        for folder in self.folders_of(from) {
            let [from, to] = [from, to].map(|of| of.in_folder(&folder));
            is_copied |= self.carry_over_in(&from, &to)?;
        }
        Ok(is_copied)
    }

    fn carry_over_in(&self, from: &Fingerprint, to: &Fingerprint) -> anyhow::Result<bool> {
        let written = |of: &Fingerprint| {
            let metadata = std::fs::metadata(self.file(of)).ok()?;
            metadata.modified().ok()
        };
        if from == to || written(from).is_none() {
            return Ok(false);
        }
        let lock = self.lock_files()?;
        if written(to) >= written(from) {
            return Ok(false);
        }
        let Some(record) = self.read_file(from)? else {
            return Ok(false);
        };
        // Before it could be listed.
        if self.is_forgotten(from) {
            self.write_mark(to)?;
        }
        let file = self.file(to);
        write(&file, &record)
            .with_context(|| format!("`{}` cannot be written", visible_path(&file)))?;
        drop(lock);
        Ok(true)
    }
}
