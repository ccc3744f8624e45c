//! What is hidden in one response, as long as it is read.

use std::sync::Arc;

use url::Url;

use super::{Mask, PluginSecrets};

/// What is hidden in the response to a URL: all that its host was given, also by requests that have
/// come after it.
pub(crate) struct ResponseMask {
    secrets: Arc<PluginSecrets>,
    url: Url,
    /// Number of texts that were looked up when the mask was made.
    looked_up: usize,
}

impl ResponseMask {
    /// Returns the mask of a response, and what follows it; none where its host gets no secret.
    pub(crate) fn new(secrets: &Arc<PluginSecrets>, url: &Url) -> Option<(Mask, Self)> {
        let looked_up = secrets.looked_up();
        let mask = secrets.mask(url)?;
        let this = Self {
            secrets: Arc::clone(secrets),
            url: url.clone(),
            looked_up,
        };
        Some((mask, this))
    }

    /// Returns the mask as it is now, where it may be another one than before.
    pub(super) fn changed(&mut self) -> Option<Mask> {
        let looked_up = self.secrets.looked_up();
        if looked_up == self.looked_up {
            return None;
        }
        self.looked_up = looked_up;
        self.secrets.mask(&self.url)
    }
}
