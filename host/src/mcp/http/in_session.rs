//! Requests of sessions. Each is answered by one message of JSON, or by a stream of events where
//! something is said before its answer, or that takes long: who comes back after its connection has
//! broken goes on with the stream.

use std::sync::Arc;
use std::time::Duration;

use futures::{FutureExt as _, StreamExt as _};
use hyper::HeaderMap;
use hyper::StatusCode;
use hyper::header::USER_AGENT;
use rmcp::model::InitializeRequestParams;
use serde_json::json;

use super::answers::answer;
use super::answers::answer::Response;
use super::answers::written::{WrittenMessage, written};
use super::endpoint::{HttpEndpoint, SESSION};
use super::header::only;
use super::post::PostHead;
use super::sessions::Agent;
use crate::mcp::client::client_connection::ClientConnection;
use crate::mcp::messages::client_request::ClientRequest;
use crate::mcp::messages::error_object::ErrorObject;
use crate::mcp::server::with_params;

/// Time that a client waits for a stream of events, where there is no notification and no question
/// before the answer. Until then it cannot come back for an answer that it has missed.
const STREAM_AFTER: Duration = Duration::from_millis(100);

/// The same time for clients that accept no events of more than 1 MiB, but messages of any size: a
/// screenshot or a page of a document may well be larger. A longer call gets a stream all the same.
const LIMITED_STREAM_AFTER: Duration = Duration::from_secs(10);

/// Beginning of the user agent of clients with that limit: Python's SDK since its version 2, and
/// programs that use it.
const LIMITED_USER_AGENT: &str = "python-httpx2/";

impl HttpEndpoint {
    /// Opens a session by a handshake, of a client that sees that profile, or all.
    pub(super) fn open_session(
        &self,
        request: &ClientRequest,
        profile: Option<&Arc<str>>,
    ) -> Result<Response, Box<Response>> {
        let said = handshake(request)?;
        let begin = || self.begin_session(profile);
        let opened = self.sessions.open(said, begin);
        let opened = opened.map_err(|error| answer::busy(&request.id, &error.to_string()))?;
        let room = self.answers.of_client(String::new());
        let result = Ok(json!(opened.result).into());
        let mut response = written(StatusCode::OK, &request.id, result, &room);
        if let Ok(id) = opened.id.parse() {
            response.headers_mut().insert(SESSION, id);
        }
        Ok(response)
    }

    /// Answers a request of a session.
    ///
    /// # Errors
    /// Its id is taken, or its metadata are invalid; with the answer.
    pub(super) async fn in_session(
        &self,
        agent: Arc<Agent>,
        mut request: ClientRequest,
        head: &PostHead<'_>,
    ) -> Result<Response, Box<Response>> {
        let id = request.id.clone();
        let room = agent.session.room.clone();
        let room = room.counting_short(head.is_of_batch);
        let Some(claimed) = agent.session.claim(&id) else {
            let why = format!("a request with the id `{id}` is on its way already");
            let error = ErrorObject::invalid_request(why);
            return Err(answer::bad_request(Some(&id), &error));
        };
        if request.method == "initialize" {
            let result = agent.initialize(handshake(&request)?);
            return Ok(written(
                StatusCode::OK,
                &id,
                Ok(json!(result).into()),
                &room,
            ));
        }
        let terms = agent.agreed().terms(&request.method, &request.meta);
        let terms = terms.map_err(|error| answer::bad_request(Some(&id), &error))?;
        request.cancel = claimed.cancel().clone();
        let connection: Arc<dyn ClientConnection> = Arc::new(claimed.connection());
        let host = agent.host.clone();
        let work = async move { host.answer_request(request, &terms, connection).await };
        let mut work = work.boxed();
        let cancel = claimed.cancel().clone();
        tokio::select! {
            biased;
            answered = &mut work => {
                if !claimed.has_stream() && !cancel.is_cancelled() {
                    return Ok(written(StatusCode::OK, &id, answered, &room));
                }
                work = std::future::ready(answered).boxed();
            }
            () = claimed.streamed(stream_after(head.headers)) => {}
            // Who has cancelled a request wants no answer.
            () = cancel.cancelled() => return Ok(answer::nothing()),
        }
        if cancel.is_cancelled() && !claimed.has_stream() {
            return Ok(answer::nothing());
        }
        let events = claimed.stream();
        // It goes on also where the connection breaks.
        tokio::spawn(async move {
            let answered = work.await;
            claimed.answer(WrittenMessage::answer(&id, answered, &room));
        });
        Ok(answer::events(events.boxed()))
    }
}

/// Returns what a client says in a handshake.
///
/// # Errors
/// It cannot be read; with the answer.
fn handshake(request: &ClientRequest) -> Result<InitializeRequestParams, Box<Response>> {
    let said = with_params(&request.method, request.params.clone());
    said.map_err(|error| answer::bad_request(Some(&request.id), &error))
}

/// Time that a client waits for a stream of events.
fn stream_after(headers: &HeaderMap) -> Duration {
    let agent = only(headers, USER_AGENT.as_str()).ok().flatten();
    match agent.is_some_and(|agent| agent.starts_with(LIMITED_USER_AGENT)) {
        true => LIMITED_STREAM_AFTER,
        false => STREAM_AFTER,
    }
}
