//! Answers at each path: `/mcp`, `/health` and `/ready`.
//!
//! No other path is served. In particular no `/.well-known/…`: a client that is refused at `/mcp`
//! would take an answer there for a way to log in.

use std::sync::Arc;

use bytes::Bytes;
use dormouse_upstream::without_blocking;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{
    ALLOW, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, ORIGIN, RETRY_AFTER, WWW_AUTHENTICATE,
};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, StatusCode};
use rmcp::model::{ErrorCode, ErrorData, InitializeRequestParams, JsonRpcError, RequestId};
use rmcp::transport::StreamableHttpService;
use rmcp::transport::streamable_http_server::SessionManager as _;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::agent::{Agent, Shared};
use super::answer::{self, Held, Response};
use super::answer_room::AnswerRoom;
use super::bodies::{Bodies, BodyError};
use super::bypass;
use super::connections::Connection;
use super::cors;
use super::fast_path::{FastPathOutcome, RequestParts};
use super::guard::{Guard, Refusal};
use super::header::{doubled, only};
use super::message::{self, Kind};
use super::repeated;
use super::repeated::VERSION;
use super::sessions::{ClaimedRequestId, Sessions, Taken, name_of};
use crate::mcp::client_log;
use crate::mcp::listen;
use crate::mcp::message_room::NoRoom;
use crate::mcp::original::Original;
use crate::mcp::request_params;
use crate::mcp::verbatim;

/// Longest parameters of `initialize`, in bytes: they are kept as long as their session.
const MAX_HANDSHAKE_BYTES: usize = 64 << 10;

/// Path at which MCP is spoken.
pub(super) const PATH: &str = "/mcp";

pub(super) const SESSION: &str = "mcp-session-id";

/// Header with the id of the last event that a client has had of a stream that it comes back to.
const LAST_EVENT: &str = "last-event-id";

/// State that every request needs.
pub(super) struct Endpoint {
    pub(super) guard: Guard,
    pub(super) shared: Shared,
    pub(super) sessions: Sessions,
    pub(super) service: StreamableHttpService<Agent, Sessions>,
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
        if let Some(name) = doubled(request.headers()) {
            let why = format!("the header `{name}` is there more than once\n");
            return answer::text(StatusCode::BAD_REQUEST, why);
        }
        match *request.method() {
            Method::POST => {
                let answered = self.post(connection, request).await;
                answered.unwrap_or_else(|refused| *refused)
            }
            Method::DELETE => self.end(request).await,
            Method::GET if self.is_over(request.headers()) => {
                // A stream that ends at once is to clients one that has broken: they come back for
                // it, without end, and some without the id, to replace their stream of news.
                let why = "nothing comes after that event\n";
                let mut response = answer::text(StatusCode::METHOD_NOT_ALLOWED, why);
                let allowed = HeaderValue::from_static("POST, DELETE");
                response.headers_mut().insert(ALLOW, allowed);
                response
            }
            _ => {
                let mut held = Held {
                    busy: connection.busy(),
                    _running: None,
                    _place: None,
                };
                held.busy.listens();
                answer::hold(self.pass(request).await, held)
            }
        }
    }

    async fn post(
        &self,
        connection: &Connection,
        request: Request<Incoming>,
    ) -> Result<Response, Box<Response>> {
        let (parts, body) = request.into_parts();
        if !is_json(&parts.headers) {
            let message = "the `Content-Type` has to be `application/json`\n";
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(Box::new(answer::text(status, message)));
        }
        let body = self.read(&parts.headers, body).await?;
        match self.batch(&parts.headers, &body) {
            Some(messages) => Ok(self.together(connection, parts, messages?).await),
            None => self.message(connection, parts, body).await,
        }
    }

    /// Answers one message.
    pub(super) async fn message(
        &self,
        connection: &Connection,
        mut parts: Parts,
        body: Bytes,
    ) -> Result<Response, Box<Response>> {
        let mut held = Held {
            busy: connection.busy(),
            _running: None,
            _place: None,
        };
        let message = without_blocking(body.len(), || message::read(&body))
            .map_err(|refused| Box::new(answer::error(StatusCode::BAD_REQUEST, *refused)))?;
        let mut marked = body.clone();
        // It has its id for itself until rmcp has it.
        let mut claimed = None;
        match &message.kind {
            Kind::Request { id, method } => {
                let params = body.get(message.params.clone()).unwrap_or_default();
                claimed = self.admit(&parts.headers, id, (method, params))?;
                let tracker = if method == listen::METHOD {
                    held.busy.listens();
                    &self.listening
                } else {
                    &self.running
                };
                held._running = Some(tracker.token());
                let schema = |name: &str| self.shared.schema(name);
                let concerned = bypass::is_concerned(method, &parts.headers);
                let params = concerned
                    .then(|| without_blocking(params.len(), || request_params::read(params)));
                let params = params.transpose();
                let params = params.map_err(|error| refused_request(id, error))?;
                if let Some(params) = params
                    && repeated::are_in_order(method, &params, &parts.headers, schema)
                {
                    let original = Original::new(body.clone());
                    let asked = RequestParts {
                        id,
                        method,
                        params,
                        original: original.clone(),
                    };
                    let client = match self.quick(asked, &parts, claimed.as_ref()).await {
                        Some(FastPathOutcome::Answered(response)) => {
                            return Ok(answer::hold(response, held));
                        }
                        Some(FastPathOutcome::Begun(handed, name)) => {
                            parts.extensions.insert(handed);
                            name
                        }
                        None => {
                            let claimed = claimed.as_ref();
                            claimed.map(ClaimedRequestId::client).unwrap_or_default()
                        }
                    };
                    // A session counts what it keeps, and not what is on its way.
                    let place = Arc::new(self.answers.place(client));
                    parts.extensions.insert(Arc::clone(&place));
                    held._place = Some(place);
                    parts.extensions.insert(original);
                    marked = bypass::mark(&message, &body, &mut parts.headers);
                }
            }
            Kind::Cancelled(id) => {
                if let Some(session) = session(&parts.headers) {
                    self.sessions.cancel(session, id);
                }
            }
            Kind::Response => marked = verbatim::response_body(&body),
            Kind::Notification => {}
        }
        let id = match message.kind {
            Kind::Request { id, .. } => Some(id),
            Kind::Notification | Kind::Cancelled(_) | Kind::Response => None,
        };
        let request = Request::from_parts(parts, Full::new(marked));
        let response = self.pass(request).await;
        drop(claimed);
        // JSON that is none of its messages: the type of its content is not
        // what is wrong with it.
        if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            let error = ErrorData::invalid_request("this is not a message of MCP", None);
            return Err(Box::new(answer::error(
                StatusCode::BAD_REQUEST,
                JsonRpcError::new(id, error),
            )));
        }
        Ok(answer::hold(response, held))
    }

    /// Ends a session.
    async fn end(&self, request: Request<Incoming>) -> Response {
        if let Some(id) = session(request.headers()) {
            let there = self.sessions.has_session(&id.into()).await;
            if matches!(there, Ok(false)) {
                return answer::no_session();
            }
        }
        let response = self.pass(request).await;
        // It has happened, where rmcp says that it will: some clients take that for a
        // failure.
        if response.status() == StatusCode::ACCEPTED {
            return answer::empty(StatusCode::NO_CONTENT);
        }
        response
    }

    /// Admits a request now, if it may begin. No other request of its id is admitted in its session
    /// as long as the returned value is held.
    fn admit(
        &self,
        headers: &HeaderMap,
        id: &RequestId,
        (method, params): (&str, &[u8]),
    ) -> Result<Option<ClaimedRequestId>, Box<Response>> {
        let refuse = |error| Err(refused_request(id, error));
        let busy = |message: &str| {
            let error = ErrorData::internal_error(message.to_owned(), None);
            let error = JsonRpcError::new(Some(id.clone()), error);
            let mut response = answer::error(StatusCode::SERVICE_UNAVAILABLE, error);
            let soon = HeaderValue::from_static("1");
            response.headers_mut().insert(RETRY_AFTER, soon);
            Err(Box::new(response))
        };
        if self.stopping.is_cancelled() {
            return busy("this server is stopping");
        }
        if only(headers, VERSION).is_err() {
            let why = format!("the header `{VERSION}` is there twice, or is no text");
            return refuse(ErrorData::new(ErrorCode::HEADER_MISMATCH, why, None));
        }
        if method == "initialize" && params.len() > MAX_HANDSHAKE_BYTES {
            let why = format!(
                "the `params` of `initialize` have {} bytes, where {MAX_HANDSHAKE_BYTES} are allowed",
                params.len()
            );
            return refuse(ErrorData::invalid_params(why, None));
        }
        // rmcp would miss the id of a session that is not there yet.
        let handshake = match method {
            "initialize" => serde_json::from_slice::<InitializeRequestParams>(params).map(Some),
            _ => Ok(None),
        };
        let handshake = match handshake {
            Ok(handshake) => handshake,
            Err(_) if repeated::are_wanted(headers) => None,
            Err(error) => {
                let why = format!("the `params` of `initialize` cannot be read: {error}");
                return refuse(ErrorData::invalid_params(why, None));
            }
        };
        match session(headers) {
            Some(session) => self.sessions.claim(session, id).or_else(|Taken| {
                refuse(ErrorData::invalid_request(
                    format!("a request with the id `{id}` is on its way already"),
                    None,
                ))
            }),
            None => {
                let client = handshake.map(|handshake| name_of(&handshake.client_info));
                let room = client.map(|client| self.sessions.make_room(&client));
                match room {
                    Some(Err(no_room)) => busy(&no_room.to_string()),
                    Some(Ok(())) | None => Ok(None),
                }
            }
        }
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

    /// Checks whether a client comes back to a stream that has nothing more for it.
    fn is_over(&self, headers: &HeaderMap) -> bool {
        let (Some(session), Some(after)) = (session(headers), headers.get(LAST_EVENT)) else {
            return false;
        };
        let after = after.to_str().unwrap_or_default();
        self.sessions.is_over(session, after)
    }

    /// Lets rmcp answer.
    async fn pass<B>(&self, request: Request<B>) -> Response
    where
        B: http_body::Body + Send + 'static,
        B::Error: std::fmt::Display,
    {
        // What waits there is large, and most requests never come here.
        Box::pin(self.service.handle(request)).await.map(Into::into)
    }
}

/// Returns the response at a path where there is nothing to do: the text to `GET` and `HEAD`, and
/// an error to other methods.
fn said(method: &Method, status: StatusCode, what: &'static str) -> Response {
    if matches!(*method, Method::GET | Method::HEAD) {
        return answer::text(status, what);
    }
    let mut response = answer::empty(StatusCode::METHOD_NOT_ALLOWED);
    let allowed = HeaderValue::from_static("GET, HEAD");
    response.headers_mut().insert(ALLOW, allowed);
    response
}

fn refused(refusal: &Refusal) -> Response {
    tracing::debug!("a request was refused: {refusal}");
    let mut response = answer::text(refusal.status(), format!("{refusal}\n"));
    if let Some(challenge) = refusal.challenge() {
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    response
}

fn refused_request(id: &RequestId, error: ErrorData) -> Box<Response> {
    let error = JsonRpcError::new(Some(id.clone()), error);
    Box::new(answer::error(StatusCode::BAD_REQUEST, error))
}

pub(super) fn session(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION)?.to_str().ok()
}

fn is_json(headers: &HeaderMap) -> bool {
    let said = headers
        .get(CONTENT_TYPE)
        .and_then(|said| said.to_str().ok());
    said.and_then(|said| said.split(';').next())
        .is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}
