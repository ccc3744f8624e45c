//! Fast path: requests that are answered by one message, without rmcp.
//!
//! For a request over HTTP rmcp has a task, a peer and a stream of events, which most requests
//! never use: they need only their answer. So requests of the era without a handshake are answered by
//! [`stateless`](super::stateless), and requests of sessions for plugins are begun here, and answered
//! by one message of JSON. A call that sends or asks something before that, or takes long in a
//! session, whose client could then lose its connection and come back, is handed to rmcp unchanged
//! and goes on in its handler. A request that is invalid in any way is rmcp's from the beginning,
//! which reports the fault.

use std::sync::Arc;
use std::time::Duration;

use hyper::header::{ACCEPT, USER_AGENT};
use hyper::http::request::Parts;
use hyper::{HeaderMap, StatusCode};
use parking_lot::Mutex;
use rmcp::model::{ProtocolVersion, RequestId, RequestMetaObject};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::answer::{self, Response};
use super::answer_room::AnswerRoom;
use super::bypass::RAW;
use super::endpoint::{Endpoint, SESSION};
use super::header::only;
use super::repeated::VERSION;
use super::sessions::{ClaimedRequestId, SessionInfo};
use super::written::written;
use crate::mcp::client_request::ClientRequest;
use crate::mcp::handler::caught;
use crate::mcp::in_flight_call::RunningCall;
use crate::mcp::listen;
use crate::mcp::original::Original;
use crate::mcp::request_context::RequestContext;

/// Time that a client of the era with sessions waits for a stream of events, where there is no
/// notification and no question before the answer. Until then it cannot come back for an answer
/// that it has missed.
const STREAM_AFTER: Duration = Duration::from_millis(100);

/// The same time for clients that accept no events of more than 1 MiB, but messages of any size: a
/// screenshot or a page of a document may well be larger. A longer call gets a stream all the same.
const LIMITED_STREAM_AFTER: Duration = Duration::from_secs(10);

/// Beginning of the user agent of clients with that limit: Python's SDK since its version 2, and
/// programs that use it.
const LIMITED_USER_AGENT: &str = "python-httpx2/";

/// A call that was begun, on its way through rmcp to the handler.
#[derive(Clone, Default)]
pub(super) struct HandedOverCall(Arc<Mutex<Option<RunningCall>>>);

impl HandedOverCall {
    fn new(begun: RunningCall) -> Self {
        Self(Arc::new(Mutex::new(Some(begun))))
    }

    /// Takes the call out.
    pub(super) fn take(&self) -> Option<RunningCall> {
        self.0.lock().take()
    }
}

/// Outcome of a request.
pub(super) enum FastPathOutcome {
    Answered(Response),
    /// The request needs more than an answer; with its call and the name of its client.
    Begun(HandedOverCall, String),
}

/// A request, as far as it was read.
pub(super) struct RequestParts<'a> {
    pub(super) id: &'a RequestId,
    pub(super) method: &'a str,
    pub(super) params: Map<String, Value>,
    pub(super) original: Original,
}

impl Endpoint {
    /// Answers a request whose headers match its body, or begins to; `None` where rmcp has to
    /// answer it.
    pub(super) async fn quick(
        &self,
        asked: RequestParts<'_>,
        parts: &Parts,
        claimed: Option<&ClaimedRequestId>,
    ) -> Option<FastPathOutcome> {
        if !takes_both(&parts.headers) {
            return None;
        }
        let RequestParts {
            id,
            method,
            mut params,
            original,
        } = asked;
        let meta = match params.remove("_meta") {
            None => RequestMetaObject::default(),
            Some(Value::Object(meta)) => meta.into(),
            Some(_) => return None,
        };
        let said = only(&parts.headers, VERSION).ok()?;
        let stateless = ProtocolVersion::V_2026_07_28.as_str();
        if said == Some(stateless) {
            if meta.protocol_version()?.as_str() != stateless {
                return None;
            }
            let capabilities = meta.client_capabilities()?;
            let request = ClientRequest::of_parts((id.clone(), method), params, meta, original);
            let answered = self.stateless(request, capabilities).await;
            return Some(FastPathOutcome::Answered(answered));
        }
        // Whoever listens wants to hear much before the answer.
        if !RAW.contains(&method) || method == listen::METHOD {
            return None;
        }
        if meta.protocol_version().is_some() {
            return None;
        }
        only(&parts.headers, SESSION).ok()??;
        let claimed = claimed?;
        let known = (claimed.known(said)?.as_ref(), &claimed.cancel);
        let stream_after = stream_after(&parts.headers);
        let to = (&self.answers, claimed.client());
        let said = (&meta, original);
        Some(in_session(known, (id, method, params), said, (stream_after, to)).await)
    }
}

async fn in_session(
    (known, cancel): (&SessionInfo, &CancellationToken),
    (id, method, params): (&RequestId, &str, Map<String, Value>),
    (meta, original): (&RequestMetaObject, Original),
    (stream_after, to): (Duration, (&Arc<AnswerRoom>, String)),
) -> FastPathOutcome {
    let capabilities = meta.client_capabilities();
    let capabilities = capabilities.unwrap_or_else(|| known.capabilities.clone());
    let host = &known.host;
    let gone = cancel.clone();
    let asked = (Some(known.version.as_str()), meta, original);
    let context = RequestContext::of_answer(host, asked, capabilities, gone, Some(stream_after));
    let result = caught(id, host.answer(method, Some(params.into()), &context)).await;
    let begun = context.take();
    match begun {
        Some(begun) => FastPathOutcome::Begun(HandedOverCall::new(begun), to.1),
        // Who has cancelled a request wants no answer.
        None if cancel.is_cancelled() => FastPathOutcome::Answered(answer::nothing()),
        None => {
            let to = (to.0, to.1.as_str());
            FastPathOutcome::Answered(written(StatusCode::OK, id, result, to))
        }
    }
}

/// Time that a client waits for a stream of events.
fn stream_after(headers: &HeaderMap) -> Duration {
    let agent = only(headers, USER_AGENT.as_str()).ok().flatten();
    match agent.is_some_and(|agent| agent.starts_with(LIMITED_USER_AGENT)) {
        true => LIMITED_STREAM_AFTER,
        false => STREAM_AFTER,
    }
}

/// Checks whether a client accepts both a message and a stream of events, as it has to. A client
/// with preferences among these is left to rmcp.
fn takes_both(headers: &HeaderMap) -> bool {
    let said = only(headers, ACCEPT).ok().flatten().unwrap_or_default();
    let takes = |kind: &str| {
        said.split(',')
            .any(|one| one.trim().eq_ignore_ascii_case(kind))
    };
    takes("application/json") && takes("text/event-stream")
}
