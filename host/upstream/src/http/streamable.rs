//! Streamable HTTP (2025-03-26 and later): a POST for each message.

mod answer;
mod listen;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use dormouse_jsonrpc::member;
use parking_lot::Mutex;
use reqwest::{Method, Response, StatusCode};
use serde_json::value::RawValue;
use tokio::sync::{Semaphore, watch};

use super::annotations::HeaderAnnotations;
use super::body::{self, BodyKind};
use super::endpoint::{EndpointRequest, EndpointSession};
use super::events::ReceivedEvents;
use super::message::{self, HttpErrorRefusal};
use super::{Inbox, RESPONSE_HEAD_TIMEOUT, UpstreamEndpoint, headers, unexpected};
use crate::Lost;
use crate::messages::channel::{Outgoing, ReceivedMessage};
use crate::messages::large::without_blocking;

/// Time that the end of a session may take.
const CLOSE_TIME: Duration = Duration::from_secs(5);

/// Most replies to the server's own requests that are on their way at once.
const MAX_REPLIES: usize = 2;

/// A connection over streamable HTTP. It holds no socket of its own.
pub(super) struct Streamable {
    pub(super) endpoint: Arc<UpstreamEndpoint>,
    pub(super) inbox: Arc<Inbox>,
    annotations: HeaderAnnotations,
    known: Mutex<ConnectionState>,
    /// Whether the stream of messages that the server sends by itself is open, or asked for.
    listening: watch::Sender<bool>,
    /// Room for replies to the server's requests that are on their way.
    replying: Semaphore,
}

/// State of the connection, for requests that carry no message.
#[derive(Debug, Clone, Default)]
struct ConnectionState {
    session: Option<EndpointSession>,
    version: Option<String>,
}

/// Reason for which a message has not been taken.
pub(super) enum SendFailure {
    /// Error, as the peer is told it.
    Lost(Lost),
    /// The server does not know the first message: it may speak something older.
    Unknown {
        /// Error that the server has answered with.
        why: String,
        /// Error as the answer to the message, if it can be one.
        answer: Option<Box<RawValue>>,
    },
}

impl From<Lost> for SendFailure {
    fn from(lost: Lost) -> Self {
        Self::Lost(lost)
    }
}

/// Reason for which there is no stream.
enum Closed {
    /// There never will be one.
    ForGood(Lost),
    /// There may be one later.
    ForNow(String),
}

impl Streamable {
    pub(super) fn new(endpoint: Arc<UpstreamEndpoint>, inbox: Arc<Inbox>) -> Self {
        Self {
            endpoint,
            inbox,
            annotations: HeaderAnnotations::default(),
            known: Mutex::default(),
            listening: watch::Sender::new(false),
            replying: Semaphore::new(MAX_REPLIES),
        }
    }

    /// Posts a message, and hands the messages that come back to the peer. Dropping the future ends
    /// the POST, which since 2026-07-28 is what cancels a request.
    pub(super) async fn post(self: &Arc<Self>, message: &Outgoing) -> Result<(), SendFailure> {
        let method = message.method.as_deref();
        let version = message.version.as_deref();
        let modern = headers::is_modern(version);
        if modern && method == Some("notifications/cancelled") {
            // Over HTTP this message no longer exists.
            return Ok(());
        }
        let mut headers = headers::of_post(message);
        if let Some(tool) = message
            .name
            .as_deref()
            .filter(|_| modern && method == Some("tools/call"))
        {
            self.annotations.apply(tool, &message.text, &mut headers);
        }
        let session = self
            .known()
            .session
            .filter(|_| method != Some("initialize"));
        let first = matches!(method, Some("initialize" | "server/discover"));
        let is_reply = method.is_none() && message.id.is_none();
        // A server asks as often as it likes, and each reply is another connection to read.
        let _turn = match is_reply {
            true => self.replying.acquire().await.ok(),
            false => None,
        };
        let response = self
            .endpoint
            .ask(&EndpointRequest {
                method: Method::POST,
                url: None,
                headers,
                body: Bytes::from(message.text.clone()),
                session: session.as_ref(),
                // A call may take as long as it likes, and some servers send nothing,
                // not even headers, before it is done. Its caller has a deadline.
                patience: (message.id.is_none() || first).then_some(RESPONSE_HEAD_TIMEOUT),
            })
            .await?;
        if !response.status().is_success() {
            return self
                .refused(response, message, session.is_some(), first)
                .await;
        }
        {
            let mut known = self.known.lock();
            if method == Some("initialize") {
                known.session = UpstreamEndpoint::session(&response);
            }
            if version.is_some() {
                known.version = message.version.clone();
            }
        }
        let Some(id) = message.id else {
            body::explanation(response).await;
            if method == Some("notifications/initialized") && !modern {
                listen::start(self);
            }
            return Ok(());
        };
        Ok(answer::read(self, response, message, id).await?)
    }

    /// Ends the session, where there is one.
    pub(super) async fn close(&self) {
        let known = std::mem::take(&mut *self.known.lock());
        let Some(session) = known.session else { return };
        let ask = EndpointRequest {
            method: Method::DELETE,
            headers: headers::of_delete(known.version.as_deref()),
            session: Some(&session),
            patience: Some(CLOSE_TIME),
            ..EndpointRequest::default()
        };
        // A server need not let its sessions be ended, and it may have gone itself.
        if let Err(error) = self.endpoint.ask(&ask).await {
            let error = self.endpoint.redacted(error);
            tracing::debug!("the session has not been ended: {error}");
        }
    }

    /// Asks for a stream: of messages that the server sends by itself, or of those that would have
    /// followed an event.
    async fn open(
        &self,
        after: Option<&str>,
        patience: Option<Duration>,
    ) -> Result<ReceivedEvents, Closed> {
        let known = self.known();
        let ask = EndpointRequest {
            headers: headers::of_get(known.version.as_deref(), after),
            session: known.session.as_ref(),
            patience,
            ..EndpointRequest::default()
        };
        let response = match self
            .endpoint
            .ask(&ask)
            .await
            .map_err(|lost| self.endpoint.redacted(lost))
        {
            Ok(response) => response,
            Err(Lost::Broken(why)) => return Err(Closed::ForNow(why)),
            Err(lost) => return Err(Closed::ForGood(lost)),
        };
        let status = response.status();
        if status.is_success() && body::kind(&response) == BodyKind::Events {
            return Ok(ReceivedEvents::new(response, &self.endpoint.read_room));
        }
        if status == StatusCode::NOT_FOUND && known.session.is_some() {
            return Err(Closed::ForGood(Lost::Session));
        }
        let later = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
        let why = unexpected(&self.endpoint, response).await.0;
        Err(match later {
            true => Closed::ForNow(why),
            false => Closed::ForGood(Lost::Broken(why)),
        })
    }

    /// Waits until nothing more can come but answers to POSTs. Returns at once where there is no
    /// other stream.
    async fn listened(&self) {
        let mut listening = self.listening.subscribe();
        // It is ours, so that it does not go.
        let _ = listening.wait_for(|is_listening| !is_listening).await;
    }

    fn known(&self) -> ConnectionState {
        self.known.lock().clone()
    }

    /// Hands messages to the peer. Returns whether one of them answers the request.
    async fn hand_on(
        &self,
        messages: Vec<Box<RawValue>>,
        request: Option<&Outgoing>,
    ) -> Result<bool, Lost> {
        let mut answered = false;
        for message in messages {
            let own = request
                .filter(|request| request.id.is_some_and(|id| message::answers(&message, id)));
            answered |= own.is_some();
            let list = own.filter(|request| {
                request.method.as_deref() == Some("tools/list")
                    && headers::is_modern(request.version.as_deref())
            });
            let message = match list {
                Some(request) => {
                    let params = member(&request.text, "params");
                    let is_first = params.is_none_or(|params| member(params, "cursor").is_none());
                    let bytes = message.get().len();
                    without_blocking(bytes, || {
                        self.annotations
                            .learn(message, is_first, |text| self.endpoint.redact(text))
                    })
                }
                None => message,
            };
            let said = match request.and_then(|request| request.id) {
                Some(id) => ReceivedMessage::about(id, message),
                None => ReceivedMessage::new(message),
            };
            self.inbox.put(said).await?;
        }
        Ok(answered)
    }

    /// Handles an answer that is an error of HTTP.
    async fn refused(
        &self,
        response: Response,
        message: &Outgoing,
        session: bool,
        first: bool,
    ) -> Result<(), SendFailure> {
        let status = response.status();
        let (why, body) = unexpected(&self.endpoint, response).await;
        let refusal = message::refusal(&body, message.id);
        if session && (status == StatusCode::NOT_FOUND || is_lost_session(status, refusal.as_ref()))
        {
            return Err(Lost::Session.into());
        }
        let (addressed, answer) = match refusal {
            Some(refusal) => (refusal.addressed, refusal.answer),
            None => (false, None),
        };
        // A server of the newest era, too, may refuse a version or a header, but it
        // says so in an answer to the request. Any other refusal of what comes first
        // means that the server does not know it.
        let unknown =
            first && status.is_client_error() && !matches!(status.as_u16(), 401 | 403 | 408 | 429);
        if unknown && !addressed {
            return Err(SendFailure::Unknown { why, answer });
        }
        match answer {
            Some(answer) => Ok(self.inbox.put(ReceivedMessage::new(answer)).await?),
            None => Err(Lost::Broken(why).into()),
        }
    }
}

/// Whether a server means that it does not know the session, though it should say so
/// with 404: many have been copied from an example that says 400.
fn is_lost_session(status: StatusCode, refusal: Option<&HttpErrorRefusal>) -> bool {
    status == StatusCode::BAD_REQUEST
        && refusal.is_some_and(|refusal| {
            refusal.code == -32000 && refusal.text.to_ascii_lowercase().contains("session")
        })
}
