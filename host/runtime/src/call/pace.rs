//! Time, permit and waits of a call, after which its condition is checked.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use dormouse_protocol::AskError;
use tokio::sync::OwnedSemaphorePermit;

use super::{CallPermit, CheckedCondition, PausableDeadline};
use crate::error::Cause;
use crate::memory::MemoryWait;

/// Time, permit and waits of a call. Whatever its guest waits for that others decide about or have (a
/// person, a permit, memory), it waits for here, or [checks](Self::check) its condition afterwards: its
/// user may have written other rules meanwhile.
#[derive(Clone)]
pub(crate) struct Pace {
    pub patience: PausableDeadline,
    pub turn: Arc<CallPermit>,
    /// Time for which it has waited for memory, which the error at a deadline may report.
    pub waits_for_memory: Arc<MemoryWait>,
    /// Condition on which it goes on after it has waited.
    pub condition: CheckedCondition,
}

impl Pace {
    /// Waits for the answer of a person, without its permit, while its deadline stands.
    ///
    /// # Errors
    /// Too many calls of this server wait for answers already, or it does not go on; its guest ends
    /// then.
    pub(crate) async fn wait<T>(&self, answer: impl Future<Output = T>) -> Result<T, AskError> {
        let answer = self.answered(answer).await?;
        let checked = self.check().await;
        checked.map_err(|cause| AskError::Failed(cause.to_string()))?;
        Ok(answer)
    }

    /// Waits for the upstream, without its permit where others may have that. The condition is checked
    /// where it has to wait for a permit then.
    ///
    /// # Errors
    /// It does not go on; its guest ends then.
    pub(crate) async fn lend<T>(&self, work: impl Future<Output = T>) -> Result<T, Cause> {
        let (result, has_waited) = self.turn.lend(work).await;
        if has_waited {
            self.check().await?;
        }
        Ok(result)
    }

    /// Waits for what others may have first, and checks the condition where that has taken any time.
    ///
    /// # Errors
    /// It does not go on.
    pub(crate) async fn waited<T>(&self, work: impl Future<Output = T>) -> Result<T, Cause> {
        let (result, has_waited) = at_once_or_later(work).await;
        if has_waited {
            self.check().await?;
        }
        Ok(result)
    }

    /// Waits until the call's result may be [checked](CallPermit::checking), and checks the condition
    /// where that has taken any time.
    ///
    /// # Errors
    /// It does not go on.
    pub(crate) async fn checking(&self) -> Result<Option<OwnedSemaphorePermit>, Cause> {
        let take = || self.turn.checking();
        let (place, has_waited) = at_once_or_later(take()).await;
        match has_waited {
            true => self.checked_with(place, take).await,
            false => Ok(place),
        }
    }

    /// Checks the condition on which it goes on.
    ///
    /// # Errors
    /// It does not go on; its guest ends then.
    pub(crate) async fn check(&self) -> Result<(), Cause> {
        self.checked_with((), || std::future::ready(())).await
    }

    /// Checks the condition with a place that others wait for, too. Where its user is asked, its deadline
    /// stands, and place and permit are another's; the condition, which remembers the answer, is checked
    /// again once it has them back.
    async fn checked_with<P, F>(&self, mut place: P, take: impl Fn() -> F) -> Result<P, Cause>
    where
        F: Future<Output = P>,
    {
        loop {
            let mut checking = self.condition.check();
            if let Poll::Ready(checked) = futures::poll!(&mut checking) {
                return checked.map(|()| place).map_err(Cause::Refused);
            }
            drop(place);
            let checked = self.answered(checking).await;
            // Too many calls wait, so that nobody can be asked.
            let checked = checked.map_err(|error| self.condition.fail(error.to_string()));
            checked?.map_err(Cause::Refused)?;
            place = take().await;
        }
    }

    async fn answered<T>(&self, answer: impl Future<Output = T>) -> Result<T, AskError> {
        let waiting = self.patience.wait();
        let answer = self.turn.wait(answer).await;
        drop(waiting);
        // The poll of this call makes epochs advance and the deadline count again, but only at its
        // start.
        tokio::task::yield_now().await;
        answer
    }
}

/// Waits for `work`. Returns its result, and whether that was not there at once.
pub(super) async fn at_once_or_later<T>(work: impl Future<Output = T>) -> (T, bool) {
    let mut work = pin!(work);
    match futures::poll!(&mut work) {
        Poll::Ready(result) => (result, false),
        Poll::Pending => (work.await, true),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::time::Duration;

    use futures::FutureExt as _;
    use parking_lot::Mutex;
    use tokio::sync::oneshot;

    use super::*;
    use crate::call::Turns;

    /// Condition that holds as long as the test wants it, and the number of its checks.
    #[derive(Clone)]
    pub(crate) struct TestedCondition {
        pub(crate) holds: Arc<AtomicBool>,
        checks: Arc<AtomicUsize>,
        /// Answer of a user that the first check waits for, if any.
        pub(crate) answer: Arc<Mutex<Option<oneshot::Receiver<()>>>>,
    }

    impl TestedCondition {
        pub(crate) fn new() -> Self {
            Self {
                holds: Arc::new(AtomicBool::new(true)),
                checks: Arc::default(),
                answer: Arc::default(),
            }
        }

        pub(crate) fn checked(&self) -> CheckedCondition {
            let tested = self.clone();
            CheckedCondition::new(Some(Arc::new(move || {
                let (tested, answer) = (tested.clone(), tested.answer.lock().take());
                async move {
                    tested.checks.fetch_add(1, Ordering::Relaxed);
                    if let Some(answer) = answer {
                        answer.await.unwrap();
                    }
                    let holds = tested.holds.load(Ordering::Relaxed);
                    holds.then_some(()).ok_or_else(|| "denied".to_owned())
                }
                .boxed()
            })))
        }

        /// Returns the pace of a call that has a turn.
        pub(crate) async fn pace(&self, turns: &Turns) -> Pace {
            let limit = Duration::from_secs(60);
            Pace {
                patience: PausableDeadline::new(limit, limit),
                turn: turns.take().await,
                waits_for_memory: Arc::default(),
                condition: self.checked(),
            }
        }
    }

    #[tokio::test]
    async fn who_is_answered_and_waits_for_its_turn_goes_on_where_it_still_may() {
        for may in [true, false] {
            let (turns, condition) = (Turns::new(1), TestedCondition::new());
            let pace = condition.pace(&turns).await;
            let (answer, answered) = oneshot::channel();
            let mut waiting = pin!(pace.wait(answered));
            assert!(futures::poll!(&mut waiting).is_pending());
            let other = turns.take().await;
            answer.send(()).unwrap();
            assert!(futures::poll!(&mut waiting).is_pending());
            condition.holds.store(may, Ordering::Relaxed);
            drop(other);
            assert_eq!(waiting.await.is_ok(), may);
            // However that is told, the guest ends by it.
            assert_eq!(pace.condition.has_held().is_ok(), may);
        }
    }

    #[tokio::test]
    async fn a_turn_that_was_lent_is_checked_for_where_it_is_waited_for() {
        let (turns, condition) = (Turns::new(1), TestedCondition::new());
        let pace = condition.pace(&turns).await;
        condition.holds.store(false, Ordering::Relaxed);
        assert!(pace.lend(tokio::task::yield_now()).await.is_ok());
        assert_eq!(condition.checks.load(Ordering::Relaxed), 0);
        let (work, worked) = oneshot::channel();
        let mut lent = pin!(pace.lend(worked));
        assert!(futures::poll!(&mut lent).is_pending());
        let other = turns.take().await;
        work.send(()).unwrap();
        assert!(futures::poll!(&mut lent).is_pending());
        drop(other);
        assert_eq!(lent.await.err(), Some(Cause::Refused("denied".to_owned())));
    }

    #[tokio::test]
    async fn nobody_waits_while_the_user_of_a_call_is_asked_and_the_answer_is_checked_again() {
        for may in [true, false] {
            let (turns, condition) = (Turns::new(1), TestedCondition::new());
            let pace = condition.pace(&turns).await;
            let (answer, answered) = oneshot::channel();
            *condition.answer.lock() = Some(answered);
            let mut checking = pin!(pace.check());
            assert!(futures::poll!(&mut checking).is_pending());
            let other = turns.take().await;
            answer.send(()).unwrap();
            assert!(futures::poll!(&mut checking).is_pending());
            condition.holds.store(may, Ordering::Relaxed);
            drop(other);
            assert_eq!(checking.await.is_ok(), may);
            assert_eq!(condition.checks.load(Ordering::Relaxed), 2);
        }
    }

    #[tokio::test]
    async fn a_result_that_waits_to_be_checked_is_given_out_where_its_call_still_may() {
        for may in [true, false] {
            let (turns, condition) = (Turns::new(2), TestedCondition::new());
            let pace = condition.pace(&turns).await;
            let other = turns.checking().await;
            let mut waiting = pin!(pace.checking());
            assert!(futures::poll!(&mut waiting).is_pending());
            condition.holds.store(may, Ordering::Relaxed);
            drop(other);
            assert_eq!(waiting.await.is_ok(), may);
        }
    }
}
