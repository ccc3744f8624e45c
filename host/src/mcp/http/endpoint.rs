//! Answers at each path: `/mcp`, `/mcp/p/PROFILE` for clients that see what a profile has, `/health`
//! and `/ready`.
//!
//! No other path is served. In particular no `/.well-known/…`: a client that is refused at `/mcp`
//! would take an answer there for a way to log in.

use std::sync::Arc;

use futures::StreamExt as _;
use hyper::body::Incoming;
use hyper::header::ORIGIN;
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
use super::guard::RequestGuard;
use super::header::{accepts, doubled};
use super::sessions::{Agent, EventId, HttpSessions};
use crate::mcp::common::Common;
use crate::mcp::messages::error_object::ErrorObject;
use crate::mcp::server::Host;
use crate::mcp::session::AgentSession;

/// Path at which MCP is spoken.
pub(super) const PATH: &str = "/mcp";

/// Beginning of the paths of profiles, before a profile's name.
const PROFILES: &str = "/mcp/p/";

pub(super) const SESSION: &str = "mcp-session-id";

/// Type of content of a stream.
pub(super) const EVENTS: &str = "text/event-stream";

/// Header with the id of the last event that a client has had of a stream that it comes back to.
const LAST_EVENT: &str = "last-event-id";

/// State that every request needs.
pub(super) struct HttpEndpoint {
    pub(super) guard: RequestGuard,
    pub(super) common: Arc<Common>,
    /// Host for all requests of the stateless era that name no profile: none of them belongs to a
    /// session.
    pub(super) stateless_host: Arc<Host>,
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
    /// Cancelled to end running calls.
    pub(super) ending: CancellationToken,
    /// Cancelled to end requests that wait for changes.
    pub(super) closed: CancellationToken,
}

/// Path at which MCP is spoken, or would be if there were such a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
struct McpPath {
    /// Name of the profile that its clients see; none where they see all.
    profile: Option<Arc<str>>,
}

impl McpPath {
    /// Reads the path of a request; none where MCP is not spoken there. Names of profiles have no
    /// character that a URL would have to escape.
    fn of(path: &str) -> Option<Self> {
        if path == PATH {
            return Some(Self { profile: None });
        }
        let name = path.strip_prefix(PROFILES)?;
        let profile = Some(name.into());
        Some(Self { profile })
    }
}

impl HttpEndpoint {
    /// Answers a request.
    pub(super) async fn answer(
        &self,
        connection: &HttpConnection,
        request: Request<Incoming>,
    ) -> Response {
        let headers = request.headers();
        if let Err(refusal) = self.guard.place(connection.local, request.uri(), headers) {
            return answer::refused(&refusal);
        }
        let origin = headers.get(ORIGIN).cloned();
        let path = request.uri().path();
        let mut response = match (McpPath::of(path), path) {
            (Some(_), _) if cors::is_preflight(request.method(), headers) => {
                cors::preflight(headers)
            }
            (Some(path), _) => match self.guard.token(connection.local, request.uri(), headers) {
                Ok(()) => {
                    connection.let_in();
                    self.admitted(connection, request, path.profile).await
                }
                Err(refusal) => answer::refused(&refusal),
            },
            (None, "/health") => said(request.method(), StatusCode::OK, "ok\n"),
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

    /// Checks that there is the profile that a request names. `id` returns that of its message.
    ///
    /// # Errors
    /// There is none; with the answer.
    pub(super) fn check_profile(
        &self,
        profile: Option<&str>,
        id: impl FnOnce() -> Option<RequestId>,
    ) -> Result<(), Box<Response>> {
        let checked = profile.map_or(Ok(()), |name| self.common.roster.check_profile(name));
        checked.map_err(|unknown| {
            let error = ErrorObject::invalid_request(unknown.to_string());
            Box::new(answer::error(StatusCode::NOT_FOUND, id().as_ref(), &error))
        })
    }

    /// Returns the host for requests of the stateless era that name that profile, or none. Nothing is
    /// kept in it from one request to the next.
    pub(super) fn host(&self, profile: Option<&Arc<str>>) -> Arc<Host> {
        if profile.is_none() {
            return Arc::clone(&self.stateless_host);
        }
        let (closed, ending) = (self.closed.clone(), self.ending.clone());
        let (common, profile) = (self.common.clone(), profile.cloned());
        Arc::new(Host::over_http(common, None, profile, closed, ending))
    }

    /// Begins a session of clients that see that profile, or all, and makes the host for it.
    pub(super) fn begin_session(&self, profile: Option<&Arc<str>>) -> (AgentSession, Host) {
        let session = AgentSession::begin(self.common.clone());
        let (closed, ending) = (self.closed.child_token(), self.ending.clone());
        let (common, profile) = (self.common.clone(), profile.cloned());
        let host = Host::over_http(common, Some(session.id()), profile, closed, ending);
        (session, host)
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
        self.check_profile(profile, || None)?;
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
        self.check_profile(profile, || None)?;
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
        let has_session = era::has_session(headers);
        if !has_session.map_err(|error| answer::bad_request(None, &error))? {
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

/// Id of the session that a client names.
pub(super) fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_the_last_part_of_its_path() {
        for (path, expected) in [
            ("/mcp", Some(None)),
            ("/mcp/p/work", Some(Some("work"))),
            ("/mcp/p/", Some(Some(""))),
            ("/mcp/p/work/", Some(Some("work/"))),
            ("/mcp/p", None),
            ("/mcp/", None),
            ("/mcpp/work", None),
            ("/", None),
        ] {
            let read = McpPath::of(path);
            let read = read.as_ref().map(|path| path.profile.as_deref());
            assert_eq!(read, expected, "{path}");
        }
    }
}
