//! Body of a response without the secrets that its host was given.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::masker::{Mask, Masker};

/// A body in which known texts are hidden, also where one comes in several pieces. It is as long as
/// the body that it is made of.
pub struct MaskedBody<B> {
    body: B,
    /// None where nothing is hidden.
    masker: Option<Masker>,
    has_ended: bool,
}

impl<B> MaskedBody<B> {
    pub(crate) fn new(body: B, mask: Mask) -> Self {
        Self {
            body,
            masker: (!mask.is_empty()).then(|| Masker::new(mask)),
            has_ended: false,
        }
    }
}

impl<B> fmt::Debug for MaskedBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MaskedBody").finish_non_exhaustive()
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for MaskedBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = &mut *self;
        let Some(masker) = &mut this.masker else {
            return Pin::new(&mut this.body).poll_frame(cx);
        };
        while !this.has_ended {
            let shown = match ready!(Pin::new(&mut this.body).poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => masker.push(&data),
                    // What comes behind the body is for nobody.
                    Err(_) => continue,
                },
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => {
                    this.has_ended = true;
                    masker.finish()
                }
            };
            if !shown.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(shown))));
            }
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        match &self.masker {
            Some(masker) => self.has_ended || masker.kept_bytes() == 0 && self.body.is_end_stream(),
            None => self.body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = self.body.size_hint();
        let kept = self.masker.as_ref().map_or(0, Masker::kept_bytes) as u64;
        let upper = hint.upper();
        hint.set_lower(hint.lower().saturating_add(kept));
        if let Some(upper) = upper {
            hint.set_upper(upper.saturating_add(kept));
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::convert::Infallible;

    use http_body_util::BodyExt as _;

    use super::super::masker::Pattern;
    use super::*;

    /// A body of pieces, with trailers at its end.
    struct Pieces(VecDeque<Frame<Bytes>>);

    impl Body for Pieces {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Ready(self.0.pop_front().map(Ok))
        }
    }

    fn body(pieces: &[&'static str], mask: Mask) -> MaskedBody<Pieces> {
        let pieces = pieces.iter().map(|piece| Frame::data((*piece).into()));
        let mut trailers = http::HeaderMap::new();
        trailers.insert("x-key", "s3cret-text".parse().unwrap());
        let pieces = pieces.chain([Frame::trailers(trailers)]);
        MaskedBody::new(Pieces(pieces.collect()), mask)
    }

    #[tokio::test]
    async fn a_body_has_no_secret_and_its_length() {
        let mask = || Mask::new(vec![Pattern::new("s3cret-text").unwrap()]);
        for (pieces, shown) in [
            (&["it is s3cret-text."][..], "it is ***********."),
            (&["it is s3cr", "et-text", ""], "it is ***********"),
            (&["it is s3cret-tex", "t", "s3"], "it is ***********s3"),
            (&["it is s3cret-tex"], "it is s3cret-tex"),
            (&[], ""),
        ] {
            let read = body(pieces, mask()).collect().await.unwrap();
            assert!(read.trailers().is_none());
            assert_eq!(read.to_bytes(), shown, "{pieces:?}");
            let plain = body(pieces, Mask::default()).collect().await.unwrap();
            assert!(plain.trailers().is_some());
            assert_eq!(plain.to_bytes(), pieces.concat());
        }
    }

    #[tokio::test]
    async fn what_is_no_beginning_of_a_secret_is_not_kept_back() {
        let mask = Mask::new(vec![Pattern::new("s3cret-text").unwrap()]);
        let mut body = body(&["data: s3x\n\n", "data: s3", "cret"], mask);
        for (shown, kept) in [("data: s3x\n\n", 0), ("data: ", 2), ("s3cret", 0)] {
            let frame = body.frame().await.unwrap().unwrap();
            assert_eq!(frame.into_data().unwrap(), shown);
            assert_eq!(body.size_hint().lower(), kept, "{shown}");
        }
        assert!(body.frame().await.is_none());
        assert!(body.is_end_stream());
    }
}
