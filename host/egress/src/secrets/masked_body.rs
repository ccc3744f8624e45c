//! Body of a response without the secrets that its host was given.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};

use super::masker::Masker;
use super::response_mask::ResponseMask;

/// A body in which known texts are hidden, also where one comes in several pieces. It is as long as
/// the body that it is made of; one that breaks off ends before what was kept back.
pub struct MaskedBody<B> {
    body: B,
    /// None where its host gets no secret.
    masked: Option<Masked>,
    has_ended: bool,
}

struct Masked {
    masker: Masker,
    /// Texts that the masker hides, which may become more.
    mask: ResponseMask,
    /// Trailers, while bytes before them have not been read.
    trailers: Option<HeaderMap>,
}

impl<B> MaskedBody<B> {
    pub(crate) fn new(body: B, mask: Option<ResponseMask>) -> Self {
        Self {
            body,
            masked: mask.map(|mask| Masked {
                masker: Masker::new(mask.mask().clone()),
                mask,
                trailers: None,
            }),
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
        let Some(masked) = &mut this.masked else {
            return Pin::new(&mut this.body).poll_frame(cx);
        };
        while !this.has_ended {
            let frame = ready!(Pin::new(&mut this.body).poll_frame(cx));
            // After the wait: what another request has brought meanwhile may be in these bytes.
            if masked.mask.update() {
                masked.masker.replace(masked.mask.mask().clone());
            }
            let shown = match frame.map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => masked.masker.push(&data),
                Some(Err(error)) => {
                    // What is kept may be a part of a text, whose rest does not come any more.
                    drop(masked.masker.finish());
                    this.has_ended = true;
                    return Poll::Ready(Some(Err(error)));
                }
                Some(Ok(Err(frame))) => {
                    let Ok(mut trailers) = frame.into_trailers() else {
                        continue;
                    };
                    masked.mask.mask().hide_in_headers(&mut trailers);
                    masked.trailers = Some(trailers);
                    this.has_ended = true;
                    masked.masker.finish()
                }
                None => {
                    this.has_ended = true;
                    masked.masker.finish()
                }
            };
            if !shown.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(shown))));
            }
        }
        let trailers = masked.trailers.take().map(Frame::trailers);
        Poll::Ready(trailers.map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        match &self.masked {
            Some(masked) if self.has_ended => masked.trailers.is_none(),
            Some(masked) => masked.masker.kept_bytes() == 0 && self.body.is_end_stream(),
            None => self.body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = self.body.size_hint();
        let kept = self.masked.as_ref();
        let kept = kept.map_or(0, |masked| masked.masker.kept_bytes()) as u64;
        let upper = hint.upper();
        hint.set_lower(hint.lower().saturating_add(kept));
        if let Some(upper) = upper {
            hint.set_upper(upper.saturating_add(kept));
        }
        hint
    }
}

#[cfg(test)]
mod tests;
