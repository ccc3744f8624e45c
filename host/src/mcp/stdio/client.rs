//! Client at the other end of stdio: what is sent to it, what it has been asked, and its requests that
//! have no answer yet.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use dormouse_protocol::{Answer, AskError, Question};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use rmcp::model::RequestId;
use tokio::io::AsyncWrite;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::backlog::{Backlog, CountedOutput};
use super::batch::Batches;
use super::output::StdioOutput;
use crate::mcp::client::client_connection::{ClientConnection, Disconnected, Notification};
use crate::mcp::client::client_log;
use crate::mcp::client::unanswered_questions::UnansweredQuestions;
use crate::mcp::messages::error_object::ErrorObject;
use crate::mcp::messages::outgoing_message::OutgoingMessage;

/// Most answers to texts that are no messages that may wait to be written.
const REFUSALS: usize = 64;

/// Client at the other end of stdio.
pub(super) struct StdioClient<W> {
    me: Weak<Self>,
    output: StdioOutput<CountedOutput<W>>,
    /// Messages that were sent and are not written yet.
    pub(super) backlog: Arc<Backlog>,
    /// Requests that have no answer yet.
    pub(super) in_flight: InFlightRequests,
    /// Requests that came together in batches.
    pub(super) batches: Batches,
    /// Questions that the client has not answered yet.
    pub(super) questions: Arc<UnansweredQuestions>,
    /// Lines that are on their way out.
    writing: TaskTracker,
    /// Places for answers to invalid texts that wait to be written.
    refusals: Arc<Semaphore>,
    /// Cancelled when the first answer about tools has gone out.
    ready: CancellationToken,
    /// Cancelled when nothing can be sent any more.
    pub(super) gone: CancellationToken,
}

impl<W: AsyncWrite + Send + Unpin + 'static> StdioClient<W> {
    pub(super) fn new(output: W, ready: CancellationToken) -> Arc<Self> {
        let backlog = Arc::<Backlog>::default();
        Arc::new_cyclic(|me| Self {
            me: me.clone(),
            output: StdioOutput::new(CountedOutput::new(output, Arc::clone(&backlog))),
            backlog,
            in_flight: InFlightRequests::default(),
            batches: Batches::default(),
            questions: Arc::default(),
            writing: TaskTracker::new(),
            refusals: Arc::new(Semaphore::new(REFUSALS)),
            ready,
            gone: CancellationToken::new(),
        })
    }

    /// Sends the answer to a request, unless the client has cancelled that: another one may have its
    /// id by now.
    pub(super) async fn answer(
        &self,
        id: &RequestId,
        cancel: &CancellationToken,
        answered: Result<Answer, ErrorObject>,
    ) {
        let _writing = self.writing.token();
        if cancel.is_cancelled() || !self.in_flight.end(id) {
            return;
        }
        let in_batch = self.batches.has(id);
        let mut message = OutgoingMessage::answer(id, answered);
        if self.backlog.has_no_room_for(message.len()) {
            message = OutgoingMessage::answer(id, Err(unread()));
            client_log::warn(
                "long results are not sent, because the client does not read those that are there",
            );
        }
        tracing::trace!(%id, bytes = message.len(), "a request is answered");
        match in_batch {
            false => self.write(message).await,
            true => {
                if let Some(all) = self.batches.ended(id, Some(message.into_text())) {
                    self.write(all.into()).await;
                }
            }
        }
    }

    /// Notes that the client has got the first answer about what servers have.
    pub(super) fn is_ready(&self) {
        self.ready.cancel();
    }

    async fn write(&self, message: OutgoingMessage) {
        let _waiting = self.backlog.add(message.len());
        self.put(message).await;
    }

    /// Writes a message that is counted already.
    async fn put(&self, message: OutgoingMessage) {
        if let Err(error) = self.output.write(message).await {
            tracing::debug!("an answer could not be sent: {error}");
            self.gone.cancel();
        }
    }

    /// Sends a message, all of it also where nobody waits for that any more: half a line would be
    /// taken for the beginning of the next.
    async fn send(&self, message: OutgoingMessage) -> Result<(), Disconnected> {
        let me = self.me.upgrade().ok_or(Disconnected)?;
        let waiting = self.backlog.add(message.len());
        let sent = tokio::spawn(async move {
            let _held = (me.writing.token(), waiting);
            me.output.write(message).await
        });
        match sent.await {
            Ok(Ok(())) => Ok(()),
            _ => Err(Disconnected),
        }
    }

    /// Answers an invalid text.
    pub(super) fn refuse(&self, id: Option<&RequestId>, error: &ErrorObject) {
        self.say(error.to_message(id));
    }

    /// Writes a text that answers no request of its own.
    pub(super) fn say(&self, text: Vec<u8>) {
        // Whoever sends nonsense and does not read is told of some of it.
        let Ok(place) = self.refusals.clone().try_acquire_owned() else {
            return;
        };
        let Some(me) = self.me.upgrade() else {
            return;
        };
        let waiting = self.backlog.add(text.len());
        tokio::spawn(async move {
            let _held = (place, waiting, me.writing.token());
            me.put(text.into()).await;
        });
    }

    /// Cancels a request of the client's, which gets no answer.
    pub(super) fn cancel(&self, id: &RequestId) {
        self.in_flight.cancel(id);
        if let Some(answers) = self.batches.ended(id, None) {
            self.say(answers);
        }
    }

    /// Waits until all requests are answered, and all that was sent is written.
    pub(super) async fn settled(&self) {
        self.in_flight.all_ended().await;
        self.writing.close();
        self.writing.wait().await;
    }

    /// Ends the output, and all questions.
    pub(super) async fn close(&self) {
        self.questions.end();
        if let Err(error) = self.output.close().await {
            tracing::debug!("the output could not be closed: {error}");
        }
    }
}

/// Returns the error that replaces a long result while too many wait to be read.
fn unread() -> ErrorObject {
    let why = "too many long results wait to be read by this client\n\
               hint: read those that are there, and ask again";
    ErrorObject::internal_error(why)
}

impl<W: AsyncWrite + Send + Unpin + 'static> ClientConnection for StdioClient<W> {
    fn notify(&self, notification: Notification) -> BoxFuture<'_, Result<usize, Disconnected>> {
        let message = OutgoingMessage::notification(notification);
        let bytes = message.len();
        let sent = self.send(message);
        async move { sent.await.map(|()| bytes) }.boxed()
    }

    fn request<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, AskError>> {
        async move {
            let gone = || AskError::Failed(Disconnected.to_string());
            let me = self.me.upgrade().ok_or_else(gone)?;
            let send = |id: &RequestId| {
                let params = question.to_text();
                self.send(OutgoingMessage::request(id, question.method(), params))
            };
            self.questions.ask(question, me, send).await
        }
        .boxed()
    }
}

/// Requests of one client that have no answer yet, by their ids.
#[derive(Default)]
pub(super) struct InFlightRequests {
    requests: Mutex<HashMap<RequestId, CancellationToken>>,
    ended: Notify,
}

impl InFlightRequests {
    /// Adds a request. Returns what cancels it; none where another request with its id has no answer
    /// yet: the client could not tell which of the two an answer is for.
    pub(super) fn begin(&self, id: &RequestId) -> Option<CancellationToken> {
        let mut requests = self.requests.lock();
        if requests.contains_key(id) {
            return None;
        }
        let cancel = CancellationToken::new();
        requests.insert(id.clone(), cancel.clone());
        Some(cancel)
    }

    /// Removes a request that is answered. Returns false where it was cancelled: then its client wants
    /// no answer.
    pub(super) fn end(&self, id: &RequestId) -> bool {
        let ended = self.requests.lock().remove(id).is_some();
        self.ended.notify_one();
        ended
    }

    /// Cancels a request, which gets no answer.
    pub(super) fn cancel(&self, id: &RequestId) {
        let cancelled = self.requests.lock().remove(id);
        if let Some(cancel) = cancelled {
            cancel.cancel();
        }
        self.ended.notify_one();
    }

    /// Waits until all requests have an answer, or are cancelled.
    pub(super) async fn all_ended(&self) {
        while self.len() > 0 {
            self.ended.notified().await;
        }
    }

    /// Returns the number of requests that have no answer yet.
    pub(super) fn len(&self) -> usize {
        self.requests.lock().len()
    }
}
