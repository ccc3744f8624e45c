//! Lines of an agent, as messages.

use std::collections::VecDeque;
use std::sync::{Arc, Once};
use std::time::Duration;

use dormouse_jsonrpc::{Envelope, Line, LineReader, MessageLimits, Unreadable};
use dormouse_upstream::without_blocking;
use rmcp::model::RequestId;
use tokio::io::{AsyncRead, AsyncWrite, BufReader};
use tokio::time::Instant;

use super::batch::StdioBatch;
use super::client::StdioClient;
use crate::mcp::client::client_log;
use crate::mcp::client::unanswered_questions::QuestionOutcome;
use crate::mcp::messages::client_message::{
    ClientMessage, ClientNotification, unreadable, without_mark,
};
use crate::mcp::messages::client_request::{ClientRequest, Original, id_of};
use crate::mcp::messages::error_object::ErrorObject;
use crate::mcp::messages::message_room::{
    MessageRoom, NoMessageRoom, ROOM_TIMEOUT, TakenRoom, bytes_of_message,
};

/// Longest line that is read, in bytes.
pub(in crate::mcp) const MAX_LINE_BYTES: usize = 16 << 20;

/// Number of bytes of the input that are read at once.
const READ_BYTES: usize = 64 << 10;

/// Most requests that may have no answer yet; beyond that reading pauses. Far fewer calls may run
/// at once, and others are refused at once.
pub(in crate::mcp) const MAX_OPEN_REQUESTS: usize = 16_384;

/// Message in a line.
pub(in crate::mcp) enum Incoming {
    Request(Box<ClientRequest>),
    Notification(ClientNotification),
    /// The answer to a question.
    Response(RequestId, QuestionOutcome),
    /// The line has no usable message; with the id of the answer, and the error in it.
    Refused(Option<RequestId>, ErrorObject),
    Nothing,
}

/// Messages that an agent sends.
pub(super) struct StdioInput<R, W> {
    lines: LineReader<BufReader<R>>,
    client: Arc<StdioClient<W>>,
    /// Memory of messages that were read and are not dealt with yet.
    message_room: MessageRoom,
    /// Messages that came together with one that was returned.
    read: VecDeque<Incoming>,
    /// Whether the last message had no room, which was logged then.
    is_refusing: bool,
    /// Makes the warning about too many open requests come once.
    said_open: Once,
}

impl<R, W> StdioInput<R, W>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(input: R, client: Arc<StdioClient<W>>, message_room: MessageRoom) -> Self {
        let input = BufReader::with_capacity(READ_BYTES, input);
        Self {
            lines: LineReader::new(input, MAX_LINE_BYTES),
            client,
            message_room,
            read: VecDeque::new(),
            is_refusing: false,
            said_open: Once::new(),
        }
    }

    /// Returns the next message that is to be dealt with; none at the end of the input. What is no
    /// message is answered here. May be given up only when nothing more is to be read.
    pub(super) async fn next(&mut self) -> Option<Incoming> {
        loop {
            if let Some(read) = self.read.pop_front() {
                return Some(read);
            }
            let text = match self.line().await? {
                Ok(text) => text,
                Err(error) => {
                    self.client.refuse(None, &error);
                    continue;
                }
            };
            let bytes = without_blocking(text.len(), || bytes_of_message(text.as_bytes()));
            let until = Instant::now() + ROOM_TIMEOUT;
            let room = self.message_room.wait(bytes, until).await;
            self.say_room(&room);
            let may_be_batch = text.trim_start().starts_with('[');
            let batches = &self.client.batches;
            let batch = || may_be_batch.then(|| batches.messages(&text)).flatten();
            let read = without_blocking(text.len(), || match batch() {
                Some(Ok(messages)) => Err(messages),
                Some(Err(error)) => Ok(Incoming::Refused(None, error)),
                None => Ok(Incoming::within(&text, &room)),
            });
            let read = match read {
                Ok(read) => self.checked(read),
                Err(messages) => {
                    self.begin(&messages, &room);
                    continue;
                }
            };
            match read {
                Incoming::Refused(id, error) => self.client.refuse(id.as_ref(), &error),
                Incoming::Nothing => {}
                read => return Some(read),
            }
        }
    }

    /// Waits until more may be read, and returns the next line, or the error for one that is not text;
    /// none at the end.
    async fn line(&mut self) -> Option<Result<String, ErrorObject>> {
        self.room().await;
        if self.client.backlog.room().await.is_err() {
            return None;
        }
        match self.lines.next().await.map(text) {
            Ok(text) => text,
            Err(error) => {
                tracing::warn!("reading from the agent failed: {error}");
                None
            }
        }
    }

    /// Waits until fewer requests have no answer.
    async fn room(&mut self) {
        // Nearly all of these are answered in a moment.
        while self.client.in_flight.len() > MAX_OPEN_REQUESTS {
            self.said_open.call_once(|| {
                client_log::warn(&format!(
                    "`{MAX_OPEN_REQUESTS}` requests of the client have no answer yet: what it sends \
                     is read when fewer of them have none"
                ));
            });
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Notes whether there is room for a line, and logs once where there is none any more.
    fn say_room(&mut self, room: &Result<TakenRoom, NoMessageRoom>) {
        match room {
            Ok(_) => self.is_refusing = false,
            Err(NoMessageRoom::Now(_)) if self.is_refusing => {}
            Err(no_room) => {
                self.is_refusing = matches!(no_room, NoMessageRoom::Now(_));
                client_log::warn(&format!("a message was refused: {no_room}"));
            }
        }
    }

    /// Refuses a request whose id is that of another one without an answer. Notes all others.
    fn checked(&self, read: Incoming) -> Incoming {
        match read {
            Incoming::Request(mut request) => match self.client.in_flight.begin(&request.id) {
                Some(cancel) => {
                    request.cancel = cancel;
                    Incoming::Request(request)
                }
                None => {
                    let id = request.id;
                    let why = format!("the id `{id}` is that of a request without an answer yet");
                    Incoming::Refused(Some(id), ErrorObject::invalid_request(why))
                }
            },
            read => read,
        }
    }

    /// Reads several messages that came together, and share their room.
    fn begin(&mut self, messages: &[String], room: &Result<TakenRoom, NoMessageRoom>) {
        let mut batch = StdioBatch::default();
        for message in messages {
            let read = match Incoming::within(message, room) {
                Incoming::Request(request) if request.method == "initialize" => {
                    let why = "`initialize` may not be part of a batch";
                    Incoming::Refused(Some(request.id), ErrorObject::invalid_request(why))
                }
                read => self.checked(read),
            };
            match read {
                Incoming::Refused(id, error) => {
                    batch.answer(id.as_ref(), error.to_message(id.as_ref()));
                }
                Incoming::Nothing => {}
                read => {
                    if let Incoming::Request(request) = &read {
                        batch.request(request.id.clone());
                    }
                    self.read.push_back(read);
                }
            }
        }
        if let Some(answers) = self.client.batches.wait(batch) {
            self.client.say(answers);
        }
    }
}

/// Returns the text of a line; none at the end of the input.
///
/// # Errors
/// The line is too long or not UTF-8; with the error to answer.
pub(in crate::mcp) fn text(line: Line) -> Option<Result<String, ErrorObject>> {
    let line = match line {
        Line::Whole(line) | Line::Unfinished(line) => line,
        Line::TooLong(_) => {
            client_log::warn(&format!(
                "a message of more than {MAX_LINE_BYTES} bytes was dropped"
            ));
            let message = format!("a message may have at most {MAX_LINE_BYTES} bytes");
            return Some(Err(ErrorObject::invalid_request(message)));
        }
        Line::End => return None,
    };
    Some(String::from_utf8(line).map_err(|_| {
        client_log::warn("a line is not UTF-8");
        ErrorObject::parse_error("the line is not UTF-8")
    }))
}

impl Incoming {
    /// Reads a line, if there is room for its message.
    fn within(line: &str, room: &Result<TakenRoom, NoMessageRoom>) -> Self {
        match room {
            Ok(room) => Self::read(line, room),
            Err(no_room) => Self::without_room(line, *no_room),
        }
    }

    /// Reads a line whose message has that room.
    pub(in crate::mcp) fn read(line: &str, room: &TakenRoom) -> Self {
        let text = without_mark(line);
        if text.trim().is_empty() {
            return Self::Nothing;
        }
        match ClientMessage::read(text) {
            Ok(ClientMessage::Request { id, method, params }) => {
                let original = match Original::is_kept_of(&method) {
                    true => Original::new(text.to_owned()),
                    false => Original::default(),
                };
                let read = ClientRequest::read(id.clone(), &method, params, original, room);
                match read {
                    Ok(request) => Self::Request(Box::new(request)),
                    // What no value can hold is no message.
                    Err(error) => {
                        let why = error.message;
                        Self::Refused(Some(id), ErrorObject::invalid_request(why))
                    }
                }
            }
            Ok(ClientMessage::Notification { content, .. }) => {
                content.map_or(Self::Nothing, Self::Notification)
            }
            Ok(ClientMessage::Response(Some(id), outcome)) => Self::Response(id, outcome),
            Ok(ClientMessage::Response(None, _)) => {
                tracing::debug!("an answer that belongs to no question was dropped");
                Self::Nothing
            }
            Err(unreadable) => Self::unreadable(&unreadable),
        }
    }

    /// Returns the treatment of a message for which there is no room. Its values are not built.
    fn without_room(line: &str, no_room: NoMessageRoom) -> Self {
        let text = without_mark(line);
        if text.trim().is_empty() {
            return Self::Nothing;
        }
        match Envelope::read(text, &MessageLimits::default()) {
            Ok(envelope) => {
                let id = envelope.id.as_ref().and_then(id_of);
                let has_method = envelope.method.is_some();
                let is_notification = has_method && envelope.id.is_none();
                Self::answered(id, is_notification, has_method, no_room.error())
            }
            Err(unreadable) => Self::unreadable(&unreadable),
        }
    }

    /// Answers a text that is no message, or beyond a limit: the client that waits for an answer is
    /// told.
    fn unreadable(message: &Unreadable<'_>) -> Self {
        let error = unreadable(&message.error);
        client_log::warn(&error.message);
        let id = message.id.as_ref().and_then(id_of);
        let is_notification = message.has_method && !message.has_id;
        Self::answered(id, is_notification, message.has_method, error)
    }

    /// Returns the treatment of a refused message.
    fn answered(
        id: Option<RequestId>,
        is_notification: bool,
        has_method: bool,
        error: ErrorObject,
    ) -> Self {
        match id {
            // Nobody waits for an answer to one.
            _ if is_notification => Self::Nothing,
            // An answer: whoever has asked is told that there is none.
            Some(id) if !has_method => Self::Response(id, Err(error)),
            id => Self::Refused(id, error),
        }
    }
}

#[cfg(test)]
mod tests;
