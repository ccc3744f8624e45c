//! Body of a response whose beginning was read where its connection is read.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Response;
use http_body::{Body as _, Frame, SizeHint};
use reqwest::Body;

use crate::longer_hint::longer_by;

/// Longest body whose first piece is read before its plugin wants it, in bytes: until then, nobody counts
/// it.
const MAX_BEGUN_BYTES: u64 = 64 << 10;

/// A body whose first piece was read before, where it is short and has come with the head. To read it on
/// another thread is to wake the one of its connection, and most bodies have one piece only.
pub struct BegunBody {
    first: Option<reqwest::Result<Frame<Bytes>>>,
    /// None as soon as it has ended.
    rest: Option<Body>,
}

impl BegunBody {
    /// Reads the first piece of a response's body, if that is short by what it says, and is there already.
    pub(super) async fn of(response: Response<Body>) -> Response<Self> {
        let (parts, mut rest) = response.into_parts();
        let upper = rest.size_hint().upper();
        if upper.is_none_or(|bytes| bytes > MAX_BEGUN_BYTES) {
            let (first, rest) = (None, Some(rest));
            return Response::from_parts(parts, Self { first, rest });
        }
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
        let hint = hint.unwrap_or_else(|| SizeHint::with_exact(0));
        let first = self.first.as_ref().and_then(|first| first.as_ref().ok());
        let first = first.and_then(Frame::data_ref);
        longer_by(hint, first.map_or(0, Bytes::len) as u64)
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt as _, Full};
    use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

    use super::*;

    /// A body of pieces that come when they come, which says that it is no longer than so much.
    struct Pieces(
        UnboundedReceiver<reqwest::Result<&'static str>>,
        Option<u64>,
    );

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

        fn size_hint(&self) -> SizeHint {
            let mut hint = SizeHint::new();
            if let Some(upper) = self.1 {
                hint.set_upper(upper);
            }
            hint
        }
    }

    #[tokio::test]
    async fn what_has_come_with_the_head_is_read_before_the_rest() {
        let short = Some(MAX_BEGUN_BYTES);
        for (first, upper, is_begun) in [
            (None, short, false),
            (Some("one "), short, true),
            (Some("one "), short.map(|bytes| bytes + 1), false),
            (Some("one "), None, false),
        ] {
            let (sender, pieces) = unbounded_channel();
            if let Some(first) = first {
                sender.send(Ok(first)).unwrap();
            }
            let response = Response::new(Body::wrap(Pieces(pieces, upper)));
            let body = BegunBody::of(response).await.into_body();
            assert_eq!(body.first.is_some(), is_begun);
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
        let response = Response::new(Body::wrap(Pieces(pieces, Some(1))));
        let body = BegunBody::of(response).await.into_body();
        assert!(body.collect().await.is_err());
    }
}
