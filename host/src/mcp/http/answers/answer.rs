//! Answers over HTTP, and resources that are held until they have gone out.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use http_body::Frame;
use hyper::StatusCode;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use rmcp::model::RequestId;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::answer_room::TakenAnswerRoom;
use super::sse::{EventText, SentEvents};
use super::written::WrittenMessage;
use crate::mcp::http::connections::RequestInProgress;
use crate::mcp::http::guard::RequestRefusal;
use crate::mcp::messages::error_object::ErrorObject;

/// HTTP response to a request.
pub(in crate::mcp::http) type Response = hyper::Response<Body>;

/// The body of an answer.
pub(in crate::mcp::http) struct Body {
    content: AnswerContent,
    held: Option<AnswerResources>,
    /// Room that was taken for all of it, besides that of its parts.
    room: Option<TakenAnswerRoom>,
}

enum AnswerContent {
    /// The parts of a text.
    Whole(VecDeque<Bytes>),
    Events(Box<EventText>),
}

/// Resources that are held until an answer has gone out, or nobody wants it any more.
pub(in crate::mcp::http) struct AnswerResources {
    pub(in crate::mcp::http) busy: RequestInProgress,
    pub(in crate::mcp::http) _running: Option<TaskTrackerToken>,
}

impl Body {
    fn whole(bytes: impl Into<Bytes>) -> Self {
        Self::of_parts([bytes.into()])
    }

    fn of_parts(parts: impl IntoIterator<Item = Bytes>) -> Self {
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        Self {
            content: AnswerContent::Whole(parts.collect()),
            held: None,
            room: None,
        }
    }

    /// Returns the parts of the text; none of a stream of events. They keep the room that was
    /// taken for it.
    pub(in crate::mcp::http) fn into_parts(self) -> VecDeque<Bytes> {
        match self.content {
            AnswerContent::Whole(parts) => parts,
            AnswerContent::Events(_) => VecDeque::new(),
        }
    }

    /// Returns the events of a stream, or the message that is the whole body as one event.
    pub(in crate::mcp::http) fn into_events(self) -> SentEvents {
        let events = stream::unfold(self, |mut body| async {
            let event = poll_fn(|cx| match &mut body.content {
                AnswerContent::Events(events) => events.poll_event(cx),
                AnswerContent::Whole(parts) if parts.is_empty() => Poll::Ready(None),
                AnswerContent::Whole(parts) => {
                    let parts = std::mem::take(parts);
                    Poll::Ready(Some(WrittenMessage::of_parts(parts.into()).into()))
                }
            });
            let event = event.await?;
            Some((event, body))
        });
        events.boxed()
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let part = match &mut self.content {
            AnswerContent::Whole(parts) => parts.pop_front(),
            AnswerContent::Events(events) => std::task::ready!(events.poll(cx)),
        };
        Poll::Ready(part.map(|part| Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            AnswerContent::Whole(parts) => parts.is_empty(),
            AnswerContent::Events(_) => false,
        }
    }

    fn size_hint(&self) -> http_body::SizeHint {
        match &self.content {
            AnswerContent::Whole(parts) => {
                let bytes: usize = parts.iter().map(Bytes::len).sum();
                http_body::SizeHint::with_exact(bytes as u64)
            }
            AnswerContent::Events(_) => http_body::SizeHint::default(),
        }
    }
}

fn of(status: StatusCode, kind: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// An answer of nothing but its head.
pub(in crate::mcp::http) fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(Body::whole(Bytes::new()));
    *response.status_mut() = status;
    response
}

/// An answer for people.
pub(in crate::mcp::http) fn text(
    status: StatusCode,
    text: impl Into<Cow<'static, str>>,
) -> Response {
    let bytes = match text.into() {
        Cow::Borrowed(text) => Bytes::from_static(text.as_bytes()),
        Cow::Owned(text) => text.into(),
    };
    of(status, "text/plain; charset=utf-8", Body::whole(bytes))
}

/// An answer that is a message.
pub(in crate::mcp::http) fn message(status: StatusCode, message: WrittenMessage) -> Response {
    parts(status, message.into_parts())
}

/// An answer of JSON, in parts.
pub(in crate::mcp::http) fn parts(
    status: StatusCode,
    parts: impl IntoIterator<Item = Bytes>,
) -> Response {
    of(status, "application/json", Body::of_parts(parts))
}

/// An answer that is a JSON-RPC error.
pub(in crate::mcp::http) fn error(
    status: StatusCode,
    id: Option<&RequestId>,
    error: &ErrorObject,
) -> Response {
    message(status, WrittenMessage::error(id, error))
}

/// The answer to a message that is refused; without an id where that could not be read.
pub(in crate::mcp::http) fn bad_request(
    id: Option<&RequestId>,
    why: &ErrorObject,
) -> Box<Response> {
    Box::new(error(StatusCode::BAD_REQUEST, id, why))
}

/// The answer to a request that the guard does not let in.
pub(in crate::mcp::http) fn refused(refusal: &RequestRefusal) -> Response {
    tracing::debug!("a request was refused: {refusal}");
    let mut response = text(refusal.status(), format!("{refusal}\n"));
    if let Some(challenge) = refusal.challenge() {
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    response
}

/// An answer that has ended before there was one: an empty stream of events.
pub(in crate::mcp::http) fn nothing() -> Response {
    of(
        StatusCode::OK,
        "text/event-stream",
        Body::whole(Bytes::new()),
    )
}

/// An answer that is a stream of events, which nobody on the way is to keep.
pub(in crate::mcp::http) fn events(events: SentEvents) -> Response {
    let body = Body {
        content: AnswerContent::Events(Box::new(EventText::new(events))),
        held: None,
        room: None,
    };
    let mut response = of(StatusCode::OK, "text/event-stream", body);
    for (name, value) in [("cache-control", "no-cache"), ("x-accel-buffering", "no")] {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    response
}

/// The answer to a method that there is not, with those that there are.
pub(in crate::mcp::http) fn not_allowed(allowed: &'static str, why: &'static str) -> Response {
    let mut response = text(StatusCode::METHOD_NOT_ALLOWED, why);
    let allowed = HeaderValue::from_static(allowed);
    response.headers_mut().insert(ALLOW, allowed);
    response
}

/// The answer to a request that cannot be begun now, but may be soon.
pub(in crate::mcp::http) fn busy(id: &RequestId, why: &str) -> Box<Response> {
    let error_of = ErrorObject::internal_error(why.to_owned());
    let response = error(StatusCode::SERVICE_UNAVAILABLE, Some(id), &error_of);
    Box::new(retried_soon(response))
}

/// Has a client try again in a second.
pub(in crate::mcp::http) fn retried_soon(mut response: Response) -> Response {
    let soon = HeaderValue::from_static("1");
    response.headers_mut().insert(RETRY_AFTER, soon);
    response
}

/// The answer to a session that is not there.
pub(in crate::mcp::http) fn no_session() -> Response {
    text(StatusCode::NOT_FOUND, "there is no such session\n")
}

/// Holds something until an answer has gone out.
pub(in crate::mcp::http) fn hold(mut response: Response, held: AnswerResources) -> Response {
    response.body_mut().held = Some(held);
    response
}

/// Holds room until an answer has gone out.
pub(in crate::mcp::http) fn hold_room(mut response: Response, room: TakenAnswerRoom) -> Response {
    response.body_mut().room = Some(room);
    response
}
