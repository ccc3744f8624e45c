//! Texts that one secret has had, where these change.

use std::collections::VecDeque;
use std::sync::Arc;

use dormouse_launch::Secret;
use parking_lot::Mutex;

use super::plugin_secret::ResolvedSecret;

/// Most texts that are hidden: the one in use, and earlier ones, which a host may repeat.
const MAX_KEPT: usize = 64;

/// Texts that one secret has had, the last one last.
#[derive(Default)]
pub(super) struct KnownTexts(Mutex<VecDeque<Arc<ResolvedSecret>>>);

impl KnownTexts {
    /// Returns all of them.
    pub(super) fn all(&self) -> Vec<Arc<ResolvedSecret>> {
        self.0.lock().iter().cloned().collect()
    }

    /// Returns one of these texts, made now where it is not known.
    pub(super) fn find_or_add(
        &self,
        text: Secret,
        make: impl FnOnce(Secret) -> ResolvedSecret,
    ) -> Arc<ResolvedSecret> {
        let mut known = self.0.lock();
        if let Some(found) = known.iter().find(|one| one.text == text) {
            return Arc::clone(found);
        }
        let new = Arc::new(make(text));
        known.push_back(Arc::clone(&new));
        if known.len() > MAX_KEPT {
            known.pop_front();
        }
        new
    }
}
