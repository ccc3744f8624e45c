//! What is answered where: `/mcp`, `/health` and `/ready`.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, ORIGIN, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get};
use axum::{Extension, Router};
use bytes::Bytes;
use http_body::Frame;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use rmcp::model::{ErrorData, JsonRpcError, RequestId};
use rmcp::transport::StreamableHttpService;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::agent::{Agent, Shared};
use super::connections::{Busy, Connection};
use super::cors;
use super::guard::{Guard, Refusal};
use super::raw::{self, Kind};
use super::sessions::Sessions;

/// Where MCP is spoken.
pub(super) const PATH: &str = "/mcp";

const SESSION: &str = "mcp-session-id";

/// Everything that a request meets.
pub(super) struct Endpoint {
    pub(super) guard: Guard,
    pub(super) shared: Shared,
    pub(super) sessions: Sessions,
    pub(super) service: StreamableHttpService<Agent, Sessions>,
    /// The longest body, in bytes.
    pub(super) longest: usize,
    /// How long a body may take to arrive.
    pub(super) patience: Duration,
    /// Cancelled when nothing new is to be begun.
    pub(super) stopping: CancellationToken,
    /// Requests that will be answered by and by.
    pub(super) running: TaskTracker,
    /// Requests that are answered when the server ends.
    pub(super) listening: TaskTracker,
}

impl Endpoint {
    pub(super) fn router(self: Arc<Self>) -> Router {
        let guarded = Router::new()
            .route(PATH, any(mcp))
            .route("/ready", get(ready))
            .fallback(|| async {
                (
                    StatusCode::NOT_FOUND,
                    "there is nothing here; MCP is spoken at /mcp\n",
                )
            })
            .layer(middleware::from_fn_with_state(self.clone(), check))
            .with_state(self);
        Router::new()
            .route("/health", get(|| async { "ok\n" }))
            .merge(guarded)
    }
}

async fn ready(State(endpoint): State<Arc<Endpoint>>) -> Response {
    if endpoint.stopping.is_cancelled() {
        (StatusCode::SERVICE_UNAVAILABLE, "stopping\n").into_response()
    } else {
        "ready\n".into_response()
    }
}

/// Lets in who may come in.
async fn check(
    State(endpoint): State<Arc<Endpoint>>,
    Extension(connection): Extension<Connection>,
    request: Request,
    next: Next,
) -> Response {
    let guard = &endpoint.guard;
    let headers = request.headers();
    if let Err(refusal) = guard.place(connection.local, request.uri(), headers) {
        return refused(&refusal);
    }
    let origin = headers.get(ORIGIN).cloned();
    let mut response = if cors::is_preflight(request.method(), headers) {
        cors::preflight(headers)
    } else {
        match guard.token(headers) {
            Ok(()) => next.run(request).await,
            Err(refusal) => refused(&refusal),
        }
    };
    if let Some(origin) = origin {
        cors::open(&mut response, origin);
    }
    response
}

fn refused(refusal: &Refusal) -> Response {
    tracing::debug!("a request was refused: {refusal}");
    let mut response = (refusal.status(), format!("{refusal}\n")).into_response();
    if let Some(challenge) = refusal.challenge() {
        let challenge = HeaderValue::from_static(challenge);
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    response
}

async fn mcp(
    State(endpoint): State<Arc<Endpoint>>,
    Extension(connection): Extension<Connection>,
    request: Request,
) -> Response {
    let answered = if request.method() == Method::POST {
        endpoint.post(&connection, request).await
    } else {
        let held = Held {
            _busy: connection.busy(),
            _running: None,
        };
        Ok(endpoint.pass(request, held).await)
    };
    answered.unwrap_or_else(|refused| *refused)
}

/// What is held until an answer has gone out.
struct Held {
    _busy: Busy,
    _running: Option<TaskTrackerToken>,
}

impl Endpoint {
    async fn post(
        &self,
        connection: &Connection,
        request: Request,
    ) -> Result<Response, Box<Response>> {
        let (mut parts, body) = request.into_parts();
        if !is_json(&parts.headers) {
            let message = "the `Content-Type` has to be `application/json`\n";
            let response = (StatusCode::UNSUPPORTED_MEDIA_TYPE, message);
            return Err(Box::new(response.into_response()));
        }
        let body = self.read(&parts.headers, body).await?;
        let busy = connection.busy();
        let message = raw::read(&body)
            .map_err(|refused| Box::new(failed(StatusCode::BAD_REQUEST, *refused)))?;
        let mut held = Held {
            _busy: busy,
            _running: None,
        };
        if let Kind::Request { id, method } = &message.kind {
            self.admit(&parts.headers, id, method)?;
            let tracker = if method == "subscriptions/listen" {
                &self.listening
            } else {
                &self.running
            };
            held._running = Some(tracker.token());
        }
        let schema = |name: &str| self.shared.schema(name);
        let body = raw::mark(&message, body, &mut parts.headers, schema);
        let id = match message.kind {
            Kind::Request { id, .. } => Some(id),
            Kind::Notification | Kind::Response => None,
        };
        let request = Request::from_parts(parts, Full::new(body));
        let response = self.pass(request, held).await;
        // JSON that is none of its messages: the type of its content is not
        // what is wrong with it.
        if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            let error = ErrorData::invalid_request("this is not a message of MCP", None);
            return Err(Box::new(failed(
                StatusCode::BAD_REQUEST,
                JsonRpcError::new(id, error),
            )));
        }
        Ok(response)
    }

    /// Whether a request may be begun now.
    fn admit(
        &self,
        headers: &HeaderMap,
        id: &RequestId,
        method: &str,
    ) -> Result<(), Box<Response>> {
        let refuse = |error| {
            let error = JsonRpcError::new(Some(id.clone()), error);
            Err(Box::new(failed(StatusCode::BAD_REQUEST, error)))
        };
        let busy = |message: &str| {
            let error = ErrorData::internal_error(message.to_owned(), None);
            let error = JsonRpcError::new(Some(id.clone()), error);
            let mut response = failed(StatusCode::SERVICE_UNAVAILABLE, error);
            let soon = HeaderValue::from_static("1");
            response.headers_mut().insert(RETRY_AFTER, soon);
            Err(Box::new(response))
        };
        if self.stopping.is_cancelled() {
            return busy("this server is stopping");
        }
        let session = headers.get(SESSION).and_then(|id| id.to_str().ok());
        match session {
            Some(session) if self.sessions.has_asked(session, id) => {
                refuse(ErrorData::invalid_request(
                    format!("a request with the id `{id}` is on its way already"),
                    None,
                ))
            }
            None if method == "initialize" && !self.sessions.has_room() => {
                busy("there are too many sessions, and all of them are busy")
            }
            _ => Ok(()),
        }
    }

    /// The whole body, if it is neither too long nor too slow.
    async fn read(&self, headers: &HeaderMap, body: Body) -> Result<Bytes, Box<Response>> {
        let refuse =
            |status: StatusCode, message: String| Err(Box::new((status, message).into_response()));
        let too_long = || {
            let message = format!("a message may have at most {} bytes\n", self.longest);
            refuse(StatusCode::PAYLOAD_TOO_LARGE, message)
        };
        let length = headers
            .get(CONTENT_LENGTH)
            .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if length.is_some_and(|length| length > self.longest as u64) {
            return too_long();
        }
        let body = Limited::new(body, self.longest).collect();
        match tokio::time::timeout(self.patience, body).await {
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if is_too_long(error.as_ref()) => too_long(),
            Ok(Err(error)) => refuse(
                StatusCode::BAD_REQUEST,
                format!("the body did not arrive: {error}\n"),
            ),
            Err(_) => refuse(
                StatusCode::REQUEST_TIMEOUT,
                format!("the body did not arrive within {:?}\n", self.patience),
            ),
        }
    }

    /// Lets rmcp answer.
    async fn pass<B>(&self, request: axum::http::Request<B>, held: Held) -> Response
    where
        B: http_body::Body + Send + 'static,
        B::Error: std::fmt::Display,
    {
        let (parts, body) = self.service.handle(request).await.into_parts();
        Response::from_parts(parts, Body::new(Holding { body, _held: held }))
    }
}

fn is_too_long(error: &(dyn std::error::Error + 'static)) -> bool {
    error.is::<LengthLimitError>() || error.source().is_some_and(is_too_long)
}

fn is_json(headers: &HeaderMap) -> bool {
    let said = headers
        .get(CONTENT_TYPE)
        .and_then(|said| said.to_str().ok());
    said.and_then(|said| said.split(';').next())
        .is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

/// An answer that is a JSON-RPC error.
fn failed(status: StatusCode, error: JsonRpcError) -> Response {
    // Where the id could not be read, JSON-RPC wants it to be null.
    let mut value = serde_json::to_value(error).unwrap_or_default();
    if let Some(answer) = value.as_object_mut() {
        answer.entry("id").or_insert(serde_json::Value::Null);
    }
    let json = [(CONTENT_TYPE, "application/json")];
    (status, json, value.to_string()).into_response()
}

/// The body of an answer, and what is held until it has gone out or nobody wants
/// it any more.
struct Holding<B> {
    body: B,
    _held: Held,
}

impl<B: http_body::Body + Unpin> http_body::Body for Holding<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}
