//! Bodies of requests and responses, counted against what the call may send and read.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use dormouse_egress::OpenRequest;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;
use tokio::runtime::Handle;
use tokio::time::{Instant, Sleep};
use wasmtime_wasi_http::{Error, WasiBody};

use crate::sandbox::NetworkGate;

/// A body that fails when its call has sent and read enough.
pub(super) struct CountedBody {
    body: WasiBody,
    gate: NetworkGate,
    /// Time that may pass between two pieces, and the end of that time.
    between: Option<(Duration, Pin<Box<Sleep>>)>,
    /// Whether it is read to its end also where it is dropped before.
    reads_on: bool,
    /// Room of the request whose response it is of.
    _open: Option<OpenRequest>,
}

impl CountedBody {
    /// Makes it of the body of a request. It is read on where nobody sends it any more: hyper lets go
    /// of the body of a GET at once, and a guest that comes to write it only then, be it empty, would
    /// take its closed stream for a failed request.
    pub(super) fn of_request(body: WasiBody, gate: NetworkGate) -> Self {
        Self {
            body,
            gate,
            between: None,
            reads_on: true,
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
            reads_on: false,
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

impl Drop for CountedBody {
    fn drop(&mut self) {
        // Most requests have no body at all.
        if !self.reads_on || self.body.is_end_stream() {
            return;
        }
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let mut rest = Self {
            body: std::mem::take(&mut self.body),
            gate: self.gate.clone(),
            between: None,
            reads_on: false,
            _open: None,
        };
        // Until the guest has finished it, or is gone.
        runtime.spawn(async move { while let Some(Ok(_)) = rest.frame().await {} });
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dormouse_egress::GrantedHttp;
    use dormouse_policy::{Grants, Limits};
    use wasmtime_wasi_http::p2::body::{HostOutgoingBody, StreamContext};

    use super::*;
    use crate::sandbox::{GivenSecrets, InstanceOutput};

    fn gate() -> NetworkGate {
        let http = Arc::<GrantedHttp>::default();
        let secrets = GivenSecrets::new(&Grants::default(), &Arc::default(), &http);
        let limits = Limits {
            http_bytes: 10,
            ..Limits::default()
        };
        let output = InstanceOutput::new("net", 1000, secrets);
        NetworkGate::new("net", output, http, &limits)
    }

    #[tokio::test]
    async fn a_request_that_is_answered_early_does_not_fail_its_writer() {
        let (mut body, read) = HostOutgoingBody::new(StreamContext::Request, None, 1, 1024);
        let mut stream = body.take_output_stream().unwrap();
        drop(CountedBody::of_request(read, gate()));
        for _ in 0..10 {
            stream.write_ready().await.unwrap();
            stream.write(Bytes::from_static(b"x")).unwrap();
        }
        // What nobody sends counts no less.
        stream.write_ready().await.unwrap();
        stream.write(Bytes::from_static(b"x")).unwrap();
        while stream.write_ready().await.is_ok() {
            tokio::task::yield_now().await;
        }
    }
}
