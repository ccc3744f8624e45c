//! Requests of the era without a handshake. Each is answered by one message of JSON, or by a stream of
//! events where something is said before its answer.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use dormouse_protocol::{Answer, AskError, Question};
use futures::future::BoxFuture;
use futures::stream::{self, select_all};
use futures::{FutureExt as _, StreamExt as _};
use http_body::Frame;
use hyper::StatusCode;
use rmcp::model::{ClientCapabilities, ErrorCode, ErrorData, ProtocolVersion, RequestId};
use tokio::sync::mpsc;

use super::answer::{self, Response};
use super::answer_room::AnswerRoom;
use super::endpoint::Endpoint;
use super::written::{Message, written};
use crate::mcp::client_connection::{ClientConnection, Disconnected, Notification};
use crate::mcp::client_request::ClientRequest;
use crate::mcp::handler::caught;
use crate::mcp::lifecycle::Terms;
use crate::mcp::request_context::{RequestContext, client_name};

/// Time after which a stream without events has a comment, so that nobody on the way takes it for dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

type Answered = Result<Answer, ErrorData>;

/// Connection to the client of one request, for the events before its answer.
struct RequestStream {
    events: mpsc::Sender<Bytes>,
}

impl ClientConnection for RequestStream {
    fn notify(&self, notification: Notification) -> BoxFuture<'_, Result<(), Disconnected>> {
        // In one piece: whoever sends it may be dropped in between.
        let event: Vec<Bytes> = Message::notification(notification).event().collect();
        let sent = self.events.send(event.concat().into());
        async move { sent.await.map_err(|_| Disconnected) }.boxed()
    }

    /// Fails: a client of this era is asked by the answer to its request.
    fn request<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Result<Answer, AskError>> {
        let why = "nobody can be asked while a request is answered";
        std::future::ready(Err(AskError::Failed(why.to_owned()))).boxed()
    }
}

/// Stream of the events of one request.
struct Events {
    id: RequestId,
    /// The request's work. When its client goes, this is dropped, and the call with it.
    work: BoxFuture<'static, Answered>,
    said: mpsc::Receiver<Bytes>,
    /// Events that are there, and go out next.
    next: VecDeque<Bytes>,
    has_ended: bool,
    room: Arc<AnswerRoom>,
    client: String,
}

impl Events {
    /// Ends the stream with the answer, behind what was said before it.
    fn end(&mut self, answered: Answered) {
        while let Ok(event) = self.said.try_recv() {
            self.next.push_back(event);
        }
        let message = Message::answer(&self.id, answered, (&self.room, &self.client));
        self.next.extend(message.event());
        self.has_ended = true;
    }

    /// Returns the next part of an event; none at the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(event) = self.next.pop_front() {
                return Some(event);
            }
            if self.has_ended {
                return None;
            }
            tokio::select! {
                biased;
                Some(event) = self.said.recv() => return Some(event),
                answered = &mut self.work => self.end(answered),
                () = tokio::time::sleep(KEEP_ALIVE) => return Some(Bytes::from_static(b":\n\n")),
            }
        }
    }
}

impl Endpoint {
    /// Answers a request whose client has said that it can do this.
    pub(super) async fn stateless(
        &self,
        request: ClientRequest,
        capabilities: ClientCapabilities,
    ) -> Response {
        tracing::trace!(id = %request.id, method = request.method, "a request has come");
        let host = self.shared.stateless.clone();
        let (events, said) = mpsc::channel(1);
        let connection: Arc<dyn ClientConnection> = Arc::new(RequestStream { events });
        let (id, client) = (request.id.clone(), client_name(&request.meta));
        let terms = Terms {
            version: Some(ProtocolVersion::V_2026_07_28),
            capabilities,
        };
        let work = async move {
            let id = request.id.clone();
            let context = RequestContext::of_request(&host, &request, &terms, connection);
            caught(&id, host.dispatch(request, &context)).await
        };
        let mut events = Events {
            id,
            work: work.boxed(),
            said,
            next: VecDeque::new(),
            has_ended: false,
            room: Arc::clone(&self.answers),
            client,
        };
        tokio::select! {
            biased;
            answered = &mut events.work => {
                let Ok(event) = events.said.try_recv() else {
                    let status = status(&answered);
                    return written(status, &events.id, answered, (&events.room, &events.client));
                };
                events.next.push_back(event);
                events.end(answered);
            }
            Some(event) = events.said.recv() => events.next.push_back(event),
        }
        let events = stream::unfold(events, |mut events| async move {
            let event = events.next().await?;
            Some((Ok(Frame::data(event)), events))
        });
        answer::events(select_all([events.boxed()]))
    }
}

fn status(answered: &Answered) -> StatusCode {
    match answered.as_ref().map_err(|error| error.code) {
        Err(ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY) => StatusCode::BAD_REQUEST,
        Err(ErrorCode::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    }
}
