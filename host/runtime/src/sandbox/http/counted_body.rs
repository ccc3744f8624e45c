//! Bodies of requests and responses, counted against what the call may send and read.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use dormouse_egress::OpenRequest;
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep};
use wasmtime_wasi_http::{Error, WasiBody};

use crate::sandbox::NetworkGate;

/// A body that fails when its call has sent and read enough.
pub(super) struct CountedBody {
    body: WasiBody,
    gate: NetworkGate,
    /// Time that may pass between two pieces, and the end of that time.
    between: Option<(Duration, Pin<Box<Sleep>>)>,
    /// Room of the request whose response it is of.
    _open: Option<OpenRequest>,
}

impl CountedBody {
    /// Makes it of the body of a request.
    pub(super) fn of_request(body: WasiBody, gate: NetworkGate) -> Self {
        Self {
            body,
            gate,
            between: None,
            _open: None,
        }
    }

    /// Makes it of the body of a response.
    pub(super) fn of_response(
        body: WasiBody,
        gate: NetworkGate,
        open: OpenRequest,
        between: Option<Duration>,
    ) -> Self {
        Self {
            body,
            gate,
            between: between.map(|time| (time, Box::pin(tokio::time::sleep(time)))),
            _open: Some(open),
        }
    }

    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        loop {
            let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) else {
                if let Some((_, end)) = &mut self.between {
                    ready!(end.as_mut().poll(cx));
                    return Poll::Ready(Some(Err(Error::ConnectionReadTimeout)));
                }
                return Poll::Pending;
            };
            if let Some((time, end)) = &mut self.between {
                end.as_mut().reset(Instant::now() + *time);
            }
            // What comes behind the body is for nobody: its size has no limit.
            match frame {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        return Poll::Ready(Some(Ok(data)));
                    }
                }
            }
        }
    }
}

impl Body for CountedBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let data = match ready!(self.poll_data(cx)) {
            Some(Ok(data)) => data,
            Some(Err(error)) => return Poll::Ready(Some(Err(error))),
            None => return Poll::Ready(None),
        };
        Poll::Ready(Some(match self.gate.take_bytes(data.len()) {
            Ok(()) => Ok(Frame::data(data)),
            Err(reason) => Err(Error::InternalError(Some(reason))),
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
