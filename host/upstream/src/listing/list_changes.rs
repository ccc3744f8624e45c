//! Changes of lists that an upstream has told of, and that were fetched.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::watch;

/// Time after which a list is answered as it is known, where an upstream has said that it has
/// changed and does not tell how.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(1);

/// Changes of lists that an upstream has told of over one connection.
#[derive(Debug, Default)]
pub(crate) struct ListChanges {
    /// Number of changes that the upstream has told of.
    told: watch::Sender<u64>,
    /// Number of changes after which its lists were fetched, or could not be.
    fetched: watch::Sender<u64>,
    /// Whether a wait was in vain since the lists were fetched last.
    is_slow: AtomicBool,
}

impl ListChanges {
    /// Notes that the upstream says that a list has changed.
    pub(crate) fn note(&self) {
        self.told.send_modify(|told| *told += 1);
    }

    /// Waits for changes that were not fetched yet. Returns the number of those that were told.
    pub(super) async fn next(&self) -> u64 {
        let fetched = *self.fetched.borrow();
        let mut told = self.told.subscribe();
        // The sender is here.
        let told = told.wait_for(|told| *told > fetched).await;
        told.map_or(fetched, |told| *told)
    }

    /// Number of the changes that were told until now.
    pub(super) fn told(&self) -> u64 {
        *self.told.borrow()
    }

    /// Notes that the lists were fetched after so many changes, or cannot be.
    pub(super) fn fetched(&self, told: u64) {
        self.fetched.send_replace(told);
        self.is_slow.store(false, Ordering::Relaxed);
    }

    /// Waits until the lists were fetched after all changes that were told until now, for a second
    /// at most. An upstream that takes longer is not waited for again until they were: else it
    /// could delay each list of all servers.
    pub(crate) async fn settled(&self) {
        let told = self.told();
        let mut fetched = self.fetched.subscribe();
        if self.is_slow.load(Ordering::Relaxed) {
            return;
        }
        let fetched = fetched.wait_for(|fetched| *fetched >= told);
        if tokio::time::timeout(SETTLE_TIMEOUT, fetched).await.is_err() {
            self.is_slow.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    /// Whether they are settled at once.
    async fn are_settled(changes: &ListChanges) -> bool {
        let moment = Duration::from_millis(20);
        timeout(moment, changes.settled()).await.is_ok()
    }

    #[tokio::test]
    async fn lists_are_settled_once_they_were_fetched_after_the_last_change() {
        let changes = ListChanges::default();
        assert!(are_settled(&changes).await);
        changes.note();
        assert_eq!(changes.next().await, 1);
        assert!(!are_settled(&changes).await);
        // One that is told while they are fetched may not be in them.
        changes.note();
        changes.fetched(1);
        assert!(!are_settled(&changes).await);
        assert_eq!(changes.next().await, 2);
        changes.fetched(2);
        assert!(are_settled(&changes).await);
        let next = timeout(Duration::from_millis(20), changes.next());
        assert!(next.await.is_err());
    }

    #[tokio::test]
    async fn an_upstream_that_does_not_tell_what_has_changed_is_waited_for_once() {
        let changes = ListChanges::default();
        changes.note();
        changes.settled().await;
        assert!(are_settled(&changes).await);
        changes.fetched(1);
        changes.note();
        assert!(!are_settled(&changes).await);
    }
}
