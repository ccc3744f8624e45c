//! An agent's connection, as lines of JSON.
//!
//! rmcp's own transport would do but for five things: a result that is JSON text
//! already goes out as it is, byte for byte; a request's text is kept with it; the end
//! of the input is noticed at once, so that running calls can be ended; a message that
//! makes no sense is answered under its id; and a client that has begun without a
//! handshake may shake hands after all.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt as _;
use rmcp::ErrorData;
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetMeta as _, JsonRpcMessage, ProtocolVersion, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::codec::FramedRead;
use tokio_util::sync::CancellationToken;

use super::incoming::Incoming;
use super::lines::Lines;
use super::open::Open;
use super::outgoing::Output;

/// How many refusals of nonsense may wait to be written.
const REFUSALS: usize = 64;

/// How long requests that run when their client shakes hands after all may take to be
/// answered: a bit longer than until they are cancelled.
const LEAVING: Duration = Duration::from_millis(1500);

/// An agent's two streams, for as long as it is there.
pub(super) struct Link<R, W> {
    lines: tokio::sync::Mutex<FramedRead<R, Lines>>,
    output: Output<W>,
    /// The requests that have no answer yet.
    open: Open,
    /// How many refusals may wait to be written.
    refusals: Arc<Semaphore>,
    /// What the next service begins with.
    next: Mutex<Option<ClientJsonRpcMessage>>,
    /// Cancelled when the input ends.
    closed: CancellationToken,
    /// Cancelled when the first answer about tools has gone out.
    ready: CancellationToken,
}

impl<R, W> Link<R, W>
where
    R: AsyncRead,
    W: AsyncWrite + Unpin,
{
    pub(super) fn new(
        input: R,
        output: W,
        closed: CancellationToken,
        ready: CancellationToken,
    ) -> Arc<Self> {
        Arc::new(Self {
            lines: tokio::sync::Mutex::new(FramedRead::new(input, Lines::default())),
            output: Output::new(output),
            open: Open::default(),
            refusals: Arc::new(Semaphore::new(REFUSALS)),
            next: Mutex::default(),
            closed,
            ready,
        })
    }
}

impl<R, W> Link<R, W> {
    /// What another service has to begin with, when one has ended.
    pub(super) fn next(&self) -> Option<ClientJsonRpcMessage> {
        self.place().take()
    }

    fn place(&self) -> std::sync::MutexGuard<'_, Option<ClientJsonRpcMessage>> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One service's messages. Another one goes on with what follows a handshake that comes
/// late: rmcp's own cannot change from an era to the other.
pub(super) struct Wire<R, W> {
    link: Arc<Link<R, W>>,
    stage: Stage,
    /// What is read before all that comes.
    first: Option<ClientJsonRpcMessage>,
    /// Cancelled when there is nothing more for this service.
    over: CancellationToken,
}

/// How far rmcp is with a connection.
enum Stage {
    /// It waits for a request that tells the era, and takes anything but a request for
    /// a reason to hang up.
    Opening,
    /// Requests say all by themselves.
    Stateless,
    /// Hands were shaken.
    Session,
    /// A handshake has come, and is for another service when all others of this one's
    /// requests are answered, or at that time.
    Leaving(ClientJsonRpcMessage, RequestId, Instant),
}

impl Stage {
    /// The stage that rmcp goes on to from the first one when it reads a request.
    fn after(request: &ClientRequest) -> Self {
        match request {
            ClientRequest::InitializeRequest(_) => Self::Session,
            // These it answers, and waits on.
            ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => Self::Opening,
            request => {
                let meta = request.get_meta();
                let missing = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28);
                let version = meta.protocol_version();
                let known = version
                    .is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version));
                // Others are refused.
                if missing.is_empty() && known {
                    Self::Stateless
                } else {
                    Self::Opening
                }
            }
        }
    }
}

impl<R, W> Wire<R, W> {
    /// The messages of a service that begins with that one, if there is any.
    pub(super) fn new(
        link: &Arc<Link<R, W>>,
        first: Option<ClientJsonRpcMessage>,
        over: CancellationToken,
    ) -> Self {
        Self {
            link: Arc::clone(link),
            stage: Stage::Opening,
            first,
            over,
        }
    }

    /// What rmcp is to hear of a message.
    fn passed(&mut self, message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        match (&self.stage, &message) {
            (Stage::Opening, JsonRpcMessage::Request(request)) => {
                self.stage = Stage::after(&request.request);
            }
            // Nothing but a request can begin a connection. Whatever comes before is
            // of no use to anybody, but no reason to hang up.
            (Stage::Opening, _) => return None,
            (Stage::Stateless, JsonRpcMessage::Request(request))
                if matches!(request.request, ClientRequest::InitializeRequest(_)) =>
            {
                let id = request.id.clone();
                self.stage = Stage::Leaving(message, id, Instant::now() + LEAVING);
                self.over.cancel();
                return None;
            }
            _ => {}
        }
        Some(message)
    }
}

impl<R, W> Wire<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Answers what makes no sense.
    fn refuse(&self, id: Option<RequestId>, error: ErrorData) {
        // Whoever sends nonsense and does not read is told of some of it.
        let Ok(place) = self.link.refusals.clone().try_acquire_owned() else {
            return;
        };
        // Reading may be given up at any time, and half a line must not have been
        // written then.
        let link = self.link.clone();
        tokio::spawn(async move {
            let _place = place;
            let message = ServerJsonRpcMessage::error(error, id);
            if let Err(error) = link.output.write(&message).await {
                tracing::debug!("a refusal could not be sent: {error}");
            }
        });
    }
}

impl<R, W> Transport<RoleServer> for Wire<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let link = self.link.clone();
        link.open.answered(&message);
        async move {
            let about_tools = matches!(
                &message,
                JsonRpcMessage::Response(response)
                    if matches!(response.result, ServerResult::CustomResult(_))
            );
            link.output.write(&message).await?;
            if about_tools {
                link.ready.cancel();
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        if let Some(first) = self.first.take() {
            return self.passed(first);
        }
        let link = self.link.clone();
        loop {
            if let Stage::Leaving(_, id, until) = &self.stage {
                // Whoever has not ended by then never will.
                let _ = tokio::time::timeout_at(*until, link.open.all_but(id)).await;
                return None;
            }
            let line = match link.lines.lock().await.next().await {
                Some(Ok(line)) => line,
                Some(Err(error)) => {
                    tracing::warn!("reading from the agent failed: {error}");
                    link.closed.cancel();
                    return None;
                }
                None => {
                    link.closed.cancel();
                    return None;
                }
            };
            match link.open.checked(Incoming::read(line)) {
                Incoming::Message(message) => {
                    if let Some(message) = self.passed(*message) {
                        return Some(message);
                    }
                }
                Incoming::Refused(id, error) => self.refuse(id, error),
                Incoming::Nothing => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.stage, Stage::Session) {
            // The streams are the next service's.
            Stage::Leaving(initialize, ..) => {
                *self.link.place() = Some(initialize);
                Ok(())
            }
            _ => self.link.output.close().await,
        }
    }
}
