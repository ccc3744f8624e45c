//! Requests of an upstream that have no answer yet.

use std::collections::HashMap;

use tokio::task::AbortHandle;

/// Requests of an upstream that have no answer yet. Each has a number here: an upstream may give two the
/// same id.
#[derive(Default)]
pub(super) struct OpenQuestions {
    next: u64,
    open: HashMap<u64, OpenQuestion>,
}

/// Request of an upstream that has no answer yet.
struct OpenQuestion {
    id: String,
    /// Its method; none where nobody can be asked.
    method: Option<&'static str>,
    asking: AbortHandle,
}

impl OpenQuestions {
    /// Adds a request by the text of its id, for which `ask` begins to ask by its number.
    pub(super) fn add(
        &mut self,
        id: String,
        method: Option<&'static str>,
        ask: impl FnOnce(u64) -> AbortHandle,
    ) {
        let number = self.next;
        self.next += 1;
        let asking = ask(number);
        self.open
            .insert(number, OpenQuestion { id, method, asking });
    }

    /// Removes the request of a number, which has its answer.
    pub(super) fn remove(&mut self, number: u64) {
        self.open.remove(&number);
    }

    /// Ends all requests of an id.
    pub(super) fn cancel(&mut self, id: &str) {
        self.end(|question| question.id == id);
    }

    /// Ends all requests.
    pub(super) fn cancel_all(&mut self) {
        self.end(|_| true);
    }

    /// Returns the method of one that a client is asked.
    pub(super) fn method(&self) -> Option<&'static str> {
        self.open.values().find_map(|question| question.method)
    }

    fn end(&mut self, is_over: impl Fn(&OpenQuestion) -> bool) {
        for (_, question) in self.open.extract_if(|_, question| is_over(question)) {
            question.asking.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    #[tokio::test]
    async fn of_two_with_one_id_none_is_forgotten() {
        let mut questions = OpenQuestions::default();
        let mut tasks = Vec::new();
        for id in ["1", "1", "2"] {
            questions.add(id.to_owned(), Some("roots/list"), |number| {
                let task = tokio::spawn(pending::<()>());
                let asking = task.abort_handle();
                tasks.push((number, task));
                asking
            });
        }
        let (first, answered) = tasks.remove(0);
        questions.remove(first);
        questions.cancel("1");
        let (_, cancelled) = tasks.remove(0);
        assert!(cancelled.await.unwrap_err().is_cancelled());
        assert_eq!(questions.method(), Some("roots/list"));
        questions.cancel_all();
        let (_, last) = tasks.remove(0);
        assert!(last.await.unwrap_err().is_cancelled());
        assert_eq!(questions.method(), None);
        assert!(!answered.is_finished());
    }
}
