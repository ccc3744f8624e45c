//! Serving of one agent over stdio.

use std::sync::Arc;
use std::time::Duration;

use dormouse_protocol::Answer;
use rmcp::model::InitializeRequestParams;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::client::StdioClient;
use super::input::{Incoming, MAX_LINE_BYTES, StdioInput};
use crate::mcp::client::client_connection::ClientConnection;
use crate::mcp::common::{self, Common};
use crate::mcp::lifecycle::{Agreed, DISCOVER};
use crate::mcp::messages::client_message::ClientNotification;
use crate::mcp::messages::client_request::ClientRequest;
use crate::mcp::messages::error_object::ErrorObject;
use crate::mcp::messages::message_room::MessageRoom;
use crate::mcp::server::{Host, with_params};
use crate::mcp::session::AgentSession;
use crate::roster::Roster;

/// Time for which running calls may go on after the agent has closed its end: long enough for the
/// answers to piped input, short enough not to be noticed.
const GRACE: Duration = Duration::from_millis(500);

/// Time, after the grace, that cancelled calls may take to end by themselves, and unsent answers to
/// go out.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(250);

/// Time for which an agent that has begun may send no request for tools before the host begins the
/// work that it had put off until the first answer.
const FIRST_REQUEST_TIMEOUT: Duration = Duration::from_millis(250);

/// Time that running requests may take to be answered when their client shakes hands after all: a
/// bit longer than until they are cancelled.
const LEAVING: Duration = Duration::from_millis(1500);

/// Serves one agent until it closes its end or `stop` is cancelled. Cancels `ready` when the first
/// tools have been listed or called, so that work which is not needed for that can wait until then.
/// The agent's messages take about `max_message_bytes` together while they are on their way.
///
/// # Errors
/// The system gives no random numbers.
pub async fn serve<R, W>(
    roster: Arc<Roster>,
    input: R,
    output: W,
    max_message_bytes: usize,
    stop: CancellationToken,
    ready: CancellationToken,
) -> anyhow::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let common = Common::new(roster, common::IN_FLIGHT)?;
    let client = StdioClient::new(output, ready.clone());
    let room = MessageRoom::new(max_message_bytes, MAX_LINE_BYTES);
    let input = StdioInput::new(input, client.clone(), room);
    // On a thread of the runtime's, which goes on with a request that was read there: from any other
    // thread, each would have to wake one.
    tokio::spawn(converse(common, input, client, stop, ready)).await?;
    Ok(())
}

/// Has one conversation with the agent after another, until the last is over.
async fn converse<R, W>(
    common: Arc<Common>,
    mut input: StdioInput<R, W>,
    client: Arc<StdioClient<W>>,
    stop: CancellationToken,
    ready: CancellationToken,
) where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let session = AgentSession::begin(common.clone());
    let mut first = None;
    loop {
        let (over, ending) = (CancellationToken::new(), CancellationToken::new());
        let host = Arc::new(Host::new(common.clone(), Some(session.id()), over, ending));
        let closed = CancellationToken::new();
        let mut conversation = Conversation {
            host: host.clone(),
            client: client.clone(),
            agreed: Agreed::Nothing,
            ready: ready.clone(),
            closed: closed.clone(),
        };
        let next = tokio::select! {
            next = conversation.run(&mut input, first) => next,
            // Whoever closed its end and does not read any more gets no more.
            () = end(&host, &closed) => None,
            () = stop.cancelled() => None,
            () = client.gone.cancelled() => None,
        };
        host.closed.cancel();
        host.ending.cancel();
        if next.is_none() {
            // A client that reads nothing would be waited for.
            let _ = tokio::time::timeout(FLUSH_TIMEOUT, client.close()).await;
            return;
        }
        first = next;
    }
}

/// Ends the calls of a conversation that is over, by and by. Returns when the agent reads their
/// answers no longer.
async fn end(host: &Host, closed: &CancellationToken) {
    host.closed.cancelled().await;
    tokio::time::sleep(GRACE).await;
    host.ending.cancel();
    closed.cancelled().await;
    tokio::time::sleep(FLUSH_TIMEOUT).await;
}

/// Conversation over a connection, in one era. Another one begins with a late handshake.
struct Conversation<W> {
    host: Arc<Host>,
    client: Arc<StdioClient<W>>,
    agreed: Agreed,
    ready: CancellationToken,
    /// Cancelled when the input ends.
    closed: CancellationToken,
}

impl<W: AsyncWrite + Send + Unpin + 'static> Conversation<W> {
    /// Deals with messages, the first one before all others. Returns the handshake with which another
    /// conversation begins; none at the end of the input.
    async fn run<R: AsyncRead + Unpin>(
        &mut self,
        input: &mut StdioInput<R, W>,
        first: Option<Box<ClientRequest>>,
    ) -> Option<Box<ClientRequest>> {
        if let Some(handshake) = first {
            self.initialize(*handshake).await;
        }
        while let Some(message) = input.next().await {
            match message {
                Incoming::Request(request) if request.method == "initialize" => {
                    tracing::trace!(id = %request.id, "the client shakes hands");
                    if matches!(self.agreed, Agreed::Stateless) {
                        return Some(self.left(request).await);
                    }
                    self.initialize(*request).await;
                }
                Incoming::Request(request) => self.request(*request).await,
                // Nothing but a request can begin a connection. Whatever comes before is of no use to
                // anybody.
                Incoming::Notification(_) if matches!(self.agreed, Agreed::Nothing) => {}
                Incoming::Notification(notification) => self.notification(notification),
                Incoming::Response(id, outcome) => self.client.questions.answered(&id, outcome),
                Incoming::Refused(..) | Incoming::Nothing => {}
            }
        }
        self.host.closed.cancel();
        self.closed.cancel();
        self.client.settled().await;
        None
    }

    /// Waits until all other requests are answered, because the client shakes hands after all.
    async fn left(&self, mut handshake: Box<ClientRequest>) -> Box<ClientRequest> {
        self.host.closed.cancel();
        self.client.in_flight.end(&handshake.id);
        // Whoever has not ended by then never will.
        let _ = tokio::time::timeout(LEAVING, self.client.in_flight.all_ended()).await;
        if let Some(cancel) = self.client.in_flight.begin(&handshake.id) {
            handshake.cancel = cancel;
        }
        handshake
    }

    /// Answers a handshake, before anything else is read.
    async fn initialize(&mut self, request: ClientRequest) {
        let said = with_params::<InitializeRequestParams>(&request.method, request.params);
        let answered = said.map(|mut said| {
            let result = self.host.initialize(&said);
            self.client.batches.agreed(&result.protocol_version);
            said.protocol_version = result.protocol_version.clone();
            self.agreed = Agreed::Handshake(Arc::new(said));
            self.is_expected();
            Answer::Made(json!(result))
        });
        let (id, cancel) = (&request.id, &request.cancel);
        self.client.answer(id, cancel, answered).await;
    }

    /// Begins the work that was put off, if the agent does not ask for tools soon.
    fn is_expected(&self) {
        let ready = self.ready.clone();
        tokio::spawn(async move {
            tokio::time::sleep(FIRST_REQUEST_TIMEOUT).await;
            ready.cancel();
        });
    }

    /// Begins to answer a request.
    async fn request(&mut self, request: ClientRequest) {
        tracing::trace!(id = %request.id, method = request.method, "a request has come");
        let agreed = self.agreed.clone();
        if matches!(agreed, Agreed::Nothing)
            && !matches!(request.method.as_str(), "ping" | DISCOVER)
            && agreed.terms(&request.method, &request.meta).is_ok()
        {
            self.agreed = Agreed::Stateless;
            self.is_expected();
        }
        let (host, client) = (self.host.clone(), self.client.clone());
        let answering = async move {
            let (id, cancel) = (request.id.clone(), request.cancel.clone());
            let is_of_servers = Host::is_of_servers(&request.method);
            let answered = answered(&host, &client, &agreed, request).await;
            client.answer(&id, &cancel, answered).await;
            if is_of_servers {
                client.is_ready();
            }
        };
        match &self.agreed {
            // What is asked before anything is agreed on is answered at once, and in its order.
            Agreed::Nothing => answering.await,
            _ => drop(tokio::spawn(answering)),
        }
    }

    fn notification(&self, notification: ClientNotification) {
        match notification {
            ClientNotification::Initialized => {
                if let Agreed::Handshake(said) = &self.agreed {
                    self.host.initialized(self.client.clone(), said);
                }
            }
            ClientNotification::Cancelled(id) => {
                self.client.cancel(&id);
                self.host.cancelled(&id);
            }
            ClientNotification::RootsChanged => self.host.roots_changed(),
        }
    }
}

/// Answers a request other than `initialize`.
async fn answered<W: AsyncWrite + Send + Unpin + 'static>(
    host: &Host,
    client: &Arc<StdioClient<W>>,
    agreed: &Agreed,
    request: ClientRequest,
) -> Result<Answer, ErrorObject> {
    // A connection may be looked after before anything is agreed on.
    if matches!(agreed, Agreed::Nothing) && request.method == "ping" {
        return Ok(Answer::Made(json!({})));
    }
    let terms = agreed.terms(&request.method, &request.meta)?;
    let connection: Arc<dyn ClientConnection> = client.clone();
    host.answer_request(request, &terms, connection).await
}
