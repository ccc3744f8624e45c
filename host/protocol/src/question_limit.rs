//! Limit of the questions of one server that wait for a person at once.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{AskError, ClientKey};

/// Long questions of one server that are read at once: to show them takes time, and memory besides
/// their own.
const READING: usize = 1;

/// Counts the waiting questions of a server, of each client by itself: questions that one client
/// leaves unanswered keep no other from being asked. Clones count together.
#[derive(Debug, Clone)]
pub struct QuestionLimit {
    max: usize,
    waiting: Arc<Mutex<HashMap<ClientKey, usize>>>,
    reading: Arc<Semaphore>,
}

/// Questions that count as waiting until this is dropped.
#[derive(Debug)]
pub struct WaitingQuestions {
    limit: QuestionLimit,
    client: ClientKey,
    count: usize,
}

impl QuestionLimit {
    /// Lets `max` questions wait for each client.
    #[must_use]
    pub fn new(max: u32) -> Self {
        Self {
            max: max as usize,
            waiting: Arc::default(),
            reading: Arc::new(Semaphore::new(READING)),
        }
    }

    /// Waits until a long question of the server may be read, as long as the returned value is held.
    pub async fn reading(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.reading).acquire_owned().await.ok()
    }

    /// Counts questions to a client as waiting until the returned value is dropped.
    ///
    /// # Errors
    /// Too many questions would wait.
    pub fn take(
        &self,
        server: &str,
        client: ClientKey,
        count: usize,
    ) -> Result<WaitingQuestions, AskError> {
        let fits = self.change(&client, |waiting| {
            let wanted = waiting.saturating_add(count);
            (wanted <= self.max).then(|| *waiting = wanted).is_some()
        });
        if !fits {
            return Err(AskError::Failed(format!(
                "server `{server}` asks too much at once: {} of its questions may wait for an answer of one client\n\
                 hint: `questions` in `[servers.{server}.limits]` says how many",
                self.max
            )));
        }
        Ok(WaitingQuestions {
            limit: self.clone(),
            client,
            count,
        })
    }

    /// Changes the number of questions that wait for a client. A client for which none wait is
    /// forgotten.
    fn change<R>(&self, client: &ClientKey, change: impl FnOnce(&mut usize) -> R) -> R {
        let mut all = self.waiting.lock();
        let waiting = all.entry(client.clone()).or_default();
        let changed = change(waiting);
        if *waiting == 0 {
            all.remove(client);
        }
        changed
    }
}

impl Drop for WaitingQuestions {
    fn drop(&mut self) {
        let less = |waiting: &mut usize| *waiting = waiting.saturating_sub(self.count);
        self.limit.change(&self.client, less);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(name: &str) -> ClientKey {
        ClientKey::Name(name.to_owned())
    }

    #[test]
    fn only_so_many_wait() {
        let limit = QuestionLimit::new(2);
        let one = limit.take("x", client("a"), 1).unwrap();
        let AskError::Failed(why) = limit.clone().take("x", client("a"), 2).unwrap_err() else {
            panic!("another error")
        };
        assert!(
            why.contains("`[servers.x.limits]`") && why.contains(": 2 of"),
            "{why}"
        );
        let _two = limit.take("x", client("a"), 1).unwrap();
        assert!(limit.take("x", client("a"), 1).is_err());
        drop(one);
        assert!(limit.take("x", client("a"), 1).is_ok());
    }

    #[tokio::test]
    async fn one_long_question_of_a_server_is_read_at_a_time() {
        let limit = QuestionLimit::new(2);
        let one = limit.reading().await;
        assert!(one.is_some());
        let same = limit.clone();
        assert!(futures::poll!(std::pin::pin!(same.reading())).is_pending());
        assert!(QuestionLimit::new(2).reading().await.is_some());
        drop(one);
        assert!(limit.reading().await.is_some());
    }

    #[test]
    fn what_waits_for_one_client_keeps_no_other_from_being_asked() {
        let limit = QuestionLimit::new(2);
        let greedy = limit.take("x", client("greedy"), 2).unwrap();
        assert!(limit.take("x", client("greedy"), 1).is_err());
        assert!(limit.take("x", client("other"), 2).is_ok());
        drop(greedy);
        assert!(limit.waiting.lock().is_empty());
    }
}
