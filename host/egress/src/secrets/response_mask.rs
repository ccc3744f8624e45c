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
    /// None as long as its host gets no secret.
    mask: Option<Mask>,
}

impl ResponseMask {
    /// Returns the texts of the response to a URL.
    pub(crate) fn new(secrets: &Arc<PluginSecrets>, url: &Url) -> Self {
        let looked_up = secrets.looked_up();
        Self {
            mask: mask(secrets, url),
            secrets: Arc::clone(secrets),
            url: url.clone(),
            looked_up,
        }
    }

    /// Returns the texts that were known when it was made or updated; none where its host got no secret
    /// by then.
    pub(crate) fn mask(&self) -> Option<&Mask> {
        self.mask.as_ref()
    }

    /// Takes the texts that have come since. Returns whether there may be any.
    pub(super) fn update(&mut self) -> bool {
        let looked_up = self.secrets.looked_up();
        let is_changed = looked_up != self.looked_up;
        if is_changed {
            self.looked_up = looked_up;
            self.mask = mask(&self.secrets, &self.url);
        }
        is_changed
    }
}

fn mask(secrets: &PluginSecrets, url: &Url) -> Option<Mask> {
    secrets.goes_any_to(url).then(|| secrets.mask(url))
}
