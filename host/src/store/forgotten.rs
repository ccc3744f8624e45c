//! Upstreams whose tools are not listed until they are asked again, though what their user has
//! seen of them is still known.

use std::path::PathBuf;

use anyhow::Context as _;

use super::Store;
use crate::config::{Fingerprint, paths};
use crate::replace::{Access, replace};

impl Store {
    /// Has nothing of an upstream listed until it is asked what it offers the next time. Its
    /// record stays, for what its user has seen and approved of it is not to be approved again,
    /// and what it has changed meanwhile is to be noticed. False where nothing is listed of it.
    ///
    /// # Errors
    /// It cannot be written down.
    pub fn forget(&self, of: &Fingerprint) -> anyhow::Result<bool> {
        if self.is_forgotten(of) || !self.file(of).is_file() {
            return Ok(false);
        }
        let _lock = paths::lock(&self.folder.join("lock"))?;
        let file = self.mark(of);
        replace(&file, b"", Access::Private)
            .with_context(|| format!("`{}` cannot be written", file.display()))?;
        Ok(true)
    }

    /// Whether nothing of an upstream is listed until it is asked again.
    #[must_use]
    pub fn is_forgotten(&self, of: &Fingerprint) -> bool {
        self.mark(of).exists()
    }

    /// Notes that an upstream has been asked again.
    pub(super) fn remember(&self, of: &Fingerprint) {
        let mark = self.mark(of);
        if let Err(error) = std::fs::remove_file(&mark)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!("`{}` cannot be removed: {error}", mark.display());
        }
    }

    fn mark(&self, of: &Fingerprint) -> PathBuf {
        self.folder.join(format!("{}.forgotten", of.as_str()))
    }
}
