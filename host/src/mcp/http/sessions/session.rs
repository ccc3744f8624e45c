//! Session: the requests of its client, and the messages to it.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::model::{ProtocolVersion, RequestId};
use tokio::time::Instant;

use super::budget::SessionsBudget;
use super::claimed_request_id::{ClaimedRequestId, SessionConnection};
use super::event::EventId;
use super::reader::StreamEventReader;
use super::routes::{Route, Routes};
use super::stream::EventStream;
use super::streams::{self, EventStreams, STANDALONE_STREAM};
use crate::mcp::client::client_connection::Disconnected;
use crate::mcp::client::unanswered_questions::UnansweredQuestions;
use crate::mcp::http::answers::answer_room::ClientAnswerRoom;
use crate::mcp::http::answers::written::WrittenMessage;

/// Time that a client whose connection broke has to come back for an answer that is not there yet,
/// before its call is cancelled.
const AWAY_TIMEOUT: Duration = Duration::from_secs(2);

/// A session of the era with sessions.
pub(in super::super) struct HttpSession {
    /// Questions that the client has not answered yet.
    pub(in super::super) questions: Arc<UnansweredQuestions>,
    pub(super) budget: Arc<SessionsBudget>,
    /// Room for the messages to its client.
    pub(in super::super) room: ClientAnswerRoom,
    pub(super) state: Mutex<HttpSessionState>,
}

/// State of a session that changes.
pub(super) struct HttpSessionState {
    /// Time at which the client was last heard of.
    pub(super) heard: Instant,
    /// Number of readers of its streams, those included that another reader has replaced.
    readers: usize,
    /// Whether there was any request since the handshake.
    used: bool,
    /// Whether the client knows events that say nothing but their id.
    is_primed: bool,
    pub(super) routes: Routes,
    pub(super) streams: EventStreams,
    /// Number that was given to the last request.
    number: u64,
    has_ended: bool,
}

impl HttpSession {
    /// Makes a session of that version of the protocol.
    pub(super) fn new(
        version: &ProtocolVersion,
        budget: Arc<SessionsBudget>,
        room: ClientAnswerRoom,
    ) -> Arc<Self> {
        let state = HttpSessionState {
            heard: Instant::now(),
            readers: 0,
            used: false,
            is_primed: is_primed(version),
            routes: Routes::default(),
            streams: EventStreams::new(),
            number: STANDALONE_STREAM,
            has_ended: false,
        };
        Arc::new(Self {
            questions: Arc::default(),
            budget,
            room,
            state: Mutex::new(state),
        })
    }

    /// Notes that the client is there.
    pub(super) fn hear(&self) {
        self.state.lock().heard = Instant::now();
    }

    /// Returns whether anybody listens, and when the client was last heard of; none where a request
    /// is running.
    pub(super) fn idle(&self) -> Option<(bool, Instant)> {
        let state = self.state.lock();
        let idle = state.routes.is_idle();
        idle.then_some((state.readers > 0, state.heard))
    }

    /// Checks whether there was any request since the handshake.
    pub(super) fn is_used(&self) -> bool {
        self.state.lock().used
    }

    /// Notes the version that another handshake has agreed on.
    pub(super) fn agree(&self, version: &ProtocolVersion) {
        self.state.lock().is_primed = is_primed(version);
    }

    /// Claims the id of a request; `None` where one of that id is on its way already.
    pub(in super::super) fn claim(
        self: &Arc<Self>,
        request: &RequestId,
    ) -> Option<ClaimedRequestId> {
        let mut state = self.state.lock();
        let number = state.number + 1;
        let asked = state.routes.claim(request, number)?;
        if state.has_ended {
            asked.cancel.cancel();
        }
        state.number = number;
        state.heard = Instant::now();
        state.used = true;
        let session = Arc::clone(self);
        Some(ClaimedRequestId::new(session, request.clone(), asked))
    }

    /// Cancels a request.
    pub(in super::super) fn cancel(&self, request: &RequestId) {
        let mut state = self.state.lock();
        if let Some(number) = state.routes.cancel(request) {
            // Its client ignores it. But for a stream that ends without an answer it would come
            // back, as for one that has broken.
            let error = streams::error(request, "the request was cancelled");
            state.streams.on(number, |stream| stream.answer(error));
            state.streams.expire(Instant::now());
        }
    }

    /// Returns the connection to the client for what belongs to none of its requests.
    pub(in super::super) fn connection(self: &Arc<Self>) -> SessionConnection {
        SessionConnection {
            session: Arc::clone(self),
            request: None,
        }
    }

    /// Sends a message that belongs to a request, with the number of its stream, or to none. One
    /// whose request is not on its way any more goes out as if it belonged to none.
    pub(super) fn send(
        &self,
        request: Option<&(RequestId, u64)>,
        message: WrittenMessage,
    ) -> Result<(), Disconnected> {
        let mut state = self.state.lock();
        if state.has_ended {
            return Err(Disconnected);
        }
        let mut on = STANDALONE_STREAM;
        if let Some((request, number)) = request {
            let route = state.routes.stream(request, *number);
            if route == Route::New {
                state.streams.open(*number, request.clone());
            }
            if route != Route::Gone {
                on = *number;
            }
        }
        state.streams.on(on, |stream| stream.send(message));
        state.streams.shrink(self.budget.share());
        Ok(())
    }

    /// Returns the stream of messages that answer no request. Those that no reader was there for
    /// are read first.
    pub(in super::super) fn listen(self: &Arc<Self>) -> StreamEventReader {
        self.attach(&mut self.state.lock(), STANDALONE_STREAM)
    }

    /// Returns a reader of the stream of that number.
    pub(super) fn attach(
        self: &Arc<Self>,
        state: &mut HttpSessionState,
        number: u64,
    ) -> StreamEventReader {
        let is_primed = state.is_primed;
        let attached = state.streams.on(number, |stream| {
            let turn = stream.attach(None);
            (turn, is_primed.then(|| stream.prime()).flatten())
        });
        state.readers += 1;
        let (turn, priming) = attached.unzip();
        StreamEventReader::new(self.clone(), number, turn, priming.flatten())
    }

    /// Returns the events of a stream after that one, and those still to come.
    pub(in super::super) fn resume(self: &Arc<Self>, after: EventId) -> StreamEventReader {
        let mut state = self.state.lock();
        let is_primed = state.is_primed;
        let HttpSessionState {
            streams, routes, ..
        } = &mut *state;
        let turn = streams.resume(after, |request| routes.is_asked(request));
        // Some clients forget the id that they came back with.
        let priming = turn.filter(|_| is_primed);
        let priming = priming.and_then(|_| streams.on(after.stream, EventStream::prime)?);
        state.readers += 1;
        StreamEventReader::new(self.clone(), after.stream, turn, priming)
    }

    /// Checks whether nothing is to be had after that event, now or later.
    pub(in super::super) fn is_over(&self, after: EventId) -> bool {
        let state = self.state.lock();
        let is_asked = |request: &RequestId| state.routes.is_asked(request);
        state.streams.is_over(after, is_asked)
    }

    /// Notes that a reader has gone. If no other comes to wait for the answer in its place, the
    /// request is cancelled after some time.
    pub(super) fn leave(self: &Arc<Self>, number: u64, turn: Option<u64>) {
        let mut state = self.state.lock();
        state.readers -= 1;
        state.heard = Instant::now();
        let Some(turn) = turn else { return };
        let waits = |stream: &mut EventStream| {
            let newest = stream.detach(turn);
            newest && stream.request().is_some() && stream.ended().is_none()
        };
        let waited = state.streams.on(number, waits) == Some(true);
        let share = self.budget.share();
        state.streams.shrink(share);
        drop(state);
        if waited && let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let session = self.clone();
            runtime.spawn(async move {
                tokio::time::sleep(AWAY_TIMEOUT).await;
                session.give_up(number, turn);
            });
        }
    }

    /// Cancels a request whose client has not come back.
    fn give_up(&self, number: u64, turn: u64) {
        let mut state = self.state.lock();
        let left = state.streams.on(number, |stream| {
            let left = stream.is_left(turn) && stream.ended().is_none();
            stream.request().filter(|_| left).cloned()
        });
        let Some(request) = left.flatten() else {
            return;
        };
        if state.routes.has_stream(&request, number) {
            state.routes.cancel(&request);
        }
        let why =
            format!("the call was cancelled: the client was away for more than {AWAY_TIMEOUT:?}");
        let error = streams::error(&request, why);
        state.streams.on(number, |stream| stream.answer(error));
    }

    /// Forgets messages that were kept for long enough.
    pub(super) fn tidy(&self) {
        let mut state = self.state.lock();
        state.streams.expire(Instant::now());
        state.streams.shrink(self.budget.share());
    }

    /// Ends the session, and all of its requests.
    pub(super) fn end(&self) {
        let mut state = self.state.lock();
        state.has_ended = true;
        state.streams.end();
        state.routes.end();
        drop(state);
        self.questions.end();
    }
}

/// Checks whether clients of a version know events that say nothing but their id.
fn is_primed(version: &ProtocolVersion) -> bool {
    version.as_str() >= ProtocolVersion::V_2025_11_25.as_str()
}
