//! Texts that are hidden in one response, as long as it is read.

use std::sync::Arc;

use url::Url;

use super::{Mask, PluginSecrets};

/// Texts that are hidden in the response to a URL: all that its host was given, also by requests that
/// have come after it.
pub(crate) struct ResponseMask {
    secrets: Arc<PluginSecrets>,
    url: Url,
    /// Number of texts that were looked up when the mask was made.
    looked_up: usize,
    mask: Mask,
}

impl ResponseMask {
    /// Returns the texts of the response to a URL; none where its host gets no secret.
    pub(crate) fn new(secrets: &Arc<PluginSecrets>, url: &Url) -> Option<Self> {
        let looked_up = secrets.looked_up();
        secrets.goes_any_to(url).then(|| Self {
            mask: secrets.mask(url),
            secrets: Arc::clone(secrets),
            url: url.clone(),
            looked_up,
        })
    }

    /// Returns the texts that were known when it was made or updated.
    pub(crate) fn mask(&self) -> &Mask {
        &self.mask
    }

    /// Takes the texts that have come since. Returns whether there may be any.
    pub(super) fn update(&mut self) -> bool {
        let looked_up = self.secrets.looked_up();
        let is_changed = looked_up != self.looked_up;
        if is_changed {
            self.looked_up = looked_up;
            self.mask = self.secrets.mask(&self.url);
        }
        is_changed
    }
}
