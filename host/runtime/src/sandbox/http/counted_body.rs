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
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use wasmtime_wasi_http::{Error, WasiBody};

use crate::sandbox::NetworkGate;

/// Reason why a request ends that its user has allowed for one call.
pub(super) const CALL_IS_OVER: &str = "it was allowed for one call alone, which is over";

/// A body that fails when its call has sent and read enough, and once its call is over where it was
/// allowed for that alone.
pub(super) struct CountedBody {
    body: WasiBody,
    gate: NetworkGate,
    /// End of its call; none where its request is granted for longer.
    end: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
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
    pub(super) fn of_request(
        body: WasiBody,
        gate: NetworkGate,
        end: Option<CancellationToken>,
    ) -> Self {
        Self {
            body,
            gate,
            end: end.map(|end| Box::pin(end.cancelled_owned())),
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
        end: Option<CancellationToken>,
    ) -> Self {
        Self {
            body,
            gate,
            end: end.map(|end| Box::pin(end.cancelled_owned())),
            between: between.map(|time| (time, Box::pin(tokio::time::sleep(time)))),
            reads_on: false,
            _open: Some(open),
        }
    }

    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        if let Some(end) = &mut self.end
            && end.as_mut().poll(cx).is_ready()
        {
            // Whoever writes or sends it is told so, too.
            self.body = WasiBody::default();
            self.reads_on = false;
            let why = Some(CALL_IS_OVER.to_owned());
            return Poll::Ready(Some(Err(Error::InternalError(why))));
        }
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
            end: self.end.take(),
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
        drop(CountedBody::of_request(read, gate(), None));
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

    /// Also those that nobody sends or reads just then, and what was written before.
    #[tokio::test]
    async fn bodies_of_a_request_that_is_granted_for_one_call_end_with_it() {
        let gate = gate();
        let end = || {
            let judged = gate.judge("POST", "http://127.0.0.1:8/");
            judged.ok().and_then(|granted| granted.end)
        };
        assert!(end().is_none());
        gate.grant_once("POST http://127.0.0.1:8".parse().unwrap());
        assert!(end().is_some());
        let made = || HostOutgoingBody::new(StreamContext::Request, None, 1, 1024);
        let (mut body, read) = made();
        let mut stream = body.take_output_stream().unwrap();
        let mut sent = CountedBody::of_request(read, gate.clone(), end());
        for _ in 0..2 {
            stream.write_ready().await.unwrap();
            stream.write(Bytes::from_static(b"x")).unwrap();
        }
        let frame = sent.frame().await.unwrap().unwrap();
        assert_eq!(frame.into_data().unwrap(), "x");
        let (mut unsent, read) = made();
        let mut unsent = unsent.take_output_stream().unwrap();
        drop(CountedBody::of_request(read, gate.clone(), end()));
        let (_answering, read) = made();
        let open = gate.http().open().await.unwrap();
        let mut read = CountedBody::of_response(read, gate.clone(), open, None, end());
        let waiting = tokio::spawn(async move { (read.frame().await, read.frame().await) });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        gate.end();
        assert!(end().is_none(), "it is granted after its call");
        let over = |frame: Option<Result<Frame<Bytes>, Error>>| match frame {
            Some(Err(Error::InternalError(Some(why)))) => why == CALL_IS_OVER,
            _ => false,
        };
        assert!(over(sent.frame().await));
        let (first, second) = waiting.await.unwrap();
        assert!(over(first) && over(second), "trailers come after the call");
        for stream in [&mut stream, &mut unsent] {
            while stream.write_ready().await.is_ok() {
                tokio::task::yield_now().await;
            }
        }
    }
}
