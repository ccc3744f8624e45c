//! Batches over HTTP: messages that come together, in one array, and whose answers go back
//! together. Only the revision 2025-03-26 has them.

use std::collections::VecDeque;

use bytes::Bytes;
use dormouse_jsonrpc::items;
use futures::stream::{self, StreamExt, select_all};
use http_body::{Body as _, Frame};
use http_body_util::BodyStream;
use hyper::header::CONTENT_TYPE;
use hyper::http::request::Parts;
use hyper::{HeaderMap, StatusCode};
use rmcp::model::{ErrorData, JsonRpcError, ProtocolVersion, RequestId};

use super::answer::{self, Body, Response};
use super::connections::Connection;
use super::endpoint::{Endpoint, session};
use super::message::{self, Kind};
use crate::mcp::stdio::MAX_BATCH_MESSAGES;

/// Most messages of a batch that are begun at once.
const AT_ONCE: usize = 16;

/// Most bytes of answers that are kept until the last message is begun; a message that is not begun
/// by then is refused.
const MAX_ANSWERED_BYTES: u64 = 32 << 20;

impl Endpoint {
    /// Returns the messages of a batch, if a body is one and its session has batches.
    ///
    /// # Errors
    /// There is no such session, or there are no messages, or too many; with the answer.
    pub(super) fn batch(
        &self,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Option<Result<Vec<Bytes>, Box<Response>>> {
        let text = std::str::from_utf8(body).ok()?;
        let may_be = text.trim_start().starts_with('[');
        let session = may_be.then(|| session(headers)).flatten()?;
        let Ok(version) = self.sessions.version(session) else {
            return Some(Err(Box::new(answer::no_session())));
        };
        if version != Some(ProtocolVersion::V_2025_03_26) {
            return None;
        }
        let found = items(text, MAX_BATCH_MESSAGES).ok()?;
        if found.items.is_empty() || found.left_out > 0 {
            let why = format!(
                "a batch has at least one message, and at most {MAX_BATCH_MESSAGES}, not {}",
                found.items.len() + found.left_out
            );
            let refused = refused(None, ErrorData::invalid_request(why, None));
            return Some(Err(Box::new(refused)));
        }
        let messages = found.items.into_iter();
        let messages = messages.map(|one| body.slice_ref(one.as_bytes()));
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
        let answers = messages.clone().into_iter().map(|message| {
            let parts = parts.clone();
            async move {
                if is_handshake(&message) {
                    let why = "`initialize` may not be part of a batch";
                    return refused(id(&message), ErrorData::invalid_request(why, None));
                }
                let answered = self.message(connection, parts, message).await;
                answered.unwrap_or_else(|refused| *refused)
            }
        });
        let mut answers = stream::iter(answers)
            .buffered(AT_ONCE)
            .zip(stream::iter(&messages));
        let (mut wholes, mut streams) = (Vec::new(), Vec::new());
        let (mut done, mut kept) = (0, 0);
        while kept <= MAX_ANSWERED_BYTES
            && let Some((answer, message)) = answers.next().await
        {
            done += 1;
            match kind(answer.headers()) {
                "text/event-stream" => {
                    streams.push(StreamExt::boxed(BodyStream::new(answer.into_body())));
                }
                "application/json" => {
                    kept += answer.body().size_hint().lower();
                    wholes.push(answer.into_body());
                }
                // What is only taken, as notifications are, has no answer.
                _ if answer.status().is_success() => {}
                // By what all of them have in common, their headers.
                _ if done == 1 => return answer,
                _ => {
                    if let Some(id) = id(message) {
                        wholes.push(in_words(id, answer).await.into_body());
                    }
                }
            }
        }
        drop(answers);
        let rest = messages.iter().skip(done).filter_map(|message| id(message));
        wholes.extend(rest.map(|id| {
            let why = "the answers before this one are too long for one batch\n\
                       hint: send it alone";
            refused(Some(id), ErrorData::internal_error(why, None)).into_body()
        }));
        if streams.is_empty() {
            return array(wholes).await;
        }
        let alone = streams.len() == 1 && wholes.is_empty();
        let wholes = stream::iter(wholes).then(event_of);
        let wholes = wholes.map(|event| Ok(Frame::data(event)));
        streams.push(wholes.boxed());
        let events = select_all(streams);
        if alone {
            return answer::events(events);
        }
        let events = events.map(|frame| frame.map(|frame| frame.map_data(without_ids)));
        answer::events(select_all([events.boxed()]))
    }
}

/// Event of an answer, which keeps the room that was taken for that.
struct RoomyEvent {
    event: Bytes,
    _answer: VecDeque<Bytes>,
}

impl AsRef<[u8]> for RoomyEvent {
    fn as_ref(&self) -> &[u8] {
        &self.event
    }
}

/// An answer as an event.
async fn event_of(answer: Body) -> Bytes {
    let answer = answer.parts().await;
    let event = event(&joined(&answer));
    Bytes::from_owner(RoomyEvent {
        event,
        _answer: answer,
    })
}

/// A message as an event.
fn event(message: &[u8]) -> Bytes {
    let message = String::from_utf8_lossy(message);
    format!("data: {}\n\n", dormouse_jsonrpc::on_one_line(&message)).into()
}

/// Returns events without their ids: a client has one id to come back with, which is that of one of
/// the streams. A client without an id begins anew.
fn without_ids(events: Bytes) -> Bytes {
    let text = String::from_utf8_lossy(&events);
    let ours = ["id:", "retry:"];
    let lines = text.split_inclusive('\n');
    let lines = lines.filter(|line| !ours.iter().any(|field| line.starts_with(field)));
    lines.collect::<String>().into()
}

/// The answers of a batch in an array; none where nothing is answered.
async fn array(wholes: Vec<Body>) -> Response {
    if wholes.is_empty() {
        return answer::empty(StatusCode::ACCEPTED);
    }
    let mut parts = Vec::new();
    for body in wholes {
        let separator = if parts.is_empty() { "[" } else { "," };
        parts.push(Bytes::from_static(separator.as_bytes()));
        parts.extend(body.parts().await);
    }
    parts.push(Bytes::from_static(b"]"));
    answer::json_of(StatusCode::OK, parts)
}

/// The parts of a text together.
fn joined(parts: &VecDeque<Bytes>) -> Vec<u8> {
    let mut text = Vec::with_capacity(parts.iter().map(Bytes::len).sum());
    parts.iter().for_each(|part| text.extend_from_slice(part));
    text
}

fn kind(headers: &HeaderMap) -> &str {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    kind.and_then(|kind| kind.split(';').next())
        .unwrap_or_default()
}

/// Returns the text of a response, which is for people, as the JSON-RPC error that answers a
/// request.
async fn in_words(id: RequestId, answer: Response) -> Response {
    let words = joined(&answer.into_body().parts().await);
    let words = String::from_utf8_lossy(&words).trim_end().to_owned();
    refused(Some(id), ErrorData::internal_error(words, None))
}

fn refused(id: Option<RequestId>, error: ErrorData) -> Response {
    answer::error(StatusCode::BAD_REQUEST, JsonRpcError::new(id, error))
}

/// The id of a message that is a request.
fn id(message: &[u8]) -> Option<RequestId> {
    match message::read(message).ok()?.kind {
        Kind::Request { id, .. } => Some(id),
        _ => None,
    }
}

fn is_handshake(message: &[u8]) -> bool {
    let read = message::read(message);
    matches!(read, Ok(read) if matches!(&read.kind, Kind::Request { method, .. } if method == "initialize"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_and_has_no_id() {
        let message = event(b"{\n\"a\":\r\n1}");
        assert_eq!(message, "data: { \"a\":  1}\n\n");
        let events = Bytes::from_static(b"id: 0/1\nretry: 500\ndata: {\"id:\":1}\n\n: still\n\n");
        assert_eq!(without_ids(events), "data: {\"id:\":1}\n\n: still\n\n");
        assert_eq!(without_ids(message.clone()), message);
    }
}
