//! Upstreams whose tools are not listed until they are asked again, though their records are kept.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dormouse_config::Fingerprint;
use dormouse_files::replace::{Access, replace};
use dormouse_text::visible::visible_path;

use super::Store;

impl Store {
    /// Hides all items of an upstream until it is next asked for its offers: in its folder, or in
    /// all where that makes no difference. Its record stays, so that its user need not approve the
    /// same again, and changes since then are noticed. Returns false where nothing is listed of it.
    ///
    /// # Errors
    /// It cannot be written down.
    pub fn forget(&self, of: &Fingerprint) -> anyhow::Result<bool> {
        let is_known = self.files(of).iter().any(|file| file.is_file());
        if self.is_forgotten(of) || !is_known {
            return Ok(false);
        }
        let _lock = self.lock_files()?;
        self.write_mark(of)?;
        Ok(true)
    }

    pub(super) fn write_mark(&self, of: &Fingerprint) -> anyhow::Result<()> {
        let file = self.mark(of);
        replace(&file, b"", Access::Private)
            .with_context(|| format!("`{}` cannot be written", visible_path(&file)))
    }

    /// Checks whether all items of an upstream are hidden until it is asked again.
    #[must_use]
    pub fn is_forgotten(&self, of: &Fingerprint) -> bool {
        let written = |file: &Path| std::fs::metadata(file).ok()?.modified().ok();
        // What was forgotten everywhere, and asked of in this folder since, is known here.
        let is_forgotten_anywhere = || {
            of.folder().is_some() && {
                let forgotten = written(&self.mark(&of.anywhere()));
                forgotten.is_some() && forgotten > written(&self.file(of))
            }
        };
        self.mark(of).exists() || is_forgotten_anywhere()
    }

    /// Removes the mark of an upstream that has been asked again.
    pub(super) fn remember(&self, of: &Fingerprint) {
        let mark = self.mark(of);
        if let Err(error) = std::fs::remove_file(&mark)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!("`{}` cannot be removed: {error}", visible_path(&mark));
        }
    }

    /// Returns the file that marks an upstream as forgotten.
    pub(super) fn mark(&self, of: &Fingerprint) -> PathBuf {
        self.folder.join(format!("{}.forgotten", of.file_stem()))
    }
}
