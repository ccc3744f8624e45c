//! Answers at each path: `/mcp`, `/mcp/p/PROFILE`, `/health` and `/ready`.
//!
//! No other path is served. In particular no `/.well-known/…`: a client that is refused at `/mcp`
//! would take an answer there for a way to log in.

use std::sync::Arc;

use futures::StreamExt as _;
use hyper::body::Incoming;
use hyper::header::{ORIGIN, WWW_AUTHENTICATE};
use hyper::{HeaderMap, Method, Request, StatusCode};
use rmcp::model::RequestId;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::answers::answer;
use super::answers::answer::{AnswerResources, Response};
use super::answers::answer_room::AnswerRoom;
use super::bodies::Bodies;
use super::connections::HttpConnection;
use super::cors;
use super::era;
use super::guard::{RequestGuard, RequestRefusal};
use super::header::{accepts, doubled};
use super::path::McpPath;
use super::sessions::{Agent, EventId, HttpSessions};
use super::shared::SharedHttpState;
use crate::mcp::messages::error_object::ErrorObject;
use crate::roster::UnknownProfile;

pub(super) const SESSION: &str = "mcp-session-id";

/// Type of content of a stream.
pub(super) const EVENTS: &str = "text/event-stream";

/// Header with the id of the last event that a client has had of a stream that it comes back to.
const LAST_EVENT: &str = "last-event-id";

/// State that every request needs.
pub(super) struct HttpEndpoint {
    pub(super) guard: RequestGuard,
    pub(super) shared: SharedHttpState,
    pub(super) sessions: HttpSessions,
    pub(super) bodies: Bodies,
    /// Memory of long messages that are being written.
    pub(super) answers: Arc<AnswerRoom>,
    /// Cancelled when no new request is to be begun.
    pub(super) stopping: CancellationToken,
    /// Requests that will be answered in time.
    pub(super) running: TaskTracker,
    /// Requests that are answered when the server ends.
    pub(super) listening: TaskTracker,
}

impl HttpEndpoint {
    /// Answers a request.
    pub(super) async fn answer(
        &self,
        connection: &HttpConnection,
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
        let path = request.uri().path();
        let mut response = match (McpPath::of(path), path) {
            (Some(_), _) if cors::is_preflight(request.method(), headers) => {
                cors::preflight(headers)
            }
            (Some(path), _) => match self.guard.token(connection.local, request.uri(), headers) {
                Ok(()) => self.admitted(connection, request, path.profile).await,
                Err(refusal) => refused(&refusal),
            },
            (None, "/ready") if self.stopping.is_cancelled() => said(
                request.method(),
                StatusCode::SERVICE_UNAVAILABLE,
                "stopping\n",
            ),
            (None, "/ready") => said(request.method(), StatusCode::OK, "ready\n"),
            (None, _) => {
                let why = "there is nothing here; MCP is spoken at /mcp, and at /mcp/p/NAME for \
                           the profile of that name\n";
                answer::text(StatusCode::NOT_FOUND, why)
            }
        };
        if let Some(origin) = origin {
            cors::open(&mut response, origin);
        }
        response
    }

    /// Answers a client that may speak MCP, and sees that profile, or all.
    async fn admitted(
        &self,
        connection: &HttpConnection,
        request: Request<Incoming>,
        profile: Option<Arc<str>>,
    ) -> Response {
        let headers = request.headers();
        if let Some(name) = doubled(headers) {
            let why = format!("the header `{name}` is there more than once\n");
            return answer::text(StatusCode::BAD_REQUEST, why);
        }
        let answered = match *request.method() {
            Method::POST => self.post(connection, request, profile).await,
            Method::GET => self.stream(connection, headers, profile.as_deref()),
            Method::DELETE => self.end(headers, profile.as_deref()),
            _ => Ok(answer::not_allowed(
                "GET, POST, DELETE",
                "use `POST` for messages\n",
            )),
        };
        answered.unwrap_or_else(|refused| *refused)
    }

    /// Checks that there is the profile that a request without a message names.
    ///
    /// # Errors
    /// There is none; with the answer.
    fn check_profile(&self, profile: Option<&str>) -> Result<(), Box<Response>> {
        let checked = self.shared.check_profile(profile);
        checked.map_err(|unknown| unknown_profile(None, &unknown))
    }

    /// Returns the agent of the session that a client names. A session is there at the path alone at
    /// which it was opened.
    ///
    /// # Errors
    /// It names none, or there is none of that id; with the answer.
    pub(super) fn agent(
        &self,
        headers: &HeaderMap,
        profile: Option<&str>,
    ) -> Result<Arc<Agent>, Box<Response>> {
        let Some(id) = session_id(headers) else {
            let why = format!(
                "the header `{SESSION}` is missing\nhint: the answer to `initialize` has its value\n"
            );
            return Err(Box::new(answer::text(StatusCode::BAD_REQUEST, why)));
        };
        let agent = self.sessions.find(id, profile);
        agent.ok_or_else(|| Box::new(answer::no_session()))
    }

    /// Answers a client that wants a stream of a session: that of the messages which answer no
    /// request, or one that it comes back to.
    fn stream(
        &self,
        connection: &HttpConnection,
        headers: &HeaderMap,
        profile: Option<&str>,
    ) -> Result<Response, Box<Response>> {
        self.check_profile(profile)?;
        if !accepts(headers, EVENTS) {
            let why = "a client has to accept `text/event-stream`\n";
            return Err(Box::new(answer::text(StatusCode::NOT_ACCEPTABLE, why)));
        }
        let agent = self.agent_of_stream(headers, profile)?;
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
        let mut held = AnswerResources {
            busy: connection.busy(),
            _running: None,
        };
        held.busy.listens();
        Ok(answer::hold(answer::events(reader.boxed()), held))
    }

    /// Ends a session.
    fn end(&self, headers: &HeaderMap, profile: Option<&str>) -> Result<Response, Box<Response>> {
        self.check_profile(profile)?;
        self.agent_of_stream(headers, profile)?;
        match session_id(headers).is_some_and(|id| self.sessions.end(id)) {
            true => Ok(answer::empty(StatusCode::NO_CONTENT)),
            false => Err(Box::new(answer::no_session())),
        }
    }

    /// Returns the agent of the session that a request without a message is about.
    ///
    /// # Errors
    /// The version has no sessions, or there is none; with the answer.
    fn agent_of_stream(
        &self,
        headers: &HeaderMap,
        profile: Option<&str>,
    ) -> Result<Arc<Agent>, Box<Response>> {
        if !era::has_session(headers).map_err(refused_message)? {
            let why = "there are no sessions in this version\n";
            return Err(Box::new(answer::not_allowed("POST", why)));
        }
        self.agent(headers, profile)
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

fn refused(refusal: &RequestRefusal) -> Response {
    tracing::debug!("a request was refused: {refusal}");
    let mut response = answer::text(refusal.status(), format!("{refusal}\n"));
    if let Some(challenge) = refusal.challenge() {
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    response
}

/// Returns the answer to a request at the path of a profile that is not served.
pub(super) fn unknown_profile(id: Option<&RequestId>, unknown: &UnknownProfile) -> Box<Response> {
    let error = ErrorObject::invalid_request(unknown.to_string());
    Box::new(answer::error(StatusCode::NOT_FOUND, id, &error))
}

pub(super) fn refused_request(id: &RequestId, error: ErrorObject) -> Box<Response> {
    Box::new(answer::error(StatusCode::BAD_REQUEST, Some(id), &error))
}

pub(super) fn refused_message(error: ErrorObject) -> Box<Response> {
    Box::new(answer::error(StatusCode::BAD_REQUEST, None, &error))
}

/// Id of the session that a client names.
pub(super) fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION)?.to_str().ok()
}
