//! Answers at each path: `/mcp`, `/health` and `/ready`.
//!
//! No other path is served. In particular no `/.well-known/…`: a client that is refused at `/mcp`
//! would take an answer there for a way to log in.

use std::sync::Arc;

use bytes::Bytes;
use dormouse_upstream::without_blocking;
use futures::StreamExt as _;
use hyper::body::Incoming;
use hyper::header::{
    CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, ORIGIN, RETRY_AFTER, WWW_AUTHENTICATE,
};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, StatusCode};
use rmcp::model::RequestId;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::answers::answer;
use super::answers::answer::{Held, Response};
use super::answers::answer_room::AnswerRoom;
use super::bodies::{Bodies, BodyError};
use super::connections::Connection;
use super::cors;
use super::era::{self, RequestEra};
use super::guard::{Guard, Refusal};
use super::header::{accepts, doubled};
use super::message::{self, Message, Refused};
use super::sessions::{Agent, EventId, Sessions};
use super::shared::Shared;
use crate::mcp::client::client_log;
use crate::mcp::messages::client_request::ClientRequest;
use crate::mcp::messages::error_object::ErrorObject;
use crate::mcp::messages::message_room::{NoRoom, TakenRoom};
use crate::mcp::messages::original::Original;
use crate::mcp::methods::listen;

/// Longest parameters of `initialize`, in bytes: they are kept as long as their session.
const MAX_HANDSHAKE_BYTES: usize = 64 << 10;

/// Path at which MCP is spoken.
pub(super) const PATH: &str = "/mcp";

pub(super) const SESSION: &str = "mcp-session-id";

/// Type of content of a stream.
const EVENTS: &str = "text/event-stream";

/// Header with the id of the last event that a client has had of a stream that it comes back to.
const LAST_EVENT: &str = "last-event-id";

/// State that every request needs.
pub(super) struct Endpoint {
    pub(super) guard: Guard,
    pub(super) shared: Shared,
    pub(super) sessions: Sessions,
    pub(super) bodies: Bodies,
    /// Memory of long answers that are being written.
    pub(super) answers: Arc<AnswerRoom>,
    /// Cancelled when no new request is to be begun.
    pub(super) stopping: CancellationToken,
    /// Requests that will be answered in time.
    pub(super) running: TaskTracker,
    /// Requests that are answered when the server ends.
    pub(super) listening: TaskTracker,
}

impl Endpoint {
    /// Answers a request.
    pub(super) async fn answer(
        &self,
        connection: &Connection,
        request: Request<Incoming>,
    ) -> Response {
        if request.uri().path() == "/health" {
            return said(request.method(), StatusCode::OK, "ok\n");
        }
        let headers = request.headers();
        if let Err(refusal) = self.guard.place(connection.local, request.uri(), headers) {
            return refused(&refusal);
        }
        let origin = headers.get(ORIGIN).cloned();
        let mut response = match request.uri().path() {
            PATH if cors::is_preflight(request.method(), headers) => cors::preflight(headers),
            PATH => match self.guard.token(connection.local, request.uri(), headers) {
                Ok(()) => self.admitted(connection, request).await,
                Err(refusal) => refused(&refusal),
            },
            "/ready" if self.stopping.is_cancelled() => said(
                request.method(),
                StatusCode::SERVICE_UNAVAILABLE,
                "stopping\n",
            ),
            "/ready" => said(request.method(), StatusCode::OK, "ready\n"),
            _ => {
                let why = "there is nothing here; MCP is spoken at /mcp\n";
                answer::text(StatusCode::NOT_FOUND, why)
            }
        };
        if let Some(origin) = origin {
            cors::open(&mut response, origin);
        }
        response
    }

    /// Answers a client that may speak MCP.
    async fn admitted(&self, connection: &Connection, request: Request<Incoming>) -> Response {
        let headers = request.headers();
        if let Some(name) = doubled(headers) {
            let why = format!("the header `{name}` is there more than once\n");
            return answer::text(StatusCode::BAD_REQUEST, why);
        }
        let answered = match *request.method() {
            Method::POST => self.post(connection, request).await,
            Method::GET => self.stream(connection, headers),
            Method::DELETE => self.end(headers),
            _ => Ok(answer::not_allowed(
                "GET, POST, DELETE",
                "use `POST` for messages\n",
            )),
        };
        answered.unwrap_or_else(|refused| *refused)
    }

    async fn post(
        &self,
        connection: &Connection,
        request: Request<Incoming>,
    ) -> Result<Response, Box<Response>> {
        let (Parts { headers, .. }, body) = request.into_parts();
        if !is_json(&headers) {
            let message = "the `Content-Type` has to be `application/json`\n";
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(Box::new(answer::text(status, message)));
        }
        let body = self.read(&headers, body).await?;
        match self.batch(&headers, &body) {
            Some(messages) => Ok(self.together(connection, &headers, messages?).await),
            None => self.message(connection, &headers, body).await,
        }
    }

    /// Answers one message.
    pub(super) async fn message(
        &self,
        connection: &Connection,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Response, Box<Response>> {
        let message = without_blocking(body.len(), || message::read(&body));
        let message = message.map_err(|refused| {
            let Refused { id, error } = *refused;
            answer::error(StatusCode::BAD_REQUEST, id.as_ref(), &error)
        })?;
        if !["application/json", EVENTS]
            .into_iter()
            .all(|kind| accepts(headers, kind))
        {
            let why = "a client has to accept both `application/json` and `text/event-stream`\n";
            return Err(Box::new(answer::text(StatusCode::NOT_ACCEPTABLE, why)));
        }
        match message {
            Message::Request { id, method, params } => {
                self.admit(&id, &method, params)?;
                let tracker = match method == listen::METHOD {
                    true => &self.listening,
                    false => &self.running,
                };
                let mut held = Held {
                    busy: connection.busy(),
                    _running: Some(tracker.token()),
                };
                if method == listen::METHOD {
                    held.busy.listens();
                }
                let read = || {
                    let original = Original::new(body.clone());
                    let named = (id.clone(), method.as_str());
                    ClientRequest::read(named, params, original, &TakenRoom::default())
                };
                let request = without_blocking(params.map_or(0, str::len), read);
                let request = request.map_err(|error| refused_request(&id, error))?;
                let answered = self.request(request, headers).await?;
                Ok(answer::hold(answered, held))
            }
            Message::Notification { method, content } => {
                let has_session = era::has_session(headers).map_err(refused_message)?;
                era::check_notification(&method, headers).map_err(refused_message)?;
                if has_session {
                    let agent = self.agent(headers)?;
                    content.iter().for_each(|content| agent.notified(content));
                }
                Ok(answer::empty(StatusCode::ACCEPTED))
            }
            Message::Response(id, outcome) => {
                if !era::has_session(headers).map_err(refused_message)? {
                    let why = "a client of this version is asked nothing that it could answer";
                    return Err(refused_message(ErrorObject::invalid_request(why)));
                }
                let agent = self.agent(headers)?;
                if let Some(id) = id {
                    agent.session.questions.answered(&id, outcome);
                }
                Ok(answer::empty(StatusCode::ACCEPTED))
            }
        }
    }

    async fn request(
        &self,
        request: ClientRequest,
        headers: &HeaderMap,
    ) -> Result<Response, Box<Response>> {
        tracing::trace!(id = %request.id, method = request.method, "a request has come");
        let schema = |name: &str| self.shared.schema(name);
        let era = era::of_request(&request, headers, schema);
        match era.map_err(|error| refused_request(&request.id, error))? {
            // What waits there is large: a box is moved in no time.
            RequestEra::Stateless(terms) => Ok(Box::pin(self.stateless(request, terms)).await),
            RequestEra::Session => {
                if request.method == "initialize" && session_id(headers).is_none() {
                    return self.open_session(&request);
                }
                let agent = self.agent(headers)?;
                Box::pin(self.in_session(agent, request, headers)).await
            }
        }
    }

    /// Returns the agent of the session that a client names.
    ///
    /// # Errors
    /// It names none, or there is none of that id; with the answer.
    fn agent(&self, headers: &HeaderMap) -> Result<Arc<Agent>, Box<Response>> {
        let Some(id) = session_id(headers) else {
            let why = format!(
                "the header `{SESSION}` is missing\nhint: the answer to `initialize` has its value\n"
            );
            return Err(Box::new(answer::text(StatusCode::BAD_REQUEST, why)));
        };
        let agent = self.sessions.find(id);
        agent.ok_or_else(|| Box::new(answer::no_session()))
    }

    /// Answers a client that wants a stream of a session: that of the messages which answer no
    /// request, or one that it comes back to.
    fn stream(
        &self,
        connection: &Connection,
        headers: &HeaderMap,
    ) -> Result<Response, Box<Response>> {
        if !accepts(headers, EVENTS) {
            let why = "a client has to accept `text/event-stream`\n";
            return Err(Box::new(answer::text(StatusCode::NOT_ACCEPTABLE, why)));
        }
        let agent = self.agent_of_stream(headers)?;
        let reader = match headers.get(LAST_EVENT) {
            None => agent.session.listen(),
            Some(after) => {
                let after = after.to_str().unwrap_or_default().parse::<EventId>();
                match after {
                    Ok(after) if !agent.session.is_over(after) => agent.session.resume(after),
                    // A stream that ends at once is to clients one that has broken: they come back
                    // for it, without end, and some without the id, to replace their stream of news.
                    _ => {
                        let why = "nothing comes after that event\n";
                        return Err(Box::new(answer::not_allowed("POST, DELETE", why)));
                    }
                }
            }
        };
        let mut held = Held {
            busy: connection.busy(),
            _running: None,
        };
        held.busy.listens();
        Ok(answer::hold(answer::events(reader.boxed()), held))
    }

    /// Ends a session.
    fn end(&self, headers: &HeaderMap) -> Result<Response, Box<Response>> {
        self.agent_of_stream(headers)?;
        match session_id(headers).is_some_and(|id| self.sessions.end(id)) {
            true => Ok(answer::empty(StatusCode::NO_CONTENT)),
            false => Err(Box::new(answer::no_session())),
        }
    }

    /// Returns the agent of the session that a request without a message is about.
    ///
    /// # Errors
    /// The version has no sessions, or there is none; with the answer.
    fn agent_of_stream(&self, headers: &HeaderMap) -> Result<Arc<Agent>, Box<Response>> {
        if !era::has_session(headers).map_err(refused_message)? {
            let why = "there are no sessions in this version\n";
            return Err(Box::new(answer::not_allowed("POST", why)));
        }
        self.agent(headers)
    }

    /// Checks whether a request may begin now.
    fn admit(
        &self,
        id: &RequestId,
        method: &str,
        params: Option<&str>,
    ) -> Result<(), Box<Response>> {
        if self.stopping.is_cancelled() {
            return Err(answer::busy(id, "this server is stopping"));
        }
        let bytes = params.map_or(0, str::len);
        if method == "initialize" && bytes > MAX_HANDSHAKE_BYTES {
            let why = format!(
                "the `params` of `initialize` have {bytes} bytes, where {MAX_HANDSHAKE_BYTES} are \
                 allowed"
            );
            return Err(refused_request(id, ErrorObject::invalid_params(why)));
        }
        Ok(())
    }

    /// Reads the whole body, if it may be taken.
    async fn read(&self, headers: &HeaderMap, body: Incoming) -> Result<Bytes, Box<Response>> {
        let length = headers
            .get(CONTENT_LENGTH)
            .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        let read = self.bodies.read(body, length).await;
        read.map_err(|error| {
            let status = match error {
                BodyError::TooLong(_) | BodyError::NoRoom(NoRoom::Ever(_)) => {
                    StatusCode::PAYLOAD_TOO_LARGE
                }
                BodyError::Broken(_) => StatusCode::BAD_REQUEST,
                BodyError::Slow(_) => StatusCode::REQUEST_TIMEOUT,
                BodyError::NoRoom(NoRoom::Now(_)) => StatusCode::SERVICE_UNAVAILABLE,
            };
            let mut response = answer::text(status, format!("{error}\n"));
            if let BodyError::NoRoom(no_room) = error {
                client_log::warn(&format!("a request was refused: {no_room}"));
            }
            if matches!(error, BodyError::NoRoom(NoRoom::Now(_))) {
                let soon = HeaderValue::from_static("1");
                response.headers_mut().insert(RETRY_AFTER, soon);
            }
            Box::new(response)
        })
    }
}

/// Returns the response at a path where there is nothing to do: the text to `GET` and `HEAD`, and
/// an error to other methods.
fn said(method: &Method, status: StatusCode, what: &'static str) -> Response {
    if matches!(*method, Method::GET | Method::HEAD) {
        return answer::text(status, what);
    }
    answer::not_allowed("GET, HEAD", "")
}

fn refused(refusal: &Refusal) -> Response {
    tracing::debug!("a request was refused: {refusal}");
    let mut response = answer::text(refusal.status(), format!("{refusal}\n"));
    if let Some(challenge) = refusal.challenge() {
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    response
}

pub(super) fn refused_request(id: &RequestId, error: ErrorObject) -> Box<Response> {
    Box::new(answer::error(StatusCode::BAD_REQUEST, Some(id), &error))
}

fn refused_message(error: ErrorObject) -> Box<Response> {
    Box::new(answer::error(StatusCode::BAD_REQUEST, None, &error))
}

/// Id of the session that a client names.
pub(super) fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION)?.to_str().ok()
}

fn is_json(headers: &HeaderMap) -> bool {
    let said = headers
        .get(CONTENT_TYPE)
        .and_then(|said| said.to_str().ok());
    said.and_then(|said| said.split(';').next())
        .is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}
