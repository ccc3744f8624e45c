//! Body of a response without the secrets that its host was given.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};

use super::found_texts::FoundTexts;
use super::masked_body_error::MaskedBodyError;
use super::masker::Masker;
use super::response_mask::ResponseMask;
use crate::longer_hint::longer_by;

/// A body in which known texts are hidden, also where one comes in several pieces. It is as long as
/// the body that it is made of; one that breaks off ends before what was kept back.
pub struct MaskedBody<B> {
    body: B,
    /// Texts that are hidden, which may become more.
    mask: ResponseMask,
    /// None as long as its host gets no secret: the body passes as it is.
    masker: Option<Masker>,
    found: FoundTexts,
    /// Trailers, while bytes before them have not been read.
    trailers: Option<HeaderMap>,
    has_ended: bool,
}

impl<B> MaskedBody<B> {
    pub(crate) fn new(body: B, mask: ResponseMask, found: FoundTexts) -> Self {
        Self {
            body,
            masker: mask.mask().cloned().map(Masker::new),
            mask,
            found,
            trailers: None,
            has_ended: false,
        }
    }

    /// Hides what other requests have brought to its host meanwhile, from here on. Returns whether that is
    /// found in it.
    fn update(&mut self) -> bool {
        if !self.mask.update() {
            return true;
        }
        let Some(mask) = self.mask.mask().cloned() else {
            return true;
        };
        let is_found = self.found.has_all_of(&mask);
        match &mut self.masker {
            Some(masker) => masker.replace(mask),
            None => self.masker = Some(Masker::new(mask)),
        }
        is_found
    }
}

impl<B> fmt::Debug for MaskedBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MaskedBody").finish_non_exhaustive()
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for MaskedBody<B> {
    type Data = Bytes;
    type Error = MaskedBodyError<B::Error>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = &mut *self;
        while !this.has_ended {
            let frame = ready!(Pin::new(&mut this.body).poll_frame(cx));
            // After the wait: what another request has brought meanwhile may be in these bytes.
            if !this.update() {
                this.has_ended = true;
                return Poll::Ready(Some(Err(MaskedBodyError::Unreadable)));
            }
            let Some(masker) = &mut this.masker else {
                return Poll::Ready(frame.map(|frame| frame.map_err(MaskedBodyError::Body)));
            };
            let shown = match frame.map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => masker.push(&data),
                Some(Err(error)) => {
                    // What is kept may be a part of a text, whose rest does not come any more.
                    drop(masker.finish());
                    this.has_ended = true;
                    return Poll::Ready(Some(Err(MaskedBodyError::Body(error))));
                }
                Some(Ok(Err(frame))) => {
                    let Ok(mut trailers) = frame.into_trailers() else {
                        continue;
                    };
                    if let Some(mask) = this.mask.mask() {
                        mask.hide_in_headers(&mut trailers);
                    }
                    this.trailers = Some(trailers);
                    this.has_ended = true;
                    masker.finish()
                }
                None => {
                    this.has_ended = true;
                    masker.finish()
                }
            };
            if !shown.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(shown))));
            }
        }
        let trailers = this.trailers.take().map(Frame::trailers);
        Poll::Ready(trailers.map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        let kept = self.masker.as_ref().map_or(0, Masker::kept_bytes);
        match self.has_ended {
            true => self.trailers.is_none(),
            false => kept == 0 && self.body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        let kept = self.masker.as_ref().map_or(0, Masker::kept_bytes);
        longer_by(self.body.size_hint(), kept as u64)
    }
}

#[cfg(test)]
mod tests;
