//! A deadline that stands still while the guest waits for an answer.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep, sleep};

/// Time for which a call may run, less the time in which it waits for the answer of a person or a
/// model: nobody can say how long that takes. Progress restarts the time, up to a total.
#[derive(Clone)]
pub(crate) struct PausableDeadline(Arc<SharedDeadline>);

struct SharedDeadline {
    limit: Duration,
    total: Duration,
    clock: Mutex<Clock>,
    changed: Notify,
}

struct Clock {
    /// Time left, as of `since`.
    left: Duration,
    /// Time left of the total, as of `since`.
    total_left: Duration,
    /// Time from which the clock runs; none while it stands.
    since: Option<Instant>,
    /// Number of open questions.
    asked: u32,
    /// Number of the guest's waits in the host for functions that may ask a question.
    waits: u32,
}

/// Held while a question is open, or the guest waits.
pub(crate) struct Pause {
    shared: Arc<SharedDeadline>,
    is_question: bool,
    is_guest: bool,
}

/// Time of one poll of a call beyond which others come first. A guest that computes is stopped much
/// sooner; work of the host for it in one go is not.
const LONG_POLL: Duration = Duration::from_millis(20);

/// Time of a poll from which on a call counts as one that computes.
const BUSY_POLL: Duration = Duration::from_millis(1);

/// Longest rest of a call that has taken a processor for long.
const MAX_REST: Duration = Duration::from_secs(30);

/// Number of computing calls of all servers.
static BUSY: AtomicU32 = AtomicU32::new(0);

/// Counts a call as long as it computes.
#[derive(Default)]
struct BusyCall {
    is_counted: bool,
}

impl BusyCall {
    /// Records the time of a poll. Returns the time for which the call rests then: that of the
    /// poll, times the number of other computing calls, so that all calls that do the same take one
    /// processor together.
    fn polled(&mut self, time: Duration) -> Option<Duration> {
        self.count(time >= BUSY_POLL);
        let others = BUSY.load(Ordering::Relaxed).saturating_sub(1);
        (time > LONG_POLL && others > 0).then(|| time.saturating_mul(others).min(MAX_REST))
    }

    fn count(&mut self, is_busy: bool) {
        match (self.is_counted, is_busy) {
            (false, true) => BUSY.fetch_add(1, Ordering::Relaxed),
            (true, false) => BUSY.fetch_sub(1, Ordering::Relaxed),
            _ => return,
        };
        self.is_counted = is_busy;
    }
}

impl Drop for BusyCall {
    fn drop(&mut self) {
        self.count(false);
    }
}

impl PausableDeadline {
    /// Returns a clock of `limit`, which may be restarted until `total` has run, or `limit` where
    /// that is more.
    pub(crate) fn new(limit: Duration, total: Duration) -> Self {
        let total = total.max(limit);
        Self(Arc::new(SharedDeadline {
            limit,
            total,
            clock: Mutex::new(Clock {
                left: limit,
                total_left: total,
                since: Some(Instant::now()),
                asked: 0,
                waits: 0,
            }),
            changed: Notify::new(),
        }))
    }

    /// Stops the clock until the returned value is dropped: the guest waits for an answer.
    pub(crate) fn wait(&self) -> Pause {
        self.waiting(true, true)
    }

    /// Opens a question. The clock stops only while the guest [waits](Self::guest_waits), too: a
    /// question that goes on after that does not stop it.
    pub(crate) fn question(&self) -> Pause {
        self.waiting(true, false)
    }

    /// Begins a wait of the guest in the host for a function that may ask a question.
    pub(crate) fn guest_waits(&self) -> Pause {
        self.waiting(false, true)
    }

    fn waiting(&self, is_question: bool, is_guest: bool) -> Pause {
        let mut clock = self.0.clock.lock();
        clock.asked += u32::from(is_question);
        clock.waits += u32::from(is_guest);
        clock.settle();
        drop(clock);
        self.0.changed.notify_one();
        Pause {
            shared: Arc::clone(&self.0),
            is_question,
            is_guest,
        }
    }

    /// Restarts the time, as far as the total allows.
    pub(crate) fn put_off(&self) {
        let mut clock = self.0.clock.lock();
        clock.count();
        clock.left = self.0.limit.min(clock.total_left);
        drop(clock);
        self.0.changed.notify_one();
    }

    /// Returns the limit that has ended the call.
    pub(crate) fn exceeded(&self) -> Duration {
        let mut clock = self.0.clock.lock();
        clock.count();
        match clock.total_left.is_zero() {
            true => self.0.total,
            false => self.0.limit,
        }
    }

    /// Checks whether the clock stands.
    fn stands(&self) -> bool {
        self.0.clock.lock().since.is_none()
    }

    /// Ends when the time is over.
    async fn over(&self) {
        loop {
            let end = {
                let clock = self.0.clock.lock();
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

    /// Runs `work` until it ends or the time is over. The value that `busy` makes is held while
    /// `work` is polled, whatever it waits for: it may resume by itself then. It is held between
    /// polls, too, but not while the clock stands.
    pub(crate) async fn within<T, B>(
        &self,
        busy: impl Fn() -> B,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let mut computing = BusyCall::default();
        let mut work = std::pin::pin!(work);
        let mut over = std::pin::pin!(self.over());
        let mut held = None;
        let mut rest: Option<Pin<Box<Sleep>>> = None;
        std::future::poll_fn(|context| {
            let rests = rest
                .as_mut()
                .is_some_and(|rest| rest.as_mut().poll(context).is_pending());
            if !rests {
                held.get_or_insert_with(&busy);
                let begun = Instant::now();
                if let Poll::Ready(result) = work.as_mut().poll(context) {
                    return Poll::Ready(Some(result));
                }
                let rests = computing.polled(begun.elapsed());
                rest = rests.map(|rest| Box::pin(sleep(rest)));
                if let Some(rest) = &mut rest
                    && rest.as_mut().poll(context).is_ready()
                {
                    context.waker().wake_by_ref();
                }
                if self.stands() {
                    held = None;
                }
            }
            over.as_mut().poll(context).map(|()| None)
        })
        .await
    }
}

impl Clock {
    /// Starts or stops the clock according to the counts.
    fn settle(&mut self) {
        match self.asked > 0 && self.waits > 0 {
            true => {
                self.count();
                self.since = None;
            }
            false => self.since = self.since.or_else(|| Some(Instant::now())),
        }
    }

    /// Subtracts the time that has passed since the last look.
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

impl Drop for Pause {
    fn drop(&mut self) {
        let mut clock = self.shared.clock.lock();
        clock.asked -= u32::from(self.is_question);
        clock.waits -= u32::from(self.is_guest);
        clock.settle();
        drop(clock);
        self.shared.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Long enough for a machine under load to do the steps in between.
    const LIMIT: Duration = Duration::from_millis(500);

    #[tokio::test]
    async fn the_time_of_a_question_does_not_count() {
        let patience = PausableDeadline::new(LIMIT, LIMIT);
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
        let patience = PausableDeadline::new(LIMIT, LIMIT);
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
        let patience = PausableDeadline::new(LIMIT, LIMIT);
        let held = Arc::new(());
        let inside = Arc::clone(&held);
        let work = async {
            tokio::time::sleep(LIMIT / 5).await;
            let waiting = patience.wait();
            tokio::time::sleep(LIMIT).await;
            drop(waiting);
            // It may compute for long from here on.
            Arc::strong_count(&held)
        };
        let outside = async {
            let before = Arc::strong_count(&held);
            tokio::time::sleep(LIMIT / 2).await;
            (before, Arc::strong_count(&held))
        };
        let work = patience.within(|| Arc::clone(&inside), work);
        let counts = tokio::join!(work, outside);
        assert_eq!(counts, (Some(3), (3, 2)));
    }

    /// A question that the guest does not wait for any more does not stop the clock.
    #[tokio::test]
    async fn the_time_of_who_does_not_wait_for_the_answer_counts() {
        let patience = PausableDeadline::new(LIMIT, LIMIT);
        let question = patience.question();
        let work = async {
            let waiting = patience.guest_waits();
            tokio::time::sleep(LIMIT * 2).await;
            drop(waiting);
            std::future::pending::<()>().await;
        };
        let begun = Instant::now();
        assert_eq!(patience.within(|| (), work).await, None);
        assert!(begun.elapsed() >= LIMIT * 3, "{:?}", begun.elapsed());
        drop(question);
    }

    /// A call that blocks a worker of the runtime for long gives others their time.
    #[tokio::test]
    async fn who_takes_long_at_once_rests_while_others_run() {
        let polls = |time: Duration, at_most: u32, counted: Arc<AtomicU32>| async move {
            for _ in 0..at_most {
                std::thread::sleep(time);
                counted.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
            }
        };
        let [long, short] = [0; 2].map(|_| PausableDeadline::new(LIMIT * 20, LIMIT * 20));
        let counted = Arc::new(AtomicU32::new(0));
        let short = short.within(|| (), polls(BUSY_POLL * 2, u32::MAX, counted.clone()));
        tokio::select! {
            _ = long.within(|| (), polls(LONG_POLL * 2, 5, Arc::default())) => {}
            _ = short => {}
        }
        // In turns, each would have had five.
        let counted = counted.load(Ordering::Relaxed);
        assert!(counted >= 20, "{counted}");
    }

    #[tokio::test]
    async fn progress_puts_the_end_off_up_to_a_total() {
        let patience = PausableDeadline::new(LIMIT, LIMIT * 4);
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
        let patience = PausableDeadline::new(LIMIT, LIMIT * 4);
        assert_eq!(
            patience.within(|| (), std::future::pending::<()>()).await,
            None
        );
        assert_eq!(patience.exceeded(), LIMIT);
    }
}
