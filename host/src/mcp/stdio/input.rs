//! Lines of an agent, as messages.

use std::collections::VecDeque;
use std::sync::{Arc, Once};
use std::time::Duration;

use dormouse_jsonrpc::LineReader;
use dormouse_upstream::without_blocking;
use tokio::io::{AsyncRead, AsyncWrite, BufReader};
use tokio::time::Instant;

use super::batch::StdioBatch;
use super::client::StdioClient;
use super::incoming::{self, Incoming, MAX_LINE_BYTES};
use crate::mcp::client::client_log;
use crate::mcp::messages::error_object::ErrorObject;
use crate::mcp::messages::message_room::{
    MessageRoom, NoMessageRoom, ROOM_TIMEOUT, TakenRoom, bytes_of_message,
};

/// Number of bytes of the input that are read at once.
const READ_BYTES: usize = 64 << 10;

/// Most requests that may have no answer yet; beyond that reading pauses. Far fewer calls may run
/// at once, and others are refused at once.
pub(in crate::mcp) const MAX_OPEN_REQUESTS: usize = 16_384;

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
            let batches = &self.client.batches;
            let read = without_blocking(text.len(), || match batches.messages(&text) {
                Some(Ok(messages)) => Err(messages),
                Some(Err(error)) => Ok(Incoming::Refused(None, error)),
                None => Ok(read(&text, &room)),
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
        match self.lines.next().await.map(incoming::text) {
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
            let read = match read(message, room) {
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

/// Reads a line, if there is room for its message.
fn read(line: &str, room: &Result<TakenRoom, NoMessageRoom>) -> Incoming {
    match room {
        Ok(room) => Incoming::read(line, room),
        Err(no_room) => Incoming::refused(line, *no_room),
    }
}

#[cfg(test)]
mod tests {
    use dormouse_protocol::Answer;
    use dormouse_tests::logged::logged;
    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    use super::*;

    #[tokio::test]
    async fn a_client_whose_requests_are_not_read_is_told_of_once_in_the_log() {
        let (logged, _guard) = logged();
        let number = MAX_OPEN_REQUESTS + 100;
        let lines = (0..number).map(|id| {
            let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
            format!("{ping}\n")
        });
        let lines = std::io::Cursor::new(lines.collect::<String>());
        let client = StdioClient::new(tokio::io::sink(), CancellationToken::new());
        let room = MessageRoom::new(256 << 20, 16 << 20);
        let mut input = StdioInput::new(lines, client.clone(), room);
        let said = || {
            let lines = logged.lines();
            let said = lines.iter().filter(|line| line.contains("no answer yet"));
            said.count()
        };
        let mut ids = Vec::new();
        for answered in 0..3 {
            let more = async {
                while let Some(message) = input.next().await {
                    if let Incoming::Request(request) = message {
                        ids.push(request.id);
                    }
                }
            };
            let ended = tokio::time::timeout(Duration::from_millis(200), more).await;
            assert!(ended.is_err(), "more are read");
            assert_eq!(ids.len(), MAX_OPEN_REQUESTS + 1 + answered);
            assert_eq!(said(), 1, "{:?}", logged.lines());
            let id = ids[answered].clone();
            let cancel = CancellationToken::new();
            client
                .answer(&id, &cancel, Ok(Answer::Made(json!({}))))
                .await;
        }
    }
}
