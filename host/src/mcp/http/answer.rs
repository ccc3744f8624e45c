//! Answers over HTTP, and resources that are held until they have gone out.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::{BoxStream, SelectAll};
use http_body::Frame;
use http_body_util::BodyExt as _;
use http_body_util::combinators::BoxBody;
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use rmcp::model::JsonRpcError;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::answer_room::AnswerPlace;
use super::connections::RequestInProgress;
use crate::mcp::verbatim;

/// HTTP response to a request.
pub(super) type Response = hyper::Response<Body>;

/// The body of an answer.
pub(super) struct Body {
    content: Content,
    held: Option<Held>,
}

enum Content {
    /// The parts of a text.
    Whole(VecDeque<Bytes>),
    /// Body of rmcp: a message, or a stream of events, each in one frame.
    Rmcp(BoxBody<Bytes, Infallible>),
    /// Frames of several bodies.
    Together(Together),
}

/// The frames of several bodies, as they come.
pub(super) type Together = SelectAll<BoxStream<'static, Result<Frame<Bytes>, Infallible>>>;

/// Resources that are held until an answer has gone out, or nobody wants it any more.
pub(super) struct Held {
    pub(super) busy: RequestInProgress,
    pub(super) _running: Option<TaskTrackerToken>,
    /// Place of an answer that goes out in a stream.
    pub(super) _place: Option<Arc<AnswerPlace>>,
}

impl Body {
    fn whole(bytes: impl Into<Bytes>) -> Self {
        Self::of_parts([bytes.into()])
    }

    fn of_parts(parts: impl IntoIterator<Item = Bytes>) -> Self {
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        Self {
            content: Content::Whole(parts.collect()),
            held: None,
        }
    }

    /// Returns all parts of the body. They keep the room that was taken for it.
    pub(super) async fn parts(self) -> VecDeque<Bytes> {
        match self.content {
            Content::Whole(parts) => parts,
            content => {
                let body = Self {
                    content,
                    held: self.held,
                };
                let Ok(body) = body.collect().await;
                VecDeque::from([body.to_bytes()])
            }
        }
    }
}

impl From<BoxBody<Bytes, Infallible>> for Body {
    fn from(body: BoxBody<Bytes, Infallible>) -> Self {
        Self {
            content: Content::Rmcp(body),
            held: None,
        }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.content {
            Content::Whole(parts) => {
                Poll::Ready(parts.pop_front().map(|part| Ok(Frame::data(part))))
            }
            Content::Rmcp(body) => {
                let frame = Pin::new(body).poll_frame(cx);
                frame.map_ok(|frame| frame.map_data(verbatim::unfolded))
            }
            Content::Together(frames) => frames.poll_next_unpin(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Whole(parts) => parts.is_empty(),
            Content::Rmcp(body) => body.is_end_stream(),
            Content::Together(frames) => frames.is_empty(),
        }
    }

    fn size_hint(&self) -> http_body::SizeHint {
        match &self.content {
            Content::Whole(parts) => {
                let bytes: usize = parts.iter().map(Bytes::len).sum();
                http_body::SizeHint::with_exact(bytes as u64)
            }
            // A result that was folded is shorter when it is not.
            Content::Rmcp(_) | Content::Together(_) => http_body::SizeHint::default(),
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
pub(super) fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(Body::whole(Bytes::new()));
    *response.status_mut() = status;
    response
}

/// An answer for people.
pub(super) fn text(status: StatusCode, text: impl Into<Cow<'static, str>>) -> Response {
    let bytes = match text.into() {
        Cow::Borrowed(text) => Bytes::from_static(text.as_bytes()),
        Cow::Owned(text) => text.into(),
    };
    of(status, "text/plain; charset=utf-8", Body::whole(bytes))
}

/// An answer that is a message.
pub(super) fn json(status: StatusCode, message: Vec<u8>) -> Response {
    of(status, "application/json", Body::whole(message))
}

/// The same in parts.
pub(super) fn json_of(status: StatusCode, parts: impl IntoIterator<Item = Bytes>) -> Response {
    of(status, "application/json", Body::of_parts(parts))
}

/// An answer that is a JSON-RPC error.
pub(super) fn error(status: StatusCode, error: JsonRpcError) -> Response {
    // Without an id where it could not be read: MCP has none that is null. Writing an
    // error into memory cannot fail.
    let message = serde_json::to_vec(&error).unwrap_or_default();
    json(status, verbatim::unfolded(message.into()).into())
}

/// An answer that has ended before there was one: an empty stream of events.
pub(super) fn nothing() -> Response {
    of(
        StatusCode::OK,
        "text/event-stream",
        Body::whole(Bytes::new()),
    )
}

/// An answer that is a stream of events, which nobody on the way is to keep.
pub(super) fn events(frames: Together) -> Response {
    let body = Body {
        content: Content::Together(frames),
        held: None,
    };
    let mut response = of(StatusCode::OK, "text/event-stream", body);
    for (name, value) in [("cache-control", "no-cache"), ("x-accel-buffering", "no")] {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    response
}

/// The answer to a session that is not there.
pub(super) fn no_session() -> Response {
    text(StatusCode::NOT_FOUND, "there is no such session\n")
}

/// Holds something until an answer has gone out.
pub(super) fn hold(mut response: Response, held: Held) -> Response {
    response.body_mut().held = Some(held);
    response
}
