//! Questions to a client that it has not answered yet.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use dormouse_protocol::{Answer, AskError, Question};
use parking_lot::Mutex;
use rmcp::model::RequestId;
use tokio::sync::oneshot;

use super::client_connection::{ClientConnection, Disconnected, Notification};
use crate::mcp::messages::error_object::ErrorObject;

/// Outcome of a question: the text of its result, or the client's error.
pub(in crate::mcp) type QuestionOutcome = Result<String, ErrorObject>;

/// Returns the outcome that a client's answer has.
pub(in crate::mcp) fn outcome_of(outcome: Result<&str, &str>) -> QuestionOutcome {
    outcome.map(str::to_owned).map_err(|error| {
        serde_json::from_str(error)
            .unwrap_or_else(|_| ErrorObject::internal_error("its error is not one of JSON-RPC"))
    })
}

/// Questions to a client that it has not answered yet.
#[derive(Default)]
pub(in crate::mcp) struct UnansweredQuestions {
    waiting: Mutex<HashMap<RequestId, oneshot::Sender<QuestionOutcome>>>,
    /// Id of the next question.
    next: AtomicI64,
}

impl UnansweredQuestions {
    /// Sends a question under an id of its own and waits for the answer. A client whose answer is
    /// not waited for any more is told so over `connection`.
    ///
    /// # Errors
    /// The client refuses it, or has gone, or it could not be sent.
    pub(in crate::mcp) async fn ask<F, E>(
        self: &Arc<Self>,
        question: &Question,
        connection: Arc<dyn ClientConnection>,
        send: impl FnOnce(&RequestId) -> F,
    ) -> Result<Answer, AskError>
    where
        F: Future<Output = Result<(), E>>,
        E: fmt::Display,
    {
        let id = RequestId::Number(self.next.fetch_add(1, Ordering::Relaxed));
        let (waiting, outcome) = oneshot::channel();
        self.waiting.lock().insert(id.clone(), waiting);
        let sent = send(&id);
        let mut sent_question = SentQuestion {
            questions: Arc::clone(self),
            connection,
            id: Some(id),
        };
        if let Err(error) = sent.await {
            sent_question.forget();
            return Err(AskError::Failed(error.to_string()));
        }
        let outcome = outcome.await;
        sent_question.forget();
        let gone = |_| AskError::Failed(Disconnected.to_string());
        let text = outcome.map_err(gone)?.map_err(|error| {
            AskError::Failed(format!(
                "the client refuses `{}`: {}",
                question.method(),
                error.message
            ))
        })?;
        Answer::read(text).map_err(AskError::Failed)
    }

    /// Passes on the client's answer to a question.
    pub(in crate::mcp) fn answered(&self, id: &RequestId, outcome: QuestionOutcome) {
        let waiting = self.waiting.lock().remove(id);
        // Nobody may wait for it any more.
        let _ = waiting.map(|waiting| waiting.send(outcome));
    }

    /// Ends all questions: their client has gone.
    pub(in crate::mcp) fn end(&self) {
        self.waiting.lock().clear();
    }
}

/// Question that was sent. Dropped before it is answered, it is forgotten, and its client is told
/// that its answer is not wanted any more.
struct SentQuestion {
    questions: Arc<UnansweredQuestions>,
    connection: Arc<dyn ClientConnection>,
    /// Its id, until it is answered.
    id: Option<RequestId>,
}

impl SentQuestion {
    /// Forgets the question. Returns its id, if it was not forgotten before.
    fn forget(&mut self) -> Option<RequestId> {
        let id = self.id.take()?;
        self.questions.waiting.lock().remove(&id);
        Some(id)
    }
}

impl Drop for SentQuestion {
    fn drop(&mut self) {
        let Some(id) = self.forget() else {
            return;
        };
        let connection = Arc::clone(&self.connection);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let reason = "nobody waits for the answer any more";
                // A client that has gone needs no telling.
                let _ = connection
                    .notify(Notification::cancelled(&id, reason))
                    .await;
            });
        }
    }
}
