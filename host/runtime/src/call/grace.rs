//! Time in which a cancelled call may end by itself. One whose server is gone, or may no longer do what
//! it could, has none.

use std::time::Duration;

use futures::future::BoxFuture;
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// Time for which a cancelled call may go on: long enough for a guest that checks now and then to
/// clean up, short enough that nobody minds a guest that does not.
pub const GRACE: Duration = Duration::from_millis(500);

/// A running guest, which is told when nobody waits for it any more, and only then dropped.
pub(crate) struct Graceful<T: Send + 'static> {
    work: Option<BoxFuture<'static, T>>,
    cancel: CancellationToken,
    /// Cancelled when the work may not go on at all.
    revoked: CancellationToken,
    /// Time at which it is dropped, once it was cancelled.
    end: Option<Instant>,
}

impl<T: Send + 'static> Graceful<T> {
    /// Wraps the work that `cancel` cancels, and that `revoked` ends without another poll.
    pub(crate) fn new(
        work: BoxFuture<'static, T>,
        cancel: CancellationToken,
        revoked: CancellationToken,
    ) -> Self {
        Self {
            work: Some(work),
            cancel,
            revoked,
            end: None,
        }
    }

    /// Waits for the result; none if it was cancelled, however it has ended then.
    pub(crate) async fn ended(mut self) -> Option<T> {
        let work = self.work.as_mut()?;
        tokio::select! {
            // Nothing runs after what it has was taken away. Else most calls end without that anybody
            // cancels them.
            biased;
            () = self.revoked.cancelled() => {
                self.work = None;
                return None;
            }
            result = &mut *work => {
                self.work = None;
                return Some(result);
            }
            () = self.cancel.cancelled() => {}
        }
        let end = Instant::now() + GRACE;
        self.end = Some(end);
        tokio::select! {
            biased;
            () = self.revoked.cancelled() => {}
            _ = timeout_at(end, work) => {}
        }
        self.work = None;
        None
    }
}

impl<T: Send + 'static> Drop for Graceful<T> {
    /// Cancels the work, and lets it run for its time although nobody waits for it.
    fn drop(&mut self) {
        let Some(work) = self.work.take() else {
            return;
        };
        self.cancel.cancel();
        let revoked = self.revoked.clone();
        if revoked.is_cancelled() {
            return;
        }
        let end = self.end.unwrap_or_else(|| Instant::now() + GRACE);
        // Without a runtime there is nothing left that could run it.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                tokio::select! {
                    biased;
                    () = revoked.cancelled() => {}
                    _ = timeout_at(end, work) => {}
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use futures::FutureExt as _;

    use super::*;

    /// Returns work that ends `takes` after it is cancelled, and a flag that is set then.
    fn tidy(
        cancel: &CancellationToken,
        takes: Duration,
    ) -> (BoxFuture<'static, ()>, Arc<AtomicBool>) {
        let done = Arc::new(AtomicBool::new(false));
        let (cancel, told) = (cancel.clone(), Arc::clone(&done));
        let work = async move {
            cancel.cancelled().await;
            tokio::time::sleep(takes).await;
            told.store(true, Ordering::Relaxed);
        };
        (work.boxed(), done)
    }

    #[tokio::test]
    async fn what_is_cancelled_may_end_by_itself_but_not_for_long() {
        for (takes, ends) in [(GRACE / 2, true), (GRACE * 2, false)] {
            let cancel = CancellationToken::new();
            let (work, done) = tidy(&cancel, takes);
            cancel.cancel();
            let begun = Instant::now();
            assert!(
                Graceful::new(work, cancel, CancellationToken::new())
                    .ended()
                    .await
                    .is_none()
            );
            assert_eq!(done.load(Ordering::Relaxed), ends);
            assert!(begun.elapsed() < GRACE * 2, "{:?}", begun.elapsed());
        }
    }

    #[tokio::test]
    async fn what_is_left_alone_is_cancelled_and_may_end_by_itself() {
        for (takes, ends) in [(GRACE / 2, true), (GRACE * 2, false)] {
            let cancel = CancellationToken::new();
            let (work, done) = tidy(&cancel, takes);
            let mut waiting = Graceful::new(work, cancel.clone(), CancellationToken::new())
                .ended()
                .boxed();
            assert!(futures::poll!(&mut waiting).is_pending());
            drop(waiting);
            assert!(cancel.is_cancelled());
            tokio::time::sleep(GRACE * 3).await;
            assert_eq!(done.load(Ordering::Relaxed), ends);
        }
    }

    /// A caller that cancels and then drops the work gives it that time only once.
    #[tokio::test]
    async fn the_grace_is_given_once() {
        let cancel = CancellationToken::new();
        let (work, done) = tidy(&cancel, GRACE * 3 / 2);
        cancel.cancel();
        let mut waiting = Graceful::new(work, cancel, CancellationToken::new())
            .ended()
            .boxed();
        assert!(futures::poll!(&mut waiting).is_pending());
        tokio::time::sleep(GRACE * 9 / 10).await;
        assert!(futures::poll!(&mut waiting).is_pending());
        drop(waiting);
        tokio::time::sleep(GRACE * 3).await;
        assert!(!done.load(Ordering::Relaxed));
    }

    /// Also one that waits for an answer, and is given up afterwards.
    #[tokio::test]
    async fn what_is_revoked_is_not_run_again() {
        for is_dropped in [false, true] {
            let [cancel, revoked] = [(); 2].map(|()| CancellationToken::new());
            let (work, done) = tidy(&cancel, Duration::ZERO);
            let mut waiting = Graceful::new(work, cancel.clone(), revoked.clone())
                .ended()
                .boxed();
            assert!(futures::poll!(&mut waiting).is_pending());
            revoked.cancel();
            match is_dropped {
                true => drop(waiting),
                false => {
                    cancel.cancel();
                    assert!(waiting.await.is_none());
                }
            }
            tokio::time::sleep(GRACE).await;
            assert!(!done.load(Ordering::Relaxed), "{is_dropped}");
        }
    }
}
