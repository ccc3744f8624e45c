//! Changes of lists that an upstream has told of, and as of which of them the lists are known.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::watch;

use super::needed_lists::NeededLists;
use super::offered::UntoldLists;

/// Shortest time for which changes of lists are gathered before they are fetched.
pub(super) const MIN_GATHER: Duration = Duration::from_millis(100);

/// Time after which a list is answered as it is known, where an upstream has said that it has
/// changed and does not tell how.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(1);

/// Changes of lists that an upstream has told of over one connection.
#[derive(Debug)]
pub(crate) struct ListChanges {
    counts: watch::Sender<ListCounts>,
    /// Whether a wait was in vain since the lists were fetched last.
    is_slow: AtomicBool,
}

/// Numbers of changes, counted from the first one of a connection.
#[derive(Debug, Clone, Copy)]
struct ListCounts {
    /// Changes that the upstream has told of. The connection is the first one, and each time counts
    /// as another that lists have to be fetched again which could not be.
    told: u64,
    /// Changes after which its lists were fetched, or could not be.
    tried: u64,
    /// Changes as of which somebody waits for the lists.
    needed: u64,
    /// Changes after which its tools were fetched and compared with what is known.
    tools: u64,
    /// Changes after which its prompts were.
    prompts: u64,
}

impl ListCounts {
    /// Whether the lists are known as of all changes.
    fn are_known(self, needed: NeededLists) -> bool {
        (!needed.tools || self.tools >= self.told) && (!needed.prompts || self.prompts >= self.told)
    }
}

/// Reason why lists are not known as of all changes that an upstream has told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnknownLists {
    /// It has not told them in time.
    Late,
    /// It has told something else than them.
    Untold,
}

impl Default for ListChanges {
    fn default() -> Self {
        Self {
            counts: watch::Sender::new(ListCounts {
                told: 1,
                tried: 0,
                needed: 0,
                tools: 0,
                prompts: 0,
            }),
            is_slow: AtomicBool::default(),
        }
    }
}

impl ListChanges {
    /// Notes that the upstream says that a list has changed, or that its lists are wanted once more because
    /// what is known of them is what another connection was told.
    pub(crate) fn note(&self) {
        self.counts.send_modify(|counts| counts.told += 1);
    }

    /// Waits for changes after which nobody has tried to fetch the lists yet.
    pub(super) async fn next(&self) {
        let mut counts = self.counts.subscribe();
        // The sender is here.
        let _ = counts.wait_for(|counts| counts.told > counts.tried).await;
    }

    /// Waits until somebody waits for lists that nobody has tried to fetch yet.
    pub(super) async fn needed(&self) {
        let mut counts = self.counts.subscribe();
        // The sender is here.
        let _ = counts.wait_for(|counts| counts.needed > counts.tried).await;
    }

    /// Number of the changes that were told until now.
    pub(super) fn told(&self) -> u64 {
        self.counts.borrow().told
    }

    /// Notes that lists that were fetched after so many changes have been compared with what is
    /// known.
    pub(super) fn compared(&self, told: u64, untold: UntoldLists) {
        self.counts.send_modify(|counts| {
            counts.tools = counts.tools.max(told);
            if !untold.prompts {
                counts.prompts = counts.prompts.max(told);
            }
        });
        self.tried(told);
    }

    /// Notes that the lists were fetched after so many changes, or cannot be.
    pub(super) fn tried(&self, told: u64) {
        self.counts
            .send_modify(|counts| counts.tried = counts.tried.max(told));
        self.is_slow.store(false, Ordering::Relaxed);
    }

    /// Waits until the lists were fetched after all changes that were told until now, for a second
    /// at most. An upstream that takes longer is not waited for again until they were: else it
    /// could delay each list of all servers.
    pub(crate) async fn settled(&self) {
        let told = self.told();
        let mut counts = self.counts.subscribe();
        if self.is_slow.load(Ordering::Relaxed) {
            return;
        }
        let tried = counts.wait_for(|counts| counts.tried >= told);
        if tokio::time::timeout(SETTLE_TIMEOUT, tried).await.is_err() {
            self.is_slow.store(true, Ordering::Relaxed);
        }
    }

    /// Waits until lists are known as of all changes that were told until now, for `patience` at
    /// most from when they may be fetched: for this, changes are not gathered for long. Changes that are told meanwhile are not waited for: an upstream could tell of them
    /// without end. Lists that could not be fetched are fetched once more for this.
    ///
    /// # Errors
    /// They were not told; says why.
    pub(crate) async fn known(
        &self,
        needed: NeededLists,
        patience: Duration,
    ) -> Result<(), UnknownLists> {
        if self.counts.borrow().are_known(needed) {
            return Ok(());
        }
        let mut counts = self.counts.subscribe();
        let mut told = 0;
        self.counts.send_modify(|counts| {
            let has_failed = !counts.are_known(needed) && counts.tried >= counts.told;
            counts.told += u64::from(has_failed);
            told = counts.told;
            counts.needed = told;
        });
        let tried = counts.wait_for(|counts| counts.tried >= told);
        let tried = tokio::time::timeout(MIN_GATHER + patience, tried).await;
        let Ok(Ok(now)) = tried.map(|tried| tried.map(|counts| *counts)) else {
            return Err(UnknownLists::Late);
        };
        match (ListCounts { told, ..now }).are_known(needed) {
            true => Ok(()),
            false => Err(UnknownLists::Untold),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures::FutureExt as _;
    use tokio::time::timeout;

    use super::*;

    const ALL: UntoldLists = UntoldLists {
        prompts: false,
        resources: false,
        templates: false,
    };

    const TOOLS: NeededLists = NeededLists {
        tools: true,
        prompts: false,
    };

    const PROMPTS: NeededLists = NeededLists {
        tools: false,
        prompts: true,
    };

    /// Changes over a connection whose lists were fetched when it was made.
    fn connected() -> Arc<ListChanges> {
        let changes = Arc::new(ListChanges::default());
        changes.compared(changes.told(), ALL);
        changes
    }

    /// Whether they are settled at once.
    async fn are_settled(changes: &ListChanges) -> bool {
        let moment = Duration::from_millis(20);
        timeout(moment, changes.settled()).await.is_ok()
    }

    #[tokio::test]
    async fn lists_are_settled_once_they_were_fetched_after_the_last_change() {
        let changes = connected();
        assert!(are_settled(&changes).await);
        changes.note();
        changes.next().await;
        let first = changes.told();
        assert!(!are_settled(&changes).await);
        // One that is told while they are fetched may not be in them.
        changes.note();
        changes.compared(first, ALL);
        assert!(!are_settled(&changes).await);
        changes.next().await;
        changes.compared(changes.told(), ALL);
        assert!(are_settled(&changes).await);
        let next = timeout(Duration::from_millis(20), changes.next());
        assert!(next.await.is_err());
    }

    #[tokio::test]
    async fn an_upstream_that_does_not_tell_what_has_changed_is_waited_for_once() {
        let changes = connected();
        changes.note();
        changes.settled().await;
        assert!(are_settled(&changes).await);
        changes.tried(changes.told());
        changes.note();
        assert!(!are_settled(&changes).await);
    }

    #[tokio::test]
    async fn lists_are_known_once_they_were_told_after_the_last_change() {
        let changes = connected();
        let known = |needed| {
            let changes = Arc::clone(&changes);
            async move { changes.known(needed, Duration::from_secs(30)).await }.boxed()
        };
        assert_eq!(known(TOOLS).now_or_never(), Some(Ok(())));
        changes.note();
        let mut waiting = known(TOOLS);
        assert!((&mut waiting).now_or_never().is_none());
        // What is told while somebody waits is waited for by those who come later.
        let first = changes.told();
        changes.note();
        changes.compared(first, ALL);
        assert_eq!(waiting.now_or_never(), Some(Ok(())));
        let late = changes.known(TOOLS, Duration::from_millis(20)).await;
        assert_eq!(late, Err(UnknownLists::Late));
        // A fetch that has failed leaves them unknown, and is made once more for who needs them.
        changes.tried(changes.told());
        let failed = changes.told();
        let mut waiting = known(TOOLS);
        assert!((&mut waiting).now_or_never().is_none());
        assert_eq!(changes.told(), failed + 1);
        changes.next().await;
        let mut second = known(TOOLS);
        assert!((&mut second).now_or_never().is_none());
        assert_eq!(changes.told(), failed + 1, "one fetch is for all who wait");
        changes.tried(failed + 1);
        assert_eq!(waiting.await, Err(UnknownLists::Untold));
        assert_eq!(second.await, Err(UnknownLists::Untold));
        let mut waiting = known(TOOLS);
        assert!((&mut waiting).now_or_never().is_none());
        changes.compared(changes.told(), ALL);
        assert_eq!(waiting.await, Ok(()));
    }

    #[tokio::test]
    async fn prompts_that_were_not_told_are_needed_by_nothing_else() {
        let changes = ListChanges::default();
        let untold = UntoldLists {
            prompts: true,
            ..ALL
        };
        changes.compared(changes.told(), untold);
        let patience = Duration::from_secs(30);
        assert_eq!(changes.known(TOOLS, patience).await, Ok(()));
        let mut waiting = Box::pin(changes.known(PROMPTS, patience));
        assert!((&mut waiting).now_or_never().is_none());
        changes.compared(changes.told(), untold);
        assert_eq!(waiting.await, Err(UnknownLists::Untold));
    }
}
