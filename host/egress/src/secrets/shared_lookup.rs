//! The lookup of a secret's text, which all requests share that need it.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;

use super::error::SecretFault;

/// Outcome of a lookup.
pub(super) type LookedUp<T> = Result<T, SecretFault>;

/// A lookup that runs, or has ended with that outcome.
type Joined<T> = watch::Receiver<Option<LookedUp<T>>>;

/// Lookup of a secret's text, which may take a person's time. It is a task of its own, and ends by itself
/// or with the host: a plugin gives requests up as soon as it likes, and each would begin another one.
pub(super) struct SharedLookup<T> {
    /// The one that runs, or whose outcome is kept.
    last: Arc<Mutex<Option<Joined<T>>>>,
    is_kept: fn(&LookedUp<T>) -> bool,
}

impl<T: Clone + Send + Sync + 'static> SharedLookup<T> {
    /// Returns one that was not begun yet, of outcomes that are kept where `is_kept` says so.
    pub(super) fn keeping(is_kept: fn(&LookedUp<T>) -> bool) -> Self {
        Self {
            last: Arc::default(),
            is_kept,
        }
    }

    /// Returns the outcome that was kept, or that of the lookup which runs, or is begun now.
    pub(super) async fn outcome<F>(&self, begin: impl FnOnce() -> F) -> LookedUp<T>
    where
        F: Future<Output = LookedUp<T>> + Send + 'static,
    {
        let mut joined = self.joined(begin);
        let outcome = match joined.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone(),
            Err(_) => None,
        };
        outcome.unwrap_or_else(|| {
            Err(SecretFault {
                why: "has no value: its lookup was broken off".to_owned(),
                hint: "try again later".into(),
                is_absent: false,
            })
        })
    }

    /// Returns the text that was kept.
    pub(super) fn kept(&self) -> Option<T> {
        let last = self.last.lock();
        let outcome = last.as_ref()?.borrow();
        outcome.as_ref()?.as_ref().ok().cloned()
    }

    /// Forgets a failure that was kept.
    pub(super) fn forget_failure(&self) {
        let mut last = self.last.lock();
        last.take_if(|last| matches!(&*last.borrow(), Some(Err(_))));
    }

    /// Forgets the outcome that was kept.
    pub(super) fn forget(&self) {
        let mut last = self.last.lock();
        last.take_if(|last| last.borrow().is_some());
    }

    fn joined<F>(&self, begin: impl FnOnce() -> F) -> Joined<T>
    where
        F: Future<Output = LookedUp<T>> + Send + 'static,
    {
        let mut last = self.last.lock();
        if let Some(last) = &*last
            // Or its task is gone. An outcome is there before its task is.
            && (last.has_changed().is_ok() || last.borrow().is_some())
        {
            return last.clone();
        }
        let (ended, joined) = watch::channel(None);
        *last = Some(joined.clone());
        let (lookup, is_kept) = (begin(), self.is_kept);
        let last = Arc::clone(&self.last);
        tokio::spawn(async move {
            let outcome = lookup.await;
            if !is_kept(&outcome) {
                *last.lock() = None;
            }
            ended.send_replace(Some(outcome));
        });
        joined
    }
}

#[cfg(test)]
mod tests;
