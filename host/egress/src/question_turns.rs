//! Turns of questions, of which one is open at a time.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

/// Turns of the questions about one thing: one is open at a time, as long as it may be answered.
#[derive(Debug, Default)]
pub struct QuestionTurns(Mutex<Arc<tokio::sync::Mutex<()>>>);

impl QuestionTurns {
    /// Waits until no other question is open. One that has had nobody's answer for so long gives way: its
    /// client may have given it up. Of those who wait for it one asks then, and the others wait for that.
    pub async fn turn(&self, max_wait: Duration) -> OwnedMutexGuard<()> {
        loop {
            let open = Arc::clone(&self.0.lock());
            let turn = tokio::time::timeout(max_wait, Arc::clone(&open).lock_owned()).await;
            let mut now = self.0.lock();
            let is_same = Arc::ptr_eq(&now, &open);
            match turn {
                Ok(turn) if is_same => return turn,
                Err(_) if is_same => *now = Arc::default(),
                Ok(_) | Err(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn a_question_that_nobody_answers_gives_way_to_one_other() {
        let turns = Arc::new(QuestionTurns::default());
        let lost = turns.turn(LONG).await;
        let waiting = tokio::spawn({
            let turns = Arc::clone(&turns);
            async move { drop(turns.turn(LONG).await) }
        });
        tokio::task::yield_now().await;
        let next = turns.turn(Duration::ZERO).await;
        // Whoever waits for the lost one waits for the other one then.
        drop(lost);
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished(), "the other one is still open");
        drop(next);
        waiting.await.unwrap();
    }
}
