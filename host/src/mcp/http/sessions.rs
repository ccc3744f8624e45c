//! The sessions of legacy clients: how many, how long, and what becomes of the
//! calls of a client that has gone.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::Stream;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientCapabilities, ClientJsonRpcMessage,
    ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};
use tokio::runtime::Handle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::mcp::handler::Host;

/// How long a client whose connection broke has to come back for an answer
/// before its call is cancelled.
const BACK: Duration = Duration::from_secs(2);

/// When it is told to come back.
const RETRY: Duration = Duration::from_millis(500);

/// rmcp's sessions, with bounds.
#[derive(Clone)]
pub(super) struct Sessions(Arc<Inner>);

struct Inner {
    local: LocalSessionManager,
    open: Mutex<HashMap<SessionId, Open>>,
    most: usize,
    idle: Duration,
}

/// What is known of a session.
struct Open {
    /// When the client was last heard of.
    heard: Instant,
    /// Requests that are not answered yet.
    asked: HashMap<RequestId, Asked>,
    /// Streams on which the client waits for news.
    listening: usize,
    /// The host as this session has it, from the end of the handshake on.
    known: Option<Arc<Known>>,
}

/// What a request of a session needs that is answered without rmcp.
pub(super) struct Known {
    pub(super) host: Arc<Host>,
    pub(super) version: ProtocolVersion,
    pub(super) capabilities: ClientCapabilities,
}

/// A request that is not answered yet.
struct Asked {
    /// Grows each time that the client comes back for the answer.
    turn: u64,
    /// rmcp's number for its stream.
    stream: Option<u64>,
    /// Ends it, when cancelled, if it was begun without rmcp.
    cancel: CancellationToken,
}

/// A request that is answered without rmcp.
pub(super) struct Quick {
    pub(super) known: Arc<Known>,
    pub(super) cancel: CancellationToken,
    /// Forgets the request, unless rmcp has it by then.
    _waiting: Waiting,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error("all sessions are busy")]
    Full,
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
}

impl Sessions {
    pub(super) fn new(most: usize, idle: Duration) -> Self {
        let mut local = LocalSessionManager::default();
        // How long a session may be idle is decided here: rmcp would end one
        // whose only call takes long.
        local.session_config.keep_alive = None;
        local.session_config.sse_retry = Some(RETRY);
        let open = Mutex::default();
        Self(Arc::new(Inner {
            local,
            open,
            most,
            idle,
        }))
    }

    /// Whether there is room for one more, or would be without an idle one.
    pub(super) fn has_room(&self) -> bool {
        let open = self.open();
        open.len() < self.0.most || longest_idle(&open).is_some()
    }

    /// Whether a request of that id is on its way.
    pub(super) fn has_asked(&self, session: &str, id: &RequestId) -> bool {
        self.open()
            .get(session)
            .is_some_and(|open| open.asked.contains_key(id))
    }

    /// Takes note of what a session's handshake has come to.
    pub(super) fn know(&self, session: &str, known: Known) {
        if let Some(open) = self.open().get_mut(session) {
            open.known = Some(Arc::new(known));
        }
    }

    /// Begins a request without rmcp, if that knows of no other with its id and the
    /// version of the protocol is the session's.
    pub(super) fn quick(
        &self,
        session: &str,
        request: &RequestId,
        version: Option<&str>,
    ) -> Option<Quick> {
        let cancel = CancellationToken::new();
        let mut all = self.open();
        let id = all.get_key_value(session)?.0.clone();
        let open = all.get_mut(session)?;
        let known = open.known.clone()?;
        if version.is_some_and(|version| version != known.version.as_str())
            || open.asked.contains_key(request)
        {
            return None;
        }
        open.heard = Instant::now();
        let asked = Asked {
            turn: 0,
            stream: None,
            cancel: cancel.clone(),
        };
        open.asked.insert(request.clone(), asked);
        drop(all);
        Some(Quick {
            known,
            cancel,
            _waiting: Waiting {
                sessions: self.clone(),
                session: id,
                request: request.clone(),
                turn: 0,
                answered: true,
            },
        })
    }

    /// Ends a request that was begun without rmcp.
    pub(super) fn cancel(&self, session: &str, request: &RequestId) {
        let open = self.open();
        if let Some(asked) = open.get(session).and_then(|open| open.asked.get(request)) {
            asked.cancel.cancel();
        }
    }

    /// Ends sessions whose clients were not heard of for too long, for ever.
    pub(super) async fn sweep(&self) {
        let pause = (self.0.idle / 4).clamp(Duration::from_millis(100), Duration::from_secs(30));
        loop {
            tokio::time::sleep(pause).await;
            let idle: Vec<SessionId> = self
                .open()
                .iter()
                .filter(|(_, open)| {
                    open.asked.is_empty()
                        && open.listening == 0
                        && open.heard.elapsed() >= self.0.idle
                })
                .map(|(id, _)| id.clone())
                .collect();
            for id in idle {
                self.end(id);
            }
        }
    }

    /// Ends a session without waiting for that.
    fn end(&self, id: SessionId) {
        self.open().remove(&id);
        let sessions = self.clone();
        tokio::spawn(async move {
            tracing::debug!(%id, "an idle session is ended");
            if let Err(error) = sessions.0.local.close_session(&id).await {
                tracing::debug!(%id, "the session did not end well: {error}");
            }
        });
    }

    fn open(&self) -> MutexGuard<'_, HashMap<SessionId, Open>> {
        // Nothing that is done under this lock can be left half done.
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the answer to a request from now on.
    fn waiting(&self, session: &SessionId, request: RequestId) -> Waiting {
        let mut open = self.open();
        let mut turn = 0;
        if let Some(open) = open.get_mut(session) {
            open.heard = Instant::now();
            let asked = open.asked.entry(request.clone());
            let asked = asked.or_insert_with(|| Asked {
                turn,
                stream: None,
                cancel: CancellationToken::new(),
            });
            asked.turn += 1;
            turn = asked.turn;
        }
        drop(open);
        Waiting {
            sessions: self.clone(),
            session: session.clone(),
            request,
            turn,
            answered: false,
        }
    }

    /// The request whose answer goes out on one of rmcp's streams.
    fn asked_on(&self, session: &SessionId, stream: u64) -> Option<RequestId> {
        let open = self.open();
        let asked = open.get(session)?.asked.iter();
        let mut found = asked.filter(|(_, asked)| asked.stream == Some(stream));
        found.next().map(|(request, _)| request.clone())
    }

    fn listening(&self, session: &SessionId) -> Listening {
        if let Some(open) = self.open().get_mut(session) {
            open.listening += 1;
        }
        Listening {
            sessions: self.clone(),
            session: session.clone(),
        }
    }
}

/// The session that can best be spared: nothing is asked in it, and nobody was
/// heard of in it for longest; one that nobody listens to before one that has a
/// listener.
fn longest_idle(open: &HashMap<SessionId, Open>) -> Option<SessionId> {
    open.iter()
        .filter(|(_, open)| open.asked.is_empty())
        .min_by_key(|(_, open)| (open.listening > 0, open.heard))
        .map(|(id, _)| id.clone())
}

/// A client that waits for an answer. Where it goes away without one and does not
/// come back, its request is cancelled.
struct Waiting {
    sessions: Sessions,
    session: SessionId,
    request: RequestId,
    turn: u64,
    answered: bool,
}

impl Waiting {
    /// Takes note of what goes out.
    fn saw(&mut self, message: &ServerSseMessage) {
        if let Some(message) = message.message.as_deref() {
            self.answered |= matches!(
                message,
                ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_)
            );
        } else if let Some(stream) = message.event_id.as_deref().and_then(stream_of)
            && let Some(open) = self.sessions.open().get_mut(&self.session)
            && let Some(asked) = open.asked.get_mut(&self.request)
        {
            asked.stream = Some(stream);
        }
    }

    /// Forgets the request, unless the client has come back for it.
    fn forget(&self) -> bool {
        let mut open = self.sessions.open();
        let Some(open) = open.get_mut(&self.session) else {
            return false;
        };
        let last = open
            .asked
            .get(&self.request)
            .is_some_and(|asked| asked.turn == self.turn);
        if last {
            open.asked.remove(&self.request);
            open.heard = Instant::now();
        }
        last
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.answered {
            self.forget();
            return;
        }
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let gone = Waiting {
            sessions: self.sessions.clone(),
            session: self.session.clone(),
            request: self.request.clone(),
            turn: self.turn,
            // So that its own end does nothing more than to forget.
            answered: true,
        };
        runtime.spawn(async move {
            tokio::time::sleep(BACK).await;
            if !gone.forget() {
                return;
            }
            let cancelled = CancelledNotification::new(CancelledNotificationParam::new(
                Some(gone.request.clone()),
                Some("the client has gone".into()),
            ));
            let message = ClientJsonRpcMessage::notification(cancelled.into());
            // The session may have ended meanwhile, and its calls with it.
            let local = &gone.sessions.0.local;
            let _ = local.accept_message(&gone.session, message).await;
        });
    }
}

/// The number of the stream that an event was sent on, if it belongs to a request.
fn stream_of(event: &str) -> Option<u64> {
    event.split_once('/')?.1.parse().ok()
}

/// A client that waits for news.
struct Listening {
    sessions: Sessions,
    session: SessionId,
}

impl Drop for Listening {
    fn drop(&mut self) {
        if let Some(open) = self.sessions.open().get_mut(&self.session) {
            open.listening = open.listening.saturating_sub(1);
            open.heard = Instant::now();
        }
    }
}

/// A stream to a client, and what is to happen when it goes away.
struct Watched {
    stream: Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>,
    reader: Reader,
}

enum Reader {
    Waiting(Waiting),
    Listening { _count: Listening },
}

impl Stream for Watched {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.stream.as_mut().poll_next(cx);
        if let Reader::Waiting(waiting) = &mut self.reader {
            match &polled {
                Poll::Ready(Some(message)) => waiting.saw(message),
                // There is no more to come: the client has cancelled it itself.
                Poll::Ready(None) => waiting.answered = true,
                Poll::Pending => {}
            }
        }
        polled
    }
}

impl SessionManager for Sessions {
    type Error = Error;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Error> {
        let spared = {
            let open = self.open();
            if open.len() < self.0.most {
                None
            } else {
                Some(longest_idle(&open).ok_or(Error::Full)?)
            }
        };
        if let Some(spared) = spared {
            self.end(spared);
        }
        let (id, transport) = self.0.local.create_session().await?;
        let open = Open {
            heard: Instant::now(),
            asked: HashMap::new(),
            listening: 0,
            known: None,
        };
        self.open().insert(id.clone(), open);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Error> {
        Ok(self.0.local.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Error> {
        if let Some(open) = self.open().get_mut(id) {
            open.heard = Instant::now();
        }
        Ok(self.0.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Error> {
        self.open().remove(id);
        Ok(self.0.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        let ClientJsonRpcMessage::Request(request) = &message else {
            let listening = self.listening(id);
            let stream = self.0.local.create_stream(id, message).await?;
            return Ok(Watched::listening(stream, listening));
        };
        let waiting = self.waiting(id, request.id.clone());
        let stream = self.0.local.create_stream(id, message).await?;
        Ok(Watched::waiting(stream, waiting))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Error> {
        Ok(self.0.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        let listening = self.listening(id);
        let stream = self.0.local.create_standalone_stream(id).await?;
        Ok(Watched::listening(stream, listening))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        let request = stream_of(&last_event_id).and_then(|stream| self.asked_on(id, stream));
        match request {
            Some(request) => {
                let waiting = self.waiting(id, request);
                let stream = self.0.local.resume(id, last_event_id).await?;
                Ok(Watched::waiting(stream, waiting))
            }
            None => {
                let listening = self.listening(id);
                let stream = self.0.local.resume(id, last_event_id).await?;
                Ok(Watched::listening(stream, listening))
            }
        }
    }
}

impl Watched {
    fn waiting(
        stream: impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
        waiting: Waiting,
    ) -> Self {
        Self {
            stream: Box::pin(stream),
            reader: Reader::Waiting(waiting),
        }
    }

    fn listening(
        stream: impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
        count: Listening,
    ) -> Self {
        Self {
            stream: Box::pin(stream),
            reader: Reader::Listening { _count: count },
        }
    }
}
