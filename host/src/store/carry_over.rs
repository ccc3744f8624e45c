//! Carrying over what is known of an upstream, where its configuration is spelled in another way.

use anyhow::Context as _;
use dormouse_config::Fingerprint;
use dormouse_text::visible::visible_path;

use super::Store;
use super::record_edit::write;

impl Store {
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
