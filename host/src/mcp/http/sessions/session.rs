//! Session: the requests of its client, and the messages to it.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientCapabilities, ClientJsonRpcMessage,
    ClientNotification, ClientRequest, Implementation, ProtocolVersion, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::budget::Budget;
use super::claimed_request_id::ClaimedRequestId;
use super::event::{Event, EventId, StoredMessage};
use super::reader::Reader;
use super::routes::{Route, Routes};
use super::stream::Stream;
use super::streams::{self, STANDALONE_STREAM, Streams};
use crate::mcp::handler::Host;

/// Time that a client whose connection broke has to come back for an answer that is not there yet,
/// before its call is cancelled.
const BACK: Duration = Duration::from_secs(2);

/// Most messages of a client that wait for rmcp, which takes them at once.
const WAITING: usize = 64;

/// A session of the era with sessions.
pub(super) struct Session {
    budget: Arc<Budget>,
    state: Mutex<State>,
}

struct State {
    /// Time at which the client was last heard of.
    heard: Instant,
    /// Number of readers of its streams, those included that another reader has replaced.
    readers: usize,
    /// Sender to the task that waits for the answer to the handshake.
    handshake: Option<oneshot::Sender<ServerJsonRpcMessage>>,
    /// Name of the client.
    client: Option<String>,
    /// Whether there was any request since the handshake.
    used: bool,
    /// The version of the protocol that was agreed on.
    version: Option<ProtocolVersion>,
    /// The host as this session has it, from the end of the handshake on.
    known: Option<Arc<SessionInfo>>,
    /// The way to rmcp, until the session ends.
    inbox: Option<mpsc::Sender<ClientJsonRpcMessage>>,
    routes: Routes,
    streams: Streams,
    /// Number that was given to the last request.
    number: u64,
}

impl State {
    /// Checks whether the client knows events that say nothing but their id.
    fn is_primed(&self) -> bool {
        let since = ProtocolVersion::V_2025_11_25;
        let version = self.version.as_ref();
        version.is_some_and(|version| version.as_str() >= since.as_str())
    }
}

/// Data for those requests of a session that are answered without rmcp.
pub(in super::super) struct SessionInfo {
    pub(in super::super) host: Arc<Host>,
    pub(in super::super) version: ProtocolVersion,
    pub(in super::super) capabilities: ClientCapabilities,
}

/// Returns the name of a client, with its version.
pub(in super::super) fn name_of(client: &Implementation) -> String {
    format!("{} {}", client.name, client.version)
}

/// Returns the name of a client in its handshake, with its version.
fn client_name(initialize: &ClientJsonRpcMessage) -> Option<String> {
    let ClientJsonRpcMessage::Request(request) = initialize else {
        return None;
    };
    match &request.request {
        ClientRequest::InitializeRequest(request) => Some(name_of(&request.params.client_info)),
        _ => None,
    }
}

/// Error: the session has ended.
#[derive(Debug, thiserror::Error)]
#[error("the session has ended")]
pub(in super::super) struct Ended;

impl Session {
    /// Makes a session, and returns it with the messages of its client.
    pub(super) fn new(budget: Arc<Budget>) -> (Arc<Self>, mpsc::Receiver<ClientJsonRpcMessage>) {
        let (inbox, said) = mpsc::channel(WAITING);
        let state = State {
            heard: Instant::now(),
            readers: 0,
            handshake: None,
            client: None,
            used: false,
            version: None,
            known: None,
            inbox: Some(inbox),
            routes: Routes::default(),
            streams: Streams::new(),
            number: STANDALONE_STREAM,
        };
        let state = Mutex::new(state);
        (Arc::new(Self { budget, state }), said)
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

    /// Returns the name of the client.
    pub(super) fn client(&self) -> Option<String> {
        self.state.lock().client.clone()
    }

    /// Checks whether there was any request since the handshake.
    pub(super) fn is_used(&self) -> bool {
        self.state.lock().used
    }

    /// Notes the outcome of the handshake.
    pub(super) fn know(&self, known: SessionInfo) {
        self.state.lock().known = Some(Arc::new(known));
    }

    /// The version of the protocol that was agreed on.
    pub(super) fn version(&self) -> Option<ProtocolVersion> {
        self.state.lock().version.clone()
    }

    /// Claims the id of a request; `None` where one of that id is on its way already.
    pub(super) fn claim(self: &Arc<Self>, request: &RequestId) -> Option<ClaimedRequestId> {
        let mut state = self.state.lock();
        let number = state.number + 1;
        let cancel = state.routes.claim(request, number)?;
        state.number = number;
        state.heard = Instant::now();
        state.used = true;
        Some(ClaimedRequestId {
            known: state.known.clone(),
            cancel,
            session: self.clone(),
            request: request.clone(),
            number,
        })
    }

    /// Forgets a request that was not passed to rmcp.
    pub(super) fn release(&self, request: &RequestId, number: u64) {
        let mut state = self.state.lock();
        state.routes.release(request, number);
        state.heard = Instant::now();
    }

    /// Ends a request that was not passed to rmcp.
    pub(super) fn cancel(&self, request: &RequestId) {
        self.state.lock().routes.cancel(request);
    }

    /// Shakes hands.
    pub(super) async fn shake_hands(
        &self,
        initialize: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Ended> {
        let (sender, answer) = oneshot::channel();
        {
            let mut state = self.state.lock();
            state.handshake = Some(sender);
            state.client = client_name(&initialize);
        }
        self.pass(initialize).await?;
        let answer = answer.await.map_err(|_| Ended)?;
        if let ServerJsonRpcMessage::Response(response) = &answer
            && let ServerResult::InitializeResult(result) = &response.result
        {
            self.state.lock().version = Some(result.protocol_version.clone());
        }
        Ok(answer)
    }

    /// Passes a request to rmcp, and returns the stream with the answer.
    pub(super) async fn ask(
        self: &Arc<Self>,
        message: ClientJsonRpcMessage,
    ) -> Result<Reader, Ended> {
        let ClientJsonRpcMessage::Request(request) = &message else {
            self.tell(message).await?;
            return Ok(self.nothing());
        };
        let reader = {
            let mut state = self.state.lock();
            let number = state.routes.stream(&request.id).ok_or(Ended)?;
            state.streams.open(number, request.id.clone());
            self.attach(&mut state, number)
        };
        self.pass(message).await?;
        Ok(reader)
    }

    /// Passes a message without an answer to rmcp.
    pub(super) async fn tell(&self, message: ClientJsonRpcMessage) -> Result<(), Ended> {
        if let ClientJsonRpcMessage::Notification(said) = &message
            && let ClientNotification::CancelledNotification(cancelled) = &said.notification
            && let Some(request) = &cancelled.params.request_id
        {
            let mut state = self.state.lock();
            if let Some(number) = state.routes.forget(request) {
                // Its client ignores it. But for a stream that ends without an answer it
                // would come back, as for one that has broken.
                let error = streams::error(request.clone(), "the request was cancelled");
                state.streams.on(number, |stream| stream.answer(error));
                state.streams.expire(Instant::now());
            }
        }
        self.pass(message).await
    }

    async fn pass(&self, message: ClientJsonRpcMessage) -> Result<(), Ended> {
        let inbox = self.state.lock().inbox.clone().ok_or(Ended)?;
        inbox.send(message).await.map_err(|_| Ended)
    }

    /// Returns the stream of messages that answer no request. Those that no reader was there for
    /// are read first.
    pub(super) fn listen(self: &Arc<Self>) -> Reader {
        self.attach(&mut self.state.lock(), STANDALONE_STREAM)
    }

    fn attach(self: &Arc<Self>, state: &mut State, number: u64) -> Reader {
        let is_primed = state.is_primed();
        let attached = state.streams.on(number, |stream| {
            let turn = stream.attach(None);
            (turn, is_primed.then(|| stream.prime()).flatten())
        });
        state.readers += 1;
        let (turn, priming) = attached.unzip();
        Reader::new(self.clone(), (number, turn), priming.flatten())
    }

    /// Returns the events of a stream after that one, and those still to come.
    pub(super) fn resume(self: &Arc<Self>, after: EventId) -> Reader {
        let mut state = self.state.lock();
        let is_primed = state.is_primed();
        let State {
            streams, routes, ..
        } = &mut *state;
        let turn = streams.resume(after, |request| routes.is_asked(request));
        // Some clients forget the id that they came back with.
        let priming = turn.filter(|_| is_primed);
        let priming = priming.and_then(|_| streams.on(after.stream, Stream::prime)?);
        state.readers += 1;
        Reader::new(self.clone(), (after.stream, turn), priming)
    }

    /// Checks whether nothing is to be had after that event, now or later.
    pub(super) fn is_over(&self, after: EventId) -> bool {
        let state = self.state.lock();
        let is_asked = |request: &RequestId| state.routes.is_asked(request);
        state.streams.is_over(after, is_asked)
    }

    /// Returns a stream that has ended.
    pub(super) fn nothing(self: &Arc<Self>) -> Reader {
        self.state.lock().readers += 1;
        Reader::new(self.clone(), (STANDALONE_STREAM, None), None)
    }

    /// The next event for a reader.
    pub(super) fn poll(&self, number: u64, turn: u64, cx: &Context<'_>) -> Poll<Option<Event>> {
        let polled = self
            .state
            .lock()
            .streams
            .on(number, |stream| stream.poll(turn, cx));
        polled.unwrap_or(Poll::Ready(None))
    }

    /// Notes that a reader has gone. If no other comes to wait for the answer in its place, the
    /// request is cancelled after some time.
    pub(super) fn leave(self: &Arc<Self>, number: u64, turn: Option<u64>) {
        let mut state = self.state.lock();
        state.readers -= 1;
        state.heard = Instant::now();
        let Some(turn) = turn else { return };
        let waits = |stream: &mut Stream| {
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
                tokio::time::sleep(BACK).await;
                session.give_up(number, turn).await;
            });
        }
    }

    /// Cancels a request whose client has not come back.
    async fn give_up(&self, number: u64, turn: u64) {
        let request = {
            let mut state = self.state.lock();
            let left = state.streams.on(number, |stream| {
                let left = stream.is_left(turn) && stream.ended().is_none();
                stream.request().filter(|_| left).cloned()
            });
            let Some(request) = left.flatten() else {
                return;
            };
            state.routes.forget(&request);
            let why = format!("the call was cancelled: the client was away for more than {BACK:?}");
            let error = streams::error(request.clone(), why);
            state.streams.on(number, |stream| stream.answer(error));
            request
        };
        // The session may have ended meanwhile, and its calls with it.
        let _ = self
            .pass(cancellation(request, "the client has gone"))
            .await;
    }

    /// Sends a message of rmcp.
    pub(super) fn send(&self, message: ServerJsonRpcMessage) {
        let said = StoredMessage::from(message);
        let is_answer = matches!(
            *said.message,
            ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_)
        );
        let mut state = self.state.lock();
        if is_answer && let Some(handshake) = state.handshake.take() {
            // Where nobody waits for it any more, the session ends in its idle time.
            let _ = handshake.send(Arc::unwrap_or_clone(said.message));
            return;
        }
        match state.routes.of(&said.message) {
            Route::Answer(number) => {
                state.streams.on(number, |stream| stream.answer(said));
                state.streams.expire(Instant::now());
            }
            Route::On(number) => {
                state.streams.on(number, |stream| stream.send(said));
            }
            Route::Nowhere => tracing::debug!("an answer has come too late for its request"),
        }
        state.streams.shrink(self.budget.share());
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
        state.streams.end();
        state.handshake = None;
        let asked = state.routes.end();
        if let Some(inbox) = state.inbox.take() {
            for request in asked {
                // Where there is no room, rmcp ends what there is after some time.
                let _ = inbox.try_send(cancellation(request, "the session has ended"));
            }
        }
    }
}

fn cancellation(request: RequestId, why: &str) -> ClientJsonRpcMessage {
    let params = CancelledNotificationParam::new(Some(request), Some(why.into()));
    ClientJsonRpcMessage::notification(CancelledNotification::new(params).into())
}
