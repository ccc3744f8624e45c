//! A request of a session, from its admission to its answer.

use std::sync::Arc;
use std::time::Duration;

use dormouse_protocol::{Answer, AskError, Question};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use rmcp::model::RequestId;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::reader::StreamEventReader;
use super::routes::{Route, UnansweredRequest};
use super::session::HttpSession;
use crate::mcp::client::client_connection::{ClientConnection, Disconnected, Notification};
use crate::mcp::http::answers::written::WrittenMessage;
use crate::mcp::messages::message_room::KEPT_TIMES;

/// A request that is the only one of its id. Dropped, it is forgotten.
pub(in super::super) struct ClaimedRequestId {
    session: Arc<HttpSession>,
    request: RequestId,
    asked: UnansweredRequest,
}

impl ClaimedRequestId {
    pub(super) fn new(
        session: Arc<HttpSession>,
        request: RequestId,
        asked: UnansweredRequest,
    ) -> Self {
        Self {
            session,
            request,
            asked,
        }
    }

    /// Cancelled when the client wants no answer any more.
    pub(in super::super) fn cancel(&self) -> &CancellationToken {
        &self.asked.cancel
    }

    /// Returns the connection to the client for what is sent before the answer. The first message
    /// gives the request a stream.
    pub(in super::super) fn connection(&self) -> SessionConnection {
        SessionConnection {
            session: Arc::clone(&self.session),
            request: Some((self.request.clone(), self.asked.number)),
        }
    }

    /// Returns when the request has got a stream, or after that time.
    pub(in super::super) async fn streamed(&self, at_most: Duration) {
        let streamed = self.asked.streamed.notified();
        let _ = tokio::time::timeout(at_most, streamed).await;
    }

    /// Checks whether the request has a stream. Then its answer goes out on that.
    pub(in super::super) fn has_stream(&self) -> bool {
        let state = self.session.state.lock();
        state.routes.has_stream(&self.request, self.asked.number)
    }

    /// Returns a reader of the request's stream, which it has from then on.
    pub(in super::super) fn stream(&self) -> StreamEventReader {
        let number = self.asked.number;
        let mut state = self.session.state.lock();
        if state.routes.stream(&self.request, number) == Route::New {
            state.streams.open(number, self.request.clone());
        }
        self.session.attach(&mut state, number)
    }

    /// Sends the answer on the request's stream, if anybody still waits for it.
    pub(in super::super) fn answer(&self, answer: WrittenMessage) {
        let number = self.asked.number;
        let mut state = self.session.state.lock();
        if !state.routes.forget(&self.request, number) {
            tracing::debug!("an answer has come too late for its request");
            return;
        }
        state.streams.on(number, |stream| stream.answer(answer));
        state.streams.expire(Instant::now());
        state.streams.shrink(self.session.budget.share());
    }
}

impl Drop for ClaimedRequestId {
    fn drop(&mut self) {
        let mut state = self.session.state.lock();
        state.routes.forget(&self.request, self.asked.number);
        state.heard = Instant::now();
    }
}

/// Connection to the client of a session, for what belongs to one of its requests, or to none.
#[derive(Clone)]
pub(in super::super) struct SessionConnection {
    pub(super) session: Arc<HttpSession>,
    /// The request, and the number of its stream.
    pub(super) request: Option<(RequestId, u64)>,
}

impl ClientConnection for SessionConnection {
    fn notify(&self, notification: Notification) -> BoxFuture<'_, Result<usize, Disconnected>> {
        let message = WrittenMessage::notification(notification, &self.session.room);
        let sent = message.map(|message| {
            let bytes = message.len();
            let sent = self.session.send(self.request.as_ref(), message);
            sent.map(|()| bytes)
        });
        std::future::ready(sent.unwrap_or(Ok(0))).boxed()
    }

    fn request<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, AskError>> {
        // It is there until it is answered, whatever becomes of its message.
        let params = question.to_text();
        let bytes = params.len().saturating_mul(KEPT_TIMES);
        let room = match self.session.room.reserve_long(bytes) {
            Ok(room) => room,
            Err(no_room) => {
                let failed = AskError::Failed(no_room.to_string());
                return std::future::ready(Err(failed)).boxed();
            }
        };
        let send = move |id: &RequestId| {
            let message =
                WrittenMessage::question(id, question.method(), params, &self.session.room);
            let sent = message
                .map_err(anyhow::Error::from)
                .and_then(|message| Ok(self.session.send(self.request.as_ref(), message)?));
            std::future::ready(sent)
        };
        let connection = Arc::new(self.clone());
        let asked = self.session.questions.ask(question, connection, send);
        asked.inspect(move |_| drop(room)).boxed()
    }
}
