//! Body of a response whose beginning was read where its connection is read.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Response;
use http_body::{Body as _, Frame, SizeHint};
use reqwest::Body;

/// A body whose first piece was read before, where it has come with the head. To read it on another
/// thread is to wake the one of its connection, and most bodies have one piece only.
pub struct BegunBody {
    first: Option<reqwest::Result<Frame<Bytes>>>,
    /// None as soon as it has ended.
    rest: Option<Body>,
}

impl BegunBody {
    /// Reads the first piece of a response's body, if it is there already.
    pub(super) async fn of(response: Response<Body>) -> Response<Self> {
        let (parts, mut rest) = response.into_parts();
        let read = poll_fn(|cx| Poll::Ready(Pin::new(&mut rest).poll_frame(cx))).await;
        let has_ended = matches!(read, Poll::Ready(None)) || rest.is_end_stream();
        let first = match read {
            Poll::Ready(first) => first,
            Poll::Pending => None,
        };
        let rest = (!has_ended).then_some(rest);
        Response::from_parts(parts, Self { first, rest })
    }
}

impl http_body::Body for BegunBody {
    type Data = Bytes;
    type Error = reqwest::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<reqwest::Result<Frame<Bytes>>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(first));
        }
        match &mut self.rest {
            Some(rest) => Pin::new(rest).poll_frame(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.rest.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let hint = self.rest.as_ref().map(Body::size_hint);
        let mut hint = hint.unwrap_or_else(|| SizeHint::with_exact(0));
        let first = self.first.as_ref().and_then(|first| first.as_ref().ok());
        let first = first.and_then(Frame::data_ref);
        let bytes = first.map_or(0, Bytes::len) as u64;
        // In this order: it may be exact, and is never less than it is at least.
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper.saturating_add(bytes));
        }
        hint.set_lower(hint.lower().saturating_add(bytes));
        hint
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt as _, Full};
    use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

    use super::*;

    /// A body of pieces that come when they come.
    struct Pieces(UnboundedReceiver<reqwest::Result<&'static str>>);

    impl http_body::Body for Pieces {
        type Data = Bytes;
        type Error = reqwest::Error;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Option<reqwest::Result<Frame<Bytes>>>> {
            let piece = self.0.poll_recv(cx);
            piece.map_ok(|text| Frame::data(Bytes::from_static(text.as_bytes())))
        }
    }

    #[tokio::test]
    async fn what_has_come_with_the_head_is_read_before_the_rest() {
        for first in [None, Some("one ")] {
            let (sender, pieces) = unbounded_channel();
            if let Some(first) = first {
                sender.send(Ok(first)).unwrap();
            }
            let response = Response::new(Body::wrap(Pieces(pieces)));
            let body = BegunBody::of(response).await.into_body();
            assert_eq!(body.size_hint().lower(), first.map_or(0, str::len) as u64);
            assert!(!body.is_end_stream());
            sender.send(Ok("two ")).unwrap();
            sender.send(Ok("three")).unwrap();
            drop(sender);
            let read = body.collect().await.unwrap().to_bytes();
            assert_eq!(read, format!("{}two three", first.unwrap_or_default()));
        }
    }

    #[tokio::test]
    async fn a_body_of_one_piece_is_at_its_end_behind_it() {
        for text in ["", "it is well"] {
            let response = Response::new(Body::wrap(Full::<Bytes>::from(text)));
            let mut body = BegunBody::of(response).await.into_body();
            assert_eq!(body.is_end_stream(), text.is_empty());
            assert_eq!(body.size_hint().exact(), Some(text.len() as u64));
            while let Some(frame) = body.frame().await {
                assert_eq!(frame.unwrap().into_data().unwrap(), text);
                assert!(body.is_end_stream());
                assert_eq!(body.size_hint().exact(), Some(0));
            }
        }
    }

    /// The head has come, so it is a response, whose body fails when it is read.
    #[tokio::test]
    async fn a_body_that_fails_at_once_is_that_of_a_response() {
        let (sender, pieces) = unbounded_channel();
        let url = url::Url::parse("http://a.example").unwrap();
        let client = crate::client(&url, crate::Reach::Configured).unwrap();
        let no_url = client.get("nowhere").build();
        sender.send(Err(no_url.unwrap_err())).unwrap();
        let response = Response::new(Body::wrap(Pieces(pieces)));
        let body = BegunBody::of(response).await.into_body();
        assert!(body.collect().await.is_err());
    }
}
