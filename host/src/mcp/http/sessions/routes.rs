//! Routes of a session's messages to its streams.

use std::collections::HashMap;
use std::sync::Arc;

use rmcp::model::RequestId;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The requests of a session that are not answered yet.
#[derive(Default)]
pub(super) struct Routes {
    asked: HashMap<RequestId, UnansweredRequest>,
}

/// A request that is not answered yet.
#[derive(Clone)]
pub(super) struct UnansweredRequest {
    /// Number of its stream, where it has one. No other request of the session has the same.
    pub(super) number: u64,
    /// Whether it has a stream. Until then it can be answered without any.
    has_stream: bool,
    /// Notified when it gets a stream.
    pub(super) streamed: Arc<Notify>,
    /// Cancelled to end it.
    pub(super) cancel: CancellationToken,
}

/// Stream of the messages that belong to a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// One that is there already.
    Open,
    /// One that has to be opened now.
    New,
    /// None: the request is not on its way any more.
    Gone,
}

impl Routes {
    pub(super) fn is_idle(&self) -> bool {
        self.asked.is_empty()
    }

    pub(super) fn is_asked(&self, request: &RequestId) -> bool {
        self.asked.contains_key(request)
    }

    /// Claims the id of a request; `None` where one of that id is on its way already.
    pub(super) fn claim(&mut self, request: &RequestId, number: u64) -> Option<UnansweredRequest> {
        if self.is_asked(request) {
            return None;
        }
        let asked = UnansweredRequest {
            number,
            has_stream: false,
            streamed: Arc::default(),
            cancel: CancellationToken::new(),
        };
        self.asked.insert(request.clone(), asked.clone());
        Some(asked)
    }

    /// Returns the stream of a request, which has one from then on.
    pub(super) fn stream(&mut self, request: &RequestId, number: u64) -> Route {
        let asked = self.asked.get_mut(request);
        let Some(asked) = asked.filter(|asked| asked.number == number) else {
            return Route::Gone;
        };
        if asked.has_stream {
            return Route::Open;
        }
        asked.has_stream = true;
        asked.streamed.notify_one();
        Route::New
    }

    /// Checks whether a request has a stream.
    pub(super) fn has_stream(&self, request: &RequestId, number: u64) -> bool {
        let asked = self.asked.get(request);
        asked.is_some_and(|asked| asked.number == number && asked.has_stream)
    }

    /// Forgets a request, unless another one has its id by now. Returns whether it was there.
    pub(super) fn forget(&mut self, request: &RequestId, number: u64) -> bool {
        let asked = self.asked.get(request);
        let is_there = asked.is_some_and(|asked| asked.number == number);
        if is_there {
            self.asked.remove(request);
        }
        is_there
    }

    /// Cancels a request. One that has a stream is forgotten; returns the stream's number.
    pub(super) fn cancel(&mut self, request: &RequestId) -> Option<u64> {
        let asked = self.asked.get(request)?;
        asked.cancel.cancel();
        let number = asked.has_stream.then_some(asked.number)?;
        self.asked.remove(request);
        Some(number)
    }

    /// Cancels and forgets all.
    pub(super) fn end(&mut self) {
        for (_, asked) in self.asked.drain() {
            asked.cancel.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    fn id(number: i64) -> RequestId {
        RequestId::Number(number)
    }

    /// Two requests, the first with a stream.
    fn routes() -> (Routes, [UnansweredRequest; 2]) {
        let mut routes = Routes::default();
        let asked = [(1, 11), (2, 12)];
        let asked = asked.map(|(request, number)| routes.claim(&id(request), number).unwrap());
        assert_eq!(routes.stream(&id(1), 11), Route::New);
        (routes, asked)
    }

    #[test]
    fn a_request_gets_one_stream() {
        let (mut routes, [first, second]) = routes();
        assert_eq!(routes.stream(&id(1), 11), Route::Open);
        assert!(first.streamed.notified().now_or_never().is_some());
        assert!(second.streamed.notified().now_or_never().is_none());
        assert!(routes.has_stream(&id(1), 11) && !routes.has_stream(&id(2), 12));
        // One that is answered, was never there, or had that id before.
        assert!(routes.forget(&id(1), 11) && !routes.forget(&id(1), 11));
        for (request, number) in [(1, 11), (3, 13), (2, 11)] {
            assert_eq!(
                routes.stream(&id(request), number),
                Route::Gone,
                "{request}"
            );
        }
    }

    #[test]
    fn an_id_is_for_one_request_at_a_time() {
        let (mut routes, [first, second]) = routes();
        assert!(routes.claim(&id(1), 13).is_none() && routes.claim(&id(2), 14).is_none());
        // Whoever has claimed it earlier does not take it from whoever has it now.
        assert!(!routes.forget(&id(2), 11) && routes.is_asked(&id(2)));
        // With a stream it is free at once, and without one when its work has ended.
        assert_eq!(routes.cancel(&id(1)), Some(11));
        assert_eq!(routes.cancel(&id(2)), None);
        assert!(first.cancel.is_cancelled() && second.cancel.is_cancelled());
        let third = routes.claim(&id(1), 15).unwrap();
        assert!(routes.claim(&id(2), 16).is_none());
        assert!(routes.forget(&id(2), 12));
        routes.end();
        assert!(third.cancel.is_cancelled() && routes.is_idle());
    }
}
