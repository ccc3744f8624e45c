//! Questions that an upstream asks before the first call goes out to it. Its results may depend on
//! the answers, such as the roots of its client.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Longest time that the first calls wait for the answers. A client that has no answer yet may have
/// to ask its user. The tests do not wait that long.
const MAX_WAIT: Duration = Duration::from_secs(if cfg!(test) { 2 } else { 5 });

/// Interval at which the end of the wait is checked. No more than this counts between two checks: a
/// call of a stateless client does nothing while its client is asked.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// Time that an upstream has to read its answers. Servers that get to know their roots look at
/// the folders on disk before they use them, and take calls meanwhile.
const READING_TIME: Duration = Duration::from_millis(100);

/// The early questions of one connection.
#[derive(Debug, Default)]
pub(crate) struct EarlyQuestions {
    state: Mutex<EarlyQuestionsState>,
    /// Notified when a question is done.
    done: Notify,
}

#[derive(Debug, Default)]
struct EarlyQuestionsState {
    open: usize,
    /// Time of the last answer.
    answered: Option<Instant>,
    /// Whether calls have gone out, so that no question is early any more.
    is_over: bool,
}

/// Early question, which is open until this is dropped.
#[derive(Debug)]
pub(crate) struct EarlyQuestion {
    questions: Arc<EarlyQuestions>,
    is_answered: bool,
}

impl EarlyQuestions {
    /// Counts a question as open. None where calls have gone out already.
    pub(crate) fn begin(self: &Arc<Self>) -> Option<EarlyQuestion> {
        let mut state = self.state.lock();
        if state.is_over {
            return None;
        }
        state.open += 1;
        Some(EarlyQuestion {
            questions: Arc::clone(self),
            is_answered: false,
        })
    }

    /// Waits until a call may go out. Returns whether that took any time.
    pub(crate) async fn settled(&self) -> bool {
        let mut waited = Duration::ZERO;
        while waited < MAX_WAIT {
            let done = self.done.notified();
            let Some(rest) = self.rest() else {
                break;
            };
            let since = Instant::now();
            tokio::select! {
                () = done => {}
                () = tokio::time::sleep(rest) => {}
            }
            waited += since.elapsed().min(LOOK_INTERVAL);
        }
        self.state.lock().is_over = true;
        !waited.is_zero()
    }

    /// Returns the time to wait before the next check; none where the wait is over.
    fn rest(&self) -> Option<Duration> {
        let state = self.state.lock();
        if state.is_over {
            return None;
        }
        if state.open > 0 {
            return Some(LOOK_INTERVAL);
        }
        let rest = READING_TIME.saturating_sub(state.answered?.elapsed());
        (!rest.is_zero()).then_some(rest)
    }
}

impl EarlyQuestion {
    /// Notes that the upstream has its answer.
    pub(crate) fn answered(&mut self) {
        self.is_answered = true;
    }
}

impl Drop for EarlyQuestion {
    fn drop(&mut self) {
        let mut state = self.questions.state.lock();
        state.open -= 1;
        if self.is_answered {
            state.answered = Some(Instant::now());
        }
        drop(state);
        self.questions.done.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn time(questions: &EarlyQuestions) -> Duration {
        let since = Instant::now();
        questions.settled().await;
        since.elapsed()
    }

    #[tokio::test]
    async fn calls_wait_for_what_was_asked_before_the_first_one() {
        let questions = Arc::new(EarlyQuestions::default());
        assert!(time(&questions).await < LOOK_INTERVAL);
        assert!(questions.begin().is_none());

        let questions = Arc::new(EarlyQuestions::default());
        let mut one = questions.begin().unwrap();
        let refused = questions.begin().unwrap();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(300)).await;
            drop(refused);
            tokio::time::sleep(Duration::from_millis(300)).await;
            one.answered();
        });
        let waited = time(&questions).await;
        assert!(
            waited >= Duration::from_millis(600) + READING_TIME,
            "{waited:?}"
        );
        assert!(waited < MAX_WAIT, "{waited:?}");
    }

    #[tokio::test]
    async fn but_not_for_ever_and_suspended_time_does_not_count() {
        let questions = Arc::new(EarlyQuestions::default());
        let open = questions.begin().unwrap();
        let mut settled = Box::pin(questions.settled());
        assert!(futures::poll!(&mut settled).is_pending());
        // Nobody polls a call that waits for the answers of a stateless client.
        tokio::time::sleep(MAX_WAIT).await;
        assert!(futures::poll!(&mut settled).is_pending());
        let since = Instant::now();
        settled.await;
        let waited = since.elapsed();
        assert!(waited > MAX_WAIT - 3 * LOOK_INTERVAL, "{waited:?}");
        // A second call need not wait again.
        assert!(time(&questions).await < LOOK_INTERVAL);
        drop(open);
    }
}
