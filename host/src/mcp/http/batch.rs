//! Batches over HTTP: messages that come together, in one array, and whose answers go back
//! together. Only the revision 2025-03-26 has them.

use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use dormouse_jsonrpc::items;
use dormouse_upstream::without_blocking;
use futures::stream::{self, StreamExt, select_all};
use http_body::Body as _;
use hyper::StatusCode;
use rmcp::model::{ProtocolVersion, RequestId};

use super::answers::answer;
use super::answers::answer::{Body, Response};
use super::answers::answer_room::TakenAnswerRoom;
use super::answers::sse::SentEvent;
use super::endpoint::{HttpEndpoint, session_id};
use super::header::content_type;
use super::post::PostHead;
use crate::mcp::messages::client_message::ClientMessage;
use crate::mcp::messages::error_object::{ErrorObject, MAX_MESSAGE_BYTES};
use crate::mcp::stdio::MAX_BATCH_MESSAGES;

/// Most messages of a batch that are begun at once.
const AT_ONCE: usize = 16;

/// Most bytes of answers that are kept until the last message is begun; a message that is not begun
/// by then is refused.
const MAX_ANSWERED_BYTES: u64 = 32 << 20;

/// Most bytes that the refusal of a message takes in memory, but for the message's id.
const MAX_REFUSAL_BYTES: usize = MAX_MESSAGE_BYTES + 512;

/// Messages that have come together.
pub(super) struct HttpBatch {
    messages: Vec<Bytes>,
    /// Room for refusals of all of them, with their ids: nobody may ever read them.
    room: TakenAnswerRoom,
}

impl HttpEndpoint {
    /// Returns the messages of a batch, if a body with that text is one and its session has batches.
    ///
    /// # Errors
    /// There is no such session, or there are no messages, or too many, or there is no room for
    /// their answers; with the answer.
    pub(super) fn batch(
        &self,
        head: &PostHead<'_>,
        body: &Bytes,
        text: &str,
    ) -> Option<Result<HttpBatch, Box<Response>>> {
        let session = session_id(head.headers)?;
        let Some(agent) = self.sessions.find(session, head.profile()) else {
            return Some(Err(Box::new(answer::no_session())));
        };
        if agent.version() != ProtocolVersion::V_2025_03_26 {
            return None;
        }
        let found = items(text, MAX_BATCH_MESSAGES).ok()?;
        if found.items.is_empty() || found.left_out > 0 {
            let why = format!(
                "a batch has at least one message, and at most {MAX_BATCH_MESSAGES}, not {}",
                found.items.len() + found.left_out
            );
            let error = ErrorObject::invalid_request(why);
            return Some(Err(answer::bad_request(None, &error)));
        }
        let refusals = found.items.len() * MAX_REFUSAL_BYTES + text.len();
        let room = match agent.session.room.reserve(refusals) {
            Ok(room) => room,
            Err(no_room) => {
                let status = StatusCode::SERVICE_UNAVAILABLE;
                let busy = answer::text(status, format!("{no_room}\n"));
                return Some(Err(Box::new(answer::retried_soon(busy))));
            }
        };
        let messages = found.items.into_iter();
        let messages = messages.map(|one| body.slice_ref(one.as_bytes()));
        Some(Ok(HttpBatch {
            messages: messages.collect(),
            room,
        }))
    }

    /// Answers each message of a batch as if it had come alone: in an array, or in a
    /// stream of events where one of them takes its time.
    pub(super) async fn together(&self, head: &PostHead<'_>, batch: HttpBatch) -> Response {
        let HttpBatch { messages, room } = batch;
        let answered = self.each(head, messages).await;
        answer::hold_room(answered, room)
    }

    async fn each(&self, head: &PostHead<'_>, messages: Vec<Bytes>) -> Response {
        let is_full = AtomicBool::new(false);
        let is_full = &is_full;
        let answers = messages.into_iter().map(|message| async move {
            // It is a part of a text.
            let text = std::str::from_utf8(&message).unwrap_or_default();
            let read = without_blocking(text.len(), || ClientMessage::read(text));
            let id = read.as_ref().ok();
            let id = id.and_then(ClientMessage::request_id).cloned();
            let error = match &read {
                Ok(ClientMessage::Request { .. }) if is_full.load(Ordering::Relaxed) => {
                    let why = "the answers before this one are too long for one batch\n\
                               hint: send it alone";
                    ErrorObject::internal_error(why)
                }
                Ok(ClientMessage::Request { method, .. }) if method == "initialize" => {
                    let why = "`initialize` may not be part of a batch";
                    ErrorObject::invalid_request(why)
                }
                _ => {
                    let head = PostHead {
                        is_of_batch: true,
                        ..*head
                    };
                    let answered = self.message(&head, message.clone(), read).await;
                    return (id, answered.unwrap_or_else(|refused| *refused));
                }
            };
            let refused = answer::bad_request(id.as_ref(), &error);
            (id, *refused)
        });
        let mut answers = stream::iter(answers).buffered(AT_ONCE);
        let (mut wholes, mut streams) = (Vec::new(), Vec::new());
        let (mut is_first, mut kept) = (true, 0);
        while let Some((id, answer)) = answers.next().await {
            let is_alone = std::mem::take(&mut is_first);
            match content_type(answer.headers()) {
                "text/event-stream" => streams.push(answer.into_body().into_events()),
                "application/json" => {
                    kept += answer.body().size_hint().lower();
                    // Those that have begun are answered: they must not be sent once more.
                    is_full.store(kept > MAX_ANSWERED_BYTES, Ordering::Relaxed);
                    wholes.push(answer.into_body());
                }
                // What is only taken, as notifications are, has no answer.
                _ if answer.status().is_success() => {}
                // By what all of them have in common, their headers.
                _ if is_alone => return answer,
                _ => {
                    if let Some(id) = id {
                        wholes.push(in_words(&id, answer).into_body());
                    }
                }
            }
        }
        if streams.is_empty() {
            return array(wholes);
        }
        let alone = streams.len() == 1 && wholes.is_empty();
        streams.extend(wholes.into_iter().map(Body::into_events));
        let events = select_all(streams);
        match alone {
            true => answer::events(events.boxed()),
            false => {
                let events = events.filter_map(|event| std::future::ready(without_id(event)));
                answer::events(events.boxed())
            }
        }
    }
}

/// Returns an event without its id, if there is anything else in it: a client has one id to come back
/// with, which is that of one of the streams. A client without an id begins anew.
fn without_id(event: SentEvent) -> Option<SentEvent> {
    Some(event.message?.into())
}

/// The answers of a batch in an array; none where nothing is answered.
fn array(wholes: Vec<Body>) -> Response {
    if wholes.is_empty() {
        return answer::empty(StatusCode::ACCEPTED);
    }
    let mut parts = Vec::new();
    for body in wholes {
        let separator = if parts.is_empty() { "[" } else { "," };
        parts.push(Bytes::from_static(separator.as_bytes()));
        parts.extend(body.into_parts());
    }
    parts.push(Bytes::from_static(b"]"));
    answer::parts(StatusCode::OK, parts)
}

/// Returns the text of a response, which is for people, as the JSON-RPC error that answers a
/// request.
fn in_words(id: &RequestId, answer: Response) -> Response {
    let words: Vec<u8> = answer
        .into_body()
        .into_parts()
        .into_iter()
        .flatten()
        .collect();
    let words = String::from_utf8_lossy(&words).trim_end().to_owned();
    *answer::bad_request(Some(id), &ErrorObject::internal_error(words))
}
