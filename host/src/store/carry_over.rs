//! Carrying over what is known of an upstream, where its configuration is spelled in another way, or has
//! other values.

use std::path::PathBuf;

use anyhow::Context as _;
use dormouse_config::Fingerprint;
use dormouse_files::regular::read_regular_file;
use dormouse_files::replace::{Access, replace};
use dormouse_text::visible::visible_path;

use super::record_edit::write;
use super::{Store, counts};

/// Largest file with the digits of a launch that is read, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 10;

impl Store {
    /// Notes by which values the upstream of a server has been started last, so that what is known of it
    /// can be carried over to others. Where that cannot be written, it is not.
    pub fn note_values(&self, server: &str, of: &Fingerprint) {
        if self.last_launch(server, of).as_deref() == Some(of.launch()) {
            return;
        }
        let file = self.file_of_values(server, of);
        if let Err(error) = replace(&file, of.launch().as_bytes(), Access::Private) {
            tracing::warn!("`{}` cannot be written: {error:#}", visible_path(&file));
        }
    }

    /// Copies what is known of the upstream that a server had with other values, of variables, headers or
    /// the query of its URL: a token that is replaced makes no new server, whose first offers would count
    /// as approved. Returns false where nothing is copied.
    pub fn carry_over_values(&self, server: &str, to: &Fingerprint) -> bool {
        let last = self.last_launch(server, to);
        let from = last.and_then(|launch| to.with_other_values(&launch));
        let Some(from) = from else {
            return false;
        };
        let copied = self.carry_over(&from.anywhere(), &to.anywhere());
        copied.unwrap_or_else(|error| {
            tracing::warn!("what is known of server `{server}` is not carried over: {error:#}");
            false
        })
    }

    /// Returns the digits of the launch with which the upstream of a server has been started last.
    fn last_launch(&self, server: &str, of: &Fingerprint) -> Option<String> {
        let file = self.file_of_values(server, of);
        if !counts(&file) {
            return None;
        }
        let bytes = read_regular_file(&file, MAX_FILE_BYTES).ok()??;
        String::from_utf8(bytes).ok()
    }

    fn file_of_values(&self, server: &str, of: &Fingerprint) -> PathBuf {
        let stem = of.file_stem_without_values(server);
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
        let file = self.file(to);
        write(&file, &record)
            .with_context(|| format!("`{}` cannot be written", visible_path(&file)))?;
        let is_forgotten = self.is_forgotten(from);
        drop(lock);
        if is_forgotten {
            self.forget(to)?;
        }
        Ok(true)
    }
}
