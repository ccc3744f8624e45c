//! Lines of JSON to and from an agent.
//!
//! rmcp's own transport would do but for four things: a result that is JSON text
//! already goes out as it is, byte for byte; a request's text is kept with it; the end of the input is
//! noticed at once, so that running calls can be ended; and a message that makes
//! no sense is answered under its id.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io;
use std::sync::{Arc, PoisonError};

use futures::StreamExt as _;
use rmcp::ErrorData;
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, GetExtensions as _, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, Semaphore};
use tokio_util::codec::FramedRead;
use tokio_util::sync::CancellationToken;

use super::lines::{Input, LONGEST, Lines};
use super::original::Original;
use super::verbatim::{self, Text};
use crate::json;

/// How many refusals of nonsense may wait to be written.
const REFUSALS: usize = 64;

/// One connection's messages.
pub(super) struct Wire<R, W> {
    lines: FramedRead<R, Lines>,
    output: Arc<Mutex<Option<W>>>,
    /// The requests that have no answer yet.
    open: Arc<Open>,
    /// How many refusals may wait to be written.
    refusals: Arc<Semaphore>,
    /// Whether a request has been read.
    begun: bool,
    /// Cancelled when the input ends.
    closed: CancellationToken,
    /// Cancelled when the first answer about tools has gone out.
    ready: CancellationToken,
}

impl<R, W> Wire<R, W>
where
    R: AsyncRead,
{
    pub(super) fn new(
        input: R,
        output: W,
        closed: CancellationToken,
        ready: CancellationToken,
    ) -> Self {
        Self {
            lines: FramedRead::new(input, Lines::default()),
            output: Arc::new(Mutex::new(Some(output))),
            open: Arc::default(),
            refusals: Arc::new(Semaphore::new(REFUSALS)),
            begun: false,
            closed,
            ready,
        }
    }
}

impl<R, W> Transport<RoleServer> for Wire<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = self.output.clone();
        let ready = self.ready.clone();
        match &message {
            JsonRpcMessage::Response(response) => self.open.end(&response.id),
            JsonRpcMessage::Error(error) => error.id.iter().for_each(|id| self.open.end(id)),
            _ => {}
        }
        async move {
            let about_tools = matches!(
                &message,
                JsonRpcMessage::Response(response)
                    if matches!(response.result, ServerResult::CustomResult(_))
            );
            write(&output, encode(&message)?).await?;
            if about_tools {
                ready.cancel();
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let line = match self.lines.next().await {
                Some(Ok(line)) => line,
                Some(Err(error)) => {
                    tracing::warn!("reading from the agent failed: {error}");
                    self.closed.cancel();
                    return None;
                }
                None => {
                    self.closed.cancel();
                    return None;
                }
            };
            match self.open.checked(decode(line)) {
                // Nothing but a request can begin a connection. Whatever comes
                // before is of no use to anybody, but no reason to hang up.
                Decoded::Message(message)
                    if self.begun || matches!(*message, JsonRpcMessage::Request(_)) =>
                {
                    self.begun = true;
                    return Some(*message);
                }
                Decoded::Message(_) | Decoded::Nothing => {}
                Decoded::Refused(id, error) => {
                    // This future may be dropped at any await, and half a line
                    // must not have been written then.
                    let output = self.output.clone();
                    // Whoever sends nonsense and does not read is told of some of it.
                    let Ok(place) = self.refusals.clone().try_acquire_owned() else {
                        continue;
                    };
                    tokio::spawn(async move {
                        let _place = place;
                        let message = ServerJsonRpcMessage::error(error, id);
                        let sent = match encode(&message) {
                            Ok(line) => write(&output, line).await,
                            Err(error) => Err(error),
                        };
                        if let Err(error) = sent {
                            tracing::debug!("a refusal could not be sent: {error}");
                        }
                    });
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        match self.output.lock().await.take() {
            Some(mut output) => output.shutdown().await,
            None => Ok(()),
        }
    }
}

/// The ids of requests that have no answer yet.
#[derive(Default)]
struct Open(std::sync::Mutex<HashSet<RequestId>>);

impl Open {
    /// Refuses a request whose id another one has: rmcp would answer only one of
    /// them, and nobody could tell which.
    fn checked(&self, decoded: Decoded) -> Decoded {
        let Decoded::Message(message) = &decoded else {
            return decoded;
        };
        match &**message {
            JsonRpcMessage::Request(request) if !self.ids().insert(request.id.clone()) => {
                let id = request.id.clone();
                let why = format!("the id `{id}` is that of a request without an answer yet");
                Decoded::Refused(Some(id), ErrorData::invalid_request(why, None))
            }
            JsonRpcMessage::Notification(notification) => {
                // Such a request gets no answer.
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.end(id);
                }
                decoded
            }
            _ => decoded,
        }
    }

    fn end(&self, id: &RequestId) {
        self.ids().remove(id);
    }

    fn ids(&self) -> std::sync::MutexGuard<'_, HashSet<RequestId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn write<W: AsyncWrite + Unpin>(output: &Mutex<Option<W>>, line: Line<'_>) -> io::Result<()> {
    let mut output = output.lock().await;
    let Some(output) = output.as_mut() else {
        return Err(io::ErrorKind::NotConnected.into());
    };
    for part in [&line.head, line.verbatim.as_bytes(), &line.tail] {
        output.write_all(part).await?;
    }
    output.flush().await
}

/// A message as a line, with its end. In parts, because a list of tools is large
/// and need not be copied once more.
#[derive(Default)]
struct Line<'a> {
    head: Vec<u8>,
    verbatim: Cow<'a, str>,
    tail: Vec<u8>,
}

fn encode(message: &ServerJsonRpcMessage) -> io::Result<Line<'_>> {
    let mut head = b"{\"jsonrpc\":\"2.0\",\"id\":".to_vec();
    let text = match (message, verbatim::text(message)) {
        (JsonRpcMessage::Response(response), Some(Text::Result(text))) => {
            serde_json::to_writer(&mut head, &response.id)?;
            head.extend_from_slice(b",\"result\":");
            text
        }
        (JsonRpcMessage::Request(request), Some(Text::Params(method, text))) => {
            serde_json::to_writer(&mut head, &request.id)?;
            head.extend_from_slice(b",\"method\":");
            serde_json::to_writer(&mut head, method)?;
            head.extend_from_slice(b",\"params\":");
            text
        }
        _ => return whole(message),
    };
    Ok(Line {
        head,
        verbatim: json::on_one_line(text),
        tail: b"}\n".to_vec(),
    })
}

fn whole(message: &ServerJsonRpcMessage) -> io::Result<Line<'static>> {
    let mut head = serde_json::to_vec(message)?;
    if matches!(message, JsonRpcMessage::Error(_)) {
        head = verbatim::unfolded(head.into()).into();
    }
    head.push(b'\n');
    Ok(Line {
        head,
        ..Line::default()
    })
}

enum Decoded {
    Message(Box<ClientJsonRpcMessage>),
    Refused(Option<RequestId>, ErrorData),
    Nothing,
}

fn decode(line: Input) -> Decoded {
    let line = match line {
        Input::Text(line) => line,
        Input::TooLong => {
            tracing::warn!("a message of more than {LONGEST} bytes was dropped");
            let message = format!("a message may have at most {LONGEST} bytes");
            return Decoded::Refused(None, ErrorData::invalid_request(message, None));
        }
        Input::NotUtf8 => {
            tracing::warn!("a line is not UTF-8");
            let message = "the line is not UTF-8";
            return Decoded::Refused(None, ErrorData::parse_error(message, None));
        }
    };
    let text = line.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Decoded::Nothing;
    }
    match serde_json::from_str::<ClientJsonRpcMessage>(text) {
        Ok(mut message) => {
            match &mut message {
                JsonRpcMessage::Request(request)
                    if Original::is_kept_of(request.request.method()) =>
                {
                    let original = Original::new(line);
                    request.request.extensions_mut().insert(original);
                }
                JsonRpcMessage::Response(response) => verbatim::response(response, text),
                _ => {}
            }
            Decoded::Message(Box::new(message))
        }
        Err(error) => match serde_json::from_str::<Value>(text) {
            Ok(value) => refuse(&value),
            Err(_) => {
                tracing::warn!("a line is not JSON: {error}");
                let message = format!("the line is not JSON: {error}");
                Decoded::Refused(None, ErrorData::parse_error(message, None))
            }
        },
    }
}

/// The answer to JSON that is no message.
fn refuse(value: &Value) -> Decoded {
    // A notification has no id, and nobody waits for an answer to one.
    if value.get("method").is_some() && value.get("id").is_none() {
        tracing::debug!("a notification that makes no sense was dropped");
        return Decoded::Nothing;
    }
    let id = value
        .get("id")
        .and_then(|id| serde_json::from_value(id.clone()).ok());
    let message = if value.is_array() {
        "batches are not part of this protocol: send one message a line"
    } else {
        "this is not a JSON-RPC 2.0 message of MCP"
    };
    Decoded::Refused(id, ErrorData::invalid_request(message, None))
}
