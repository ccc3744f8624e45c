//! Messages that come together, in one array, and whose answers go back together. The
//! revision 2025-03-26 has that, and none before or after it.

use bytes::Bytes;
use futures::stream::{self, StreamExt, select_all};
use http_body::Frame;
use http_body_util::{BodyExt as _, BodyStream};
use hyper::header::CONTENT_TYPE;
use hyper::http::request::Parts;
use hyper::{HeaderMap, StatusCode};
use rmcp::model::{ErrorData, JsonRpcError, ProtocolVersion};
use serde_json::value::RawValue;

use super::answer::{self, Body, Response};
use super::connections::Connection;
use super::endpoint::{Endpoint, session};
use super::message::{self, Kind};

/// How many messages a batch may have: what is answered to one is kept until the last
/// one is begun.
const MOST: usize = 1000;

/// How many messages of a batch are begun at once.
const AT_ONCE: usize = 64;

impl Endpoint {
    /// The messages of a batch, if a body is one and is of a session that knows them.
    ///
    /// # Errors
    /// There are none, or too many; what is answered to that.
    pub(super) fn batch(
        &self,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Option<Result<Vec<Bytes>, Box<Response>>> {
        let text = std::str::from_utf8(body).ok()?;
        let may_be = text.trim_start().starts_with('[');
        let version = may_be.then(|| self.sessions.version(session(headers)?))??;
        if version != ProtocolVersion::V_2025_03_26 {
            return None;
        }
        let messages = serde_json::from_str::<Vec<&RawValue>>(text).ok()?;
        if messages.is_empty() || messages.len() > MOST {
            let why = format!(
                "a batch has at least one message, and at most {MOST}, not {}",
                messages.len()
            );
            let error = JsonRpcError::new(None, ErrorData::invalid_request(why, None));
            return Some(Err(Box::new(answer::error(StatusCode::BAD_REQUEST, error))));
        }
        let messages = messages.iter();
        let messages = messages.map(|one| body.slice_ref(one.get().as_bytes()));
        Some(Ok(messages.collect()))
    }

    /// Answers each message of a batch as if it had come alone: in an array, or in a
    /// stream of events where one of them takes its time.
    pub(super) async fn together(
        &self,
        connection: &Connection,
        parts: Parts,
        messages: Vec<Bytes>,
    ) -> Response {
        let answers = messages.into_iter().map(|message| {
            let parts = parts.clone();
            async move {
                if let Some(refused) = handshake(&message) {
                    return refused;
                }
                let answered = self.message(connection, parts, message).await;
                answered.unwrap_or_else(|refused| *refused)
            }
        });
        let answers: Vec<Response> = stream::iter(answers).buffered(AT_ONCE).collect().await;
        let (mut wholes, mut streams, mut first) = (Vec::new(), Vec::new(), None);
        for answer in answers {
            let (parts, body) = answer.into_parts();
            match kind(&parts.headers) {
                "application/json" => wholes.push(body),
                "text/event-stream" => {
                    streams.push(StreamExt::boxed(BodyStream::new(body)));
                    first.get_or_insert(parts);
                }
                // What is only taken, as notifications are, has no answer.
                _ if parts.status.is_success() => {}
                // No message was looked at, so this is true of all of them.
                _ => return Response::from_parts(parts, body),
            }
        }
        let wholes = stream::iter(wholes).then(whole);
        let Some(head) = first else {
            let messages: Vec<Bytes> = wholes.collect().await;
            return match &*messages {
                [] => answer::empty(StatusCode::ACCEPTED),
                some => answer::json(StatusCode::OK, [b"[", &*some.join(&b','), b"]"].concat()),
            };
        };
        let events = wholes.map(|message| {
            let event = [b"data: ", &*message, b"\n\n"].concat();
            Ok(Frame::data(event.into()))
        });
        streams.push(events.boxed());
        Response::from_parts(head, Body::together(select_all(streams)))
    }
}

/// All of the body of an answer.
async fn whole(body: Body) -> Bytes {
    let Ok(body) = body.collect().await;
    body.to_bytes()
}

fn kind(headers: &HeaderMap) -> &str {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    kind.and_then(|kind| kind.split(';').next())
        .unwrap_or_default()
}

/// The refusal of a handshake, which may not be part of a batch.
fn handshake(message: &Bytes) -> Option<Response> {
    match message::read(message).ok()?.kind {
        Kind::Request { id, method } if method == "initialize" => {
            let why = "`initialize` may not be part of a batch";
            let error = JsonRpcError::new(Some(id), ErrorData::invalid_request(why, None));
            Some(answer::error(StatusCode::BAD_REQUEST, error))
        }
        _ => None,
    }
}
