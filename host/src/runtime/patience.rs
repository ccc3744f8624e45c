//! A deadline that stands still while somebody is asked.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// How long a call may run, less the time in which it waits for the answer of a
/// person or a model: nobody can say how long that takes. Progress puts the end off, up to
/// a total.
#[derive(Clone)]
pub(super) struct Patience(Arc<Shared>);

struct Shared {
    limit: Duration,
    total: Duration,
    clock: Mutex<Clock>,
    changed: Notify,
}

struct Clock {
    /// What is left, as of `since`.
    left: Duration,
    /// What is left of the total, as of `since`.
    total_left: Duration,
    /// Since when it runs; not at all while somebody is asked.
    since: Option<Instant>,
    /// How many are being asked.
    asked: u32,
}

/// Held while somebody is asked.
pub(super) struct Waiting(Arc<Shared>);

impl Patience {
    /// A clock of `limit`, which may be put off until `total` has run, or `limit` where that is
    /// more.
    pub(super) fn new(limit: Duration, total: Duration) -> Self {
        let total = total.max(limit);
        Self(Arc::new(Shared {
            limit,
            total,
            clock: Mutex::new(Clock {
                left: limit,
                total_left: total,
                since: Some(Instant::now()),
                asked: 0,
            }),
            changed: Notify::new(),
        }))
    }

    /// Stops the clock until what it returns is dropped.
    pub(super) fn wait(&self) -> Waiting {
        let mut clock = self.0.clock();
        clock.asked += 1;
        clock.count();
        clock.since = None;
        drop(clock);
        self.0.changed.notify_one();
        Waiting(Arc::clone(&self.0))
    }

    /// Begins the time anew, as far as the total allows.
    pub(super) fn put_off(&self) {
        let mut clock = self.0.clock();
        clock.count();
        clock.left = self.0.limit.min(clock.total_left);
        drop(clock);
        self.0.changed.notify_one();
    }

    /// The limit that has ended the call.
    pub(super) fn exceeded(&self) -> Duration {
        let mut clock = self.0.clock();
        clock.count();
        match clock.total_left.is_zero() {
            true => self.0.total,
            false => self.0.limit,
        }
    }

    /// Whether somebody is being asked.
    fn stands(&self) -> bool {
        self.0.clock().since.is_none()
    }

    /// Ends when the time is over.
    async fn over(&self) {
        loop {
            let end = {
                let clock = self.0.clock();
                clock.since.map(|since| since + clock.left)
            };
            let timer = async {
                match end {
                    Some(end) => tokio::time::sleep_until(end).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = timer => return,
                () = self.0.changed.notified() => {}
            }
        }
    }

    /// Runs something until it ends or the time is over. While it runs and nobody
    /// is asked, what `busy` makes is held.
    pub(super) async fn within<T, B>(
        &self,
        busy: impl Fn() -> B,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let mut work = std::pin::pin!(work);
        let mut over = std::pin::pin!(self.over());
        let mut held = Some(busy());
        std::future::poll_fn(|context| {
            if held.is_none() && !self.stands() {
                held = Some(busy());
            }
            if let std::task::Poll::Ready(result) = work.as_mut().poll(context) {
                return std::task::Poll::Ready(Some(result));
            }
            if self.stands() {
                held = None;
            }
            over.as_mut().poll(context).map(|()| None)
        })
        .await
    }
}

impl Clock {
    /// Takes away what has run since it was last looked at.
    fn count(&mut self) {
        if let Some(since) = &mut self.since {
            let now = Instant::now();
            let spent = now.saturating_duration_since(*since);
            self.left = self.left.saturating_sub(spent);
            self.total_left = self.total_left.saturating_sub(spent);
            *since = now;
        }
    }
}

impl Shared {
    fn clock(&self) -> MutexGuard<'_, Clock> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut clock = self.0.clock();
        clock.asked -= 1;
        if clock.asked == 0 {
            clock.since = Some(Instant::now());
        }
        drop(clock);
        self.0.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Long enough that a machine under load does what comes in between.
    const LIMIT: Duration = Duration::from_millis(500);

    #[tokio::test]
    async fn the_time_of_a_question_does_not_count() {
        let patience = Patience::new(LIMIT, LIMIT);
        let work = async {
            let waiting = patience.wait();
            tokio::time::sleep(LIMIT * 2).await;
            drop(waiting);
            tokio::task::yield_now().await;
            "done"
        };
        assert_eq!(patience.within(|| (), work).await, Some("done"));
    }

    #[tokio::test]
    async fn what_is_left_afterwards_does() {
        let patience = Patience::new(LIMIT, LIMIT);
        let begun = Instant::now();
        let work = async {
            let waiting = patience.wait();
            tokio::time::sleep(LIMIT).await;
            drop(waiting);
            std::future::pending::<()>().await;
        };
        assert_eq!(patience.within(|| (), work).await, None);
        assert!(begun.elapsed() >= LIMIT * 2, "{:?}", begun.elapsed());
    }

    #[tokio::test]
    async fn nothing_is_held_while_somebody_is_asked() {
        let patience = Patience::new(LIMIT, LIMIT);
        let held = Arc::new(());
        let inside = Arc::clone(&held);
        let work = async {
            tokio::task::yield_now().await;
            let before = Arc::strong_count(&held);
            let waiting = patience.wait();
            tokio::time::sleep(LIMIT / 10).await;
            let meanwhile = Arc::strong_count(&held);
            drop(waiting);
            tokio::task::yield_now().await;
            (before, meanwhile, Arc::strong_count(&held))
        };
        let counts = patience.within(|| Arc::clone(&inside), work).await;
        assert_eq!(counts, Some((3, 2, 3)));
    }

    #[tokio::test]
    async fn progress_puts_the_end_off_up_to_a_total() {
        let patience = Patience::new(LIMIT, LIMIT * 4);
        let begun = Instant::now();
        let work = async {
            loop {
                tokio::time::sleep(LIMIT / 5).await;
                patience.put_off();
            }
        };
        let ended: Option<()> = patience.within(|| (), work).await;
        assert_eq!(ended, None);
        assert!(begun.elapsed() >= LIMIT * 4, "{:?}", begun.elapsed());
        assert_eq!(patience.exceeded(), LIMIT * 4);
        let patience = Patience::new(LIMIT, LIMIT * 4);
        assert_eq!(
            patience.within(|| (), std::future::pending::<()>()).await,
            None
        );
        assert_eq!(patience.exceeded(), LIMIT);
    }
}
