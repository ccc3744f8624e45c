//! Changes of lists that an upstream has told of, and that were fetched.

use tokio::sync::watch;

/// Changes of lists that an upstream has told of over one connection.
#[derive(Debug, Default)]
pub(super) struct ListChanges {
    /// Number of changes that it has told of.
    told: watch::Sender<u64>,
    /// Number of those after which its lists were fetched, or could not be.
    fetched: watch::Sender<u64>,
}

impl ListChanges {
    /// Notes that it says that a list has changed.
    pub(super) fn note(&self) {
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
    }

    /// Waits until the lists were fetched after all changes that were told until now.
    pub(super) async fn settled(&self) {
        let told = self.told();
        let mut fetched = self.fetched.subscribe();
        let _ = fetched.wait_for(|fetched| *fetched >= told).await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    const MOMENT: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn lists_are_settled_once_they_were_fetched_after_the_last_change() {
        let changes = ListChanges::default();
        changes.settled().await;
        assert!(timeout(MOMENT, changes.next()).await.is_err());
        changes.note();
        assert_eq!(changes.next().await, 1);
        assert!(timeout(MOMENT, changes.settled()).await.is_err());
        // One that is told while they are fetched may not be in them.
        changes.note();
        changes.fetched(1);
        assert!(timeout(MOMENT, changes.settled()).await.is_err());
        assert_eq!(changes.next().await, 2);
        changes.fetched(2);
        changes.settled().await;
        assert!(timeout(MOMENT, changes.next()).await.is_err());
    }
}
