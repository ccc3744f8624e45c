//! An agent's connection, as lines of JSON.
//!
//! rmcp's own transport does all but six things: a result that is JSON text already goes out byte
//! for byte; a request's text is kept with it; the end of the input is noticed at once, so that
//! running calls can be ended; an invalid message is answered under its id; several messages may
//! come at once, in the revision that allows it; and a client that has begun without a handshake
//! may shake hands after all.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Once};
use std::time::Duration;

use dormouse_jsonrpc::LineReader;
use dormouse_upstream::without_blocking;
use parking_lot::Mutex;
use rmcp::ErrorData;
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
    ServerResult,
};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite, BufReader};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::backlog::{Backlog, Counted, Stalled};
use super::batch::{Batch, Batches};
use super::client_log;
use super::incoming::{self, Incoming, MAX_LINE_BYTES};
use super::message_room::{MessageRoom, NoRoom, ROOM_TIMEOUT, TakenRoom, bytes_of_message};
use super::open::Open;
use super::outgoing::{OutgoingLine, Output};
use super::stage::{Stage, handshake};

/// Most answers to texts that are no messages that may wait to be written.
const REFUSALS: usize = 64;

/// Number of bytes of the input that are read at once.
const READ_BYTES: usize = 64 << 10;

/// Most requests that may have no answer yet; beyond that reading pauses. Far fewer calls may run
/// at once, and others are refused at once.
pub(super) const MAX_OPEN_REQUESTS: usize = 16_384;

/// Time that running requests may take to be answered when their client shakes hands after all: a
/// bit longer than until they are cancelled.
const LEAVING: Duration = Duration::from_millis(1500);

/// Returns the error that replaces a long result while too many wait to be read.
fn unread(id: RequestId) -> ServerJsonRpcMessage {
    let why = "too many long results wait to be read by this client\n\
               hint: read those that are there, and ask again";
    ServerJsonRpcMessage::error(ErrorData::internal_error(why, None), Some(id))
}

/// Reads a line, if there is room for its message.
fn read(line: String, room: &Result<TakenRoom, NoRoom>) -> Incoming {
    match room {
        Ok(room) => {
            let mut read = Incoming::read(line);
            read.keep(room);
            read
        }
        Err(no_room) => Incoming::refused(&line, *no_room),
    }
}

/// An agent's two streams, for the whole connection.
pub(super) struct Link<R, W> {
    lines: tokio::sync::Mutex<LineReader<BufReader<R>>>,
    output: Output<Counted<W>>,
    /// Messages that were sent and are not written yet.
    backlog: Arc<Backlog>,
    /// Memory of messages that were read and are not dealt with yet.
    message_room: MessageRoom,
    /// Requests that have no answer yet.
    open: Open,
    /// Makes the warning about too many open requests come once.
    said_open: Once,
    /// Requests that came together in batches.
    batches: Batches,
    /// Places for answers to invalid texts that wait to be written.
    refusals: Arc<Semaphore>,
    /// Message that the next service begins with.
    next: Mutex<Option<Box<ClientJsonRpcMessage>>>,
    /// Cancelled when the input ends.
    closed: CancellationToken,
    /// Cancelled when the first answer about tools has gone out.
    ready: CancellationToken,
}

impl<R, W> Link<R, W>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    pub(super) fn new(
        input: R,
        output: W,
        message_room: MessageRoom,
        closed: CancellationToken,
        ready: CancellationToken,
    ) -> Arc<Self> {
        let backlog = Arc::<Backlog>::default();
        Arc::new(Self {
            lines: tokio::sync::Mutex::new(LineReader::new(
                BufReader::with_capacity(READ_BYTES, input),
                MAX_LINE_BYTES,
            )),
            output: Output::new(Counted::new(output, Arc::clone(&backlog))),
            backlog,
            message_room,
            open: Open::default(),
            said_open: Once::new(),
            batches: Batches::default(),
            refusals: Arc::new(Semaphore::new(REFUSALS)),
            next: Mutex::default(),
            closed,
            ready,
        })
    }
}

impl<R, W> Link<R, W> {
    /// Waits until more may be read from the agent.
    async fn room(&self) -> Result<(), Stalled> {
        // Nearly all of these are answered in a moment.
        while self.open.len() > MAX_OPEN_REQUESTS {
            self.said_open.call_once(|| {
                client_log::warn(&format!(
                    "`{MAX_OPEN_REQUESTS}` requests of the client have no answer yet: what it sends \
                     is read when fewer of them have none"
                ));
            });
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        self.backlog.room().await
    }

    /// Takes the message that the next service has to begin with, when one has ended.
    pub(super) fn next(&self) -> Option<Box<ClientJsonRpcMessage>> {
        self.next.lock().take()
    }
}

/// A line that is read as soon as there is room for its message.
struct WaitingLine {
    text: String,
    /// Bytes that the message takes while it is on its way.
    bytes: usize,
    /// End of the wait for room.
    until: Instant,
}

/// Messages of one service of rmcp. Another service goes on after a late handshake: rmcp's own
/// cannot change from one era to the other.
pub(super) struct Wire<R, W> {
    link: Arc<Link<R, W>>,
    stage: Stage,
    /// Messages that were read, and are still to be passed on.
    read: VecDeque<Box<ClientJsonRpcMessage>>,
    /// Next line. Waiting for its room may be given up at any time, and goes on later.
    waiting: Option<WaitingLine>,
    /// Whether the last message had no room, which was logged then.
    is_refusing: bool,
    /// Cancelled when no more messages come to this service.
    over: CancellationToken,
}

impl<R, W> Wire<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Makes the transport of a service, which begins with `first` if that is there.
    pub(super) fn new(
        link: &Arc<Link<R, W>>,
        first: Option<Box<ClientJsonRpcMessage>>,
        over: CancellationToken,
    ) -> Self {
        Self {
            link: Arc::clone(link),
            stage: Stage::Opening,
            read: first.into_iter().collect(),
            waiting: None,
            is_refusing: false,
            over,
        }
    }

    /// Returns a message that was read, if it is for rmcp.
    fn passed(&mut self, message: Box<ClientJsonRpcMessage>) -> Option<ClientJsonRpcMessage> {
        match (&self.stage, &*message) {
            (Stage::Opening, JsonRpcMessage::Request(request)) => {
                self.stage = Stage::after(&request.request);
            }
            // Nothing but a request can begin a connection. Whatever comes before is
            // of no use to anybody, but no reason to hang up.
            (Stage::Opening, _) => return None,
            (Stage::Stateless, _) => {
                if let Some(id) = handshake(&message).cloned() {
                    self.stage = Stage::Leaving(message, id, Instant::now() + LEAVING);
                    self.over.cancel();
                    return None;
                }
            }
            (_, JsonRpcMessage::Notification(notification)) => {
                // A request of a batch that gets no answer.
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                    && let Some(line) = self.link.batches.ended(id, None)
                {
                    self.say(line);
                }
            }
            _ => {}
        }
        Some(*message)
    }

    /// Notes whether there is room for a line, and logs once where there is none any more.
    fn say_room(&mut self, room: &Result<TakenRoom, NoRoom>) {
        match room {
            Ok(_) => self.is_refusing = false,
            Err(NoRoom::Now(_)) if self.is_refusing => {}
            Err(no_room) => {
                self.is_refusing = matches!(no_room, NoRoom::Now(_));
                client_log::warn(&format!("a message was refused: {no_room}"));
            }
        }
    }

    /// Reads several messages that came together, and share their room.
    fn begin(&mut self, messages: Vec<String>, room: &Result<TakenRoom, NoRoom>) {
        let mut batch = Batch::default();
        for message in messages {
            let mut read = read(message, room);
            if let Incoming::Message(message) = &read
                && let Some(id) = handshake(message).cloned()
            {
                let why = "`initialize` may not be part of a batch";
                read = Incoming::Refused(Some(id), ErrorData::invalid_request(why, None));
            }
            let read = self.link.open.checked(read);
            match read {
                Incoming::Message(message) => {
                    if let JsonRpcMessage::Request(request) = &*message {
                        batch.request(request.id.clone());
                    }
                    self.read.push_back(message);
                }
                Incoming::Refused(id, error) => {
                    let refused = ServerJsonRpcMessage::error(error, id.clone());
                    if let Ok(line) = OutgoingLine::of(&refused) {
                        batch.answer(id.as_ref(), line.json());
                    }
                }
                Incoming::Nothing => {}
            }
        }
        if let Some(line) = self.link.batches.wait(batch) {
            self.say(line);
        }
    }

    /// Returns the next line, or the error for one that is not text; none at the end. Cancel safe.
    async fn line(&self) -> Option<Result<WaitingLine, ErrorData>> {
        let link = &self.link;
        if link.room().await.is_err() {
            link.closed.cancel();
            return None;
        }
        let line = link.lines.lock().await.next().await;
        let text = match line.map(incoming::text) {
            Ok(Some(text)) => text,
            Ok(None) => {
                link.closed.cancel();
                return None;
            }
            Err(error) => {
                tracing::warn!("reading from the agent failed: {error}");
                link.closed.cancel();
                return None;
            }
        };
        Some(text.map(|text| WaitingLine {
            bytes: without_blocking(text.len(), || bytes_of_message(text.as_bytes())),
            until: Instant::now() + ROOM_TIMEOUT,
            text,
        }))
    }

    /// Answers an invalid text.
    fn refuse(&self, error: ServerJsonRpcMessage) {
        if let Ok(line) = OutgoingLine::of(&error) {
            self.say(line.text());
        }
    }

    /// Writes a line that does not come from rmcp.
    fn say(&self, line: Vec<u8>) {
        // Whoever sends nonsense and does not read is told of some of it.
        let Ok(place) = self.link.refusals.clone().try_acquire_owned() else {
            return;
        };
        // Reading may be given up at any time, and half a line must not have been
        // written then.
        let link = self.link.clone();
        let waiting = link.backlog.add(line.len());
        tokio::spawn(async move {
            let _held = (place, waiting);
            if let Err(error) = link.output.write(line.into()).await {
                tracing::debug!("an answer could not be sent: {error}");
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
        link.batches.agreed(&message);
        let of_batch = link.batches.request(&message);
        async move {
            let about_tools = matches!(
                &message,
                JsonRpcMessage::Response(response)
                    if matches!(response.result, ServerResult::CustomResult(_))
            );
            let mut message = message;
            let mut line = OutgoingLine::of(&message)?;
            if let JsonRpcMessage::Response(response) = &message
                && link.backlog.has_no_room_for(line.len())
            {
                // The long one is not kept while this waits for its turn.
                message = unread(response.id.clone());
                line = OutgoingLine::of(&message)?;
                client_log::warn(
                    "long results are not sent, because the client does not read those that \
                     are there",
                );
            }
            match of_batch {
                None => {
                    let _waiting = link.backlog.add(line.len());
                    link.output.write(line).await?;
                }
                Some(id) => {
                    if let Some(line) = link.batches.ended(&id, Some(line.json())) {
                        let _waiting = link.backlog.add(line.len());
                        link.output.write(line.into()).await?;
                    }
                }
            }
            if about_tools {
                link.ready.cancel();
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let link = self.link.clone();
        loop {
            while let Some(message) = self.read.pop_front() {
                if let Some(message) = self.passed(message) {
                    return Some(message);
                }
            }
            if let Stage::Leaving(_, id, until) = &self.stage {
                // Whoever has not ended by then never will.
                let _ = tokio::time::timeout_at(*until, link.open.all_but(id)).await;
                return None;
            }
            if self.waiting.is_none() {
                match self.line().await? {
                    Ok(line) => self.waiting = Some(line),
                    Err(error) => {
                        self.refuse(ServerJsonRpcMessage::error(error, None));
                        continue;
                    }
                }
            }
            let Some(WaitingLine { bytes, until, .. }) = self.waiting else {
                continue;
            };
            let room = link.message_room.wait(bytes, until).await;
            let Some(WaitingLine { text, .. }) = self.waiting.take() else {
                continue;
            };
            self.say_room(&room);
            let read = without_blocking(text.len(), || match link.batches.messages(&text) {
                Some(Ok(messages)) => Err(messages),
                Some(Err(error)) => Ok(Incoming::Refused(None, error)),
                None => Ok(read(text, &room)),
            });
            let read = match read {
                Ok(read) => read,
                Err(messages) => {
                    self.begin(messages, &room);
                    continue;
                }
            };
            match link.open.checked(read) {
                Incoming::Message(message) => self.read.push_back(message),
                Incoming::Refused(id, error) => {
                    self.refuse(ServerJsonRpcMessage::error(error, id));
                }
                Incoming::Nothing => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.stage, Stage::Session) {
            // The streams are the next service's.
            Stage::Leaving(initialize, ..) => {
                *self.link.next.lock() = Some(initialize);
                Ok(())
            }
            _ => self.link.output.close().await,
        }
    }
}
