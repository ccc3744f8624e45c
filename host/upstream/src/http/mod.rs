//! Upstreams that speak MCP over HTTP: messages as they are, over whichever of MCP's
//! two HTTP transports the server knows.
//!
//! Nothing is connected to, and no client made, before the first message is sent, unless the
//! configuration names the older transport.

mod annotations;
mod body;
mod credentials;
mod cursor;
mod endpoint;
mod event;
mod event_parser;
mod events;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod headers;
mod inbox;
mod message;
mod sse;
mod streamable;
#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use dormouse_egress::shown_url;
use dormouse_launch::{Http, HttpTransport};
use futures::future::BoxFuture;
use reqwest::Response;

pub(crate) use credentials::Credentials;
use endpoint::UpstreamEndpoint;
use inbox::Inbox;
pub(crate) use message::{excerpt, reading_error};
use sse::Sse;
use streamable::{SendFailure, Streamable};

use super::Lost;
use crate::messages::channel::{Channel, MessageSender, Outgoing, ReceivedMessage};
use crate::messages::read_room::ReadRoom;

/// Time that a server may take to begin an answer that needs no work. Some are started only then,
/// far away. The tests do not wait that long for one that hangs.
const RESPONSE_HEAD_TIMEOUT: Duration = Duration::from_secs(if cfg!(test) { 2 } else { 60 });

/// Connects to an upstream over HTTP: with [`HttpTransport::Sse`] by opening its
/// stream, else without saying anything before the first message is sent.
///
/// # Errors
/// The URL or a header is not valid, or the stream cannot be opened.
pub(super) async fn connect(
    http: &Http,
    auth: Option<Arc<dyn Credentials>>,
    room: &ReadRoom,
) -> Result<Channel, Lost> {
    let endpoint = Arc::new(UpstreamEndpoint::new(http, auth, room)?);
    let (inbox, incoming) = Inbox::new(room.message_bytes());
    let inbox = Arc::new(inbox);
    let old = OnceLock::new();
    if http.transport == HttpTransport::Sse {
        let sse = Sse::open(Arc::clone(&endpoint), Arc::clone(&inbox)).await;
        let sse = sse.map_err(|lost| endpoint.redacted(lost))?;
        let _ = old.set(sse);
    }
    let connection = Arc::new(HttpUpstreamConnection {
        streamable: Arc::new(Streamable::new(endpoint, inbox)),
        old,
        transport: http.transport,
    });
    Ok(Channel {
        sender: Arc::new(HttpSender(connection)),
        incoming,
    })
}

/// A connection over whichever transport the server has turned out to know.
struct HttpUpstreamConnection {
    streamable: Arc<Streamable>,
    /// The old transport, once it is known that the server speaks only that.
    old: OnceLock<Sse>,
    transport: HttpTransport,
}

impl HttpUpstreamConnection {
    async fn send(&self, message: &Outgoing) -> Result<(), Lost> {
        if let Some(old) = self.old.get() {
            return old.post(message).await;
        }
        let (why, answer) = match self.streamable.post(message).await {
            Ok(()) => return Ok(()),
            Err(SendFailure::Lost(lost)) => return Err(lost),
            Err(SendFailure::Unknown { why, answer }) => (why, answer),
        };
        let inbox = &self.streamable.inbox;
        let first = message.method.as_deref() == Some("initialize");
        let mut also = String::new();
        if first && self.transport == HttpTransport::Auto {
            let endpoint = Arc::clone(&self.streamable.endpoint);
            match Sse::open(endpoint, Arc::clone(inbox)).await {
                Ok(sse) => return self.old.get_or_init(|| sse).post(message).await,
                Err(Lost::Broken(old)) => also = format!("; nor is there a stream: {old}"),
                Err(lost) => return Err(lost),
            }
        }
        let answer = match (answer, message.id) {
            // Whoever asks for the newest era is answered in the words of one who
            // does not know it, and goes on with the older one.
            (None, Some(id)) if !first => message::error(id, -32601, &why),
            (answer, _) => answer,
        };
        match answer {
            Some(answer) => inbox.put(ReceivedMessage::new(answer)).await,
            None => Err(Lost::Broken(format!("{why}{also}"))),
        }
    }
}

/// Sender that the peer holds. The connection ends with it.
struct HttpSender(Arc<HttpUpstreamConnection>);

impl MessageSender for HttpSender {
    fn send(&self, message: Outgoing) -> BoxFuture<'static, Result<(), Lost>> {
        let connection = Arc::clone(&self.0);
        Box::pin(async move {
            let inbox = &connection.streamable.inbox;
            let sent = inbox.during(connection.send(&message)).await.flatten();
            let sent = sent.map_err(|lost| connection.streamable.endpoint.redacted(lost));
            if let Err(lost) = &sent {
                inbox.note(&lost.to_string());
            }
            sent
        })
    }

    fn close(&self) -> BoxFuture<'static, ()> {
        let connection = Arc::clone(&self.0);
        Box::pin(async move {
            connection
                .streamable
                .inbox
                .close("the connection has been closed");
            connection.streamable.close().await;
        })
    }

    fn end_reason(&self) -> String {
        let streamable = &self.0.streamable;
        let shown = || {
            format!(
                "`{}` says nothing any more",
                shown_url(streamable.endpoint.url())
            )
        };
        let said = streamable.inbox.end_reason().unwrap_or_else(shown);
        streamable.endpoint.redact(&said)
    }
}

impl Drop for HttpSender {
    fn drop(&mut self) {
        self.0
            .streamable
            .inbox
            .close("the connection has been closed");
    }
}

/// Returns an error's text for an answer that is none, and the answer's body.
async fn unexpected(endpoint: &UpstreamEndpoint, response: Response) -> (String, String) {
    let shown = shown_url(response.url());
    let status = response.status();
    let retry = response.headers().get(reqwest::header::RETRY_AFTER);
    let retry = retry
        .and_then(|value| value.to_str().ok())
        .map(|value| message::excerpt(&endpoint.redact(value)));
    let body = body::explanation(response).await;
    let mut why = format!("`{shown}` has answered {status}");
    let excerpt = message::excerpt(&endpoint.redact(&body));
    if !excerpt.is_empty() {
        why.push_str(&format!(": `{excerpt}`"));
    }
    if let Some(retry) = retry {
        why.push_str(&format!(
            "\nhint: the server wants to be asked again later (`{retry}`)"
        ));
    }
    (why, body)
}
