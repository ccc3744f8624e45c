//! Routes of a session's messages to its streams.

use std::collections::HashMap;

use rmcp::model::{Extensions, GetExtensions as _, RequestId, ServerJsonRpcMessage};
use rmcp::service::OriginatingRequestId;
use tokio_util::sync::CancellationToken;

use super::streams::STANDALONE_STREAM;

/// The requests of a session that are not answered yet.
#[derive(Default)]
pub(super) struct Routes {
    asked: HashMap<RequestId, UnansweredRequest>,
}

/// A request that is not answered yet.
struct UnansweredRequest {
    /// The number of its stream, where it has one.
    number: u64,
    /// Whether it has a stream: before that it is answered without any.
    streams: bool,
    /// Cancelled to end it, as long as rmcp does not know of it.
    cancel: CancellationToken,
}

/// Destination of a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// The answer with which that stream ends.
    Answer(u64),
    /// That stream.
    On(u64),
    /// No stream: nobody waits for the message.
    Nowhere,
}

impl Routes {
    pub(super) fn is_idle(&self) -> bool {
        self.asked.is_empty()
    }

    pub(super) fn is_asked(&self, request: &RequestId) -> bool {
        self.asked.contains_key(request)
    }

    /// Claims the id of a request; `None` where one of that id is on its way already.
    pub(super) fn claim(&mut self, request: &RequestId, number: u64) -> Option<CancellationToken> {
        if self.is_asked(request) {
            return None;
        }
        let cancel = CancellationToken::new();
        let asked = UnansweredRequest {
            number,
            streams: false,
            cancel: cancel.clone(),
        };
        self.asked.insert(request.clone(), asked);
        Some(cancel)
    }

    /// Forgets a request that has not got a stream.
    pub(super) fn release(&mut self, request: &RequestId, number: u64) {
        let unused = |asked: &UnansweredRequest| asked.number == number && !asked.streams;
        if self.asked.get(request).is_some_and(unused) {
            self.asked.remove(request);
        }
    }

    /// Gives a claimed request a stream, and returns its number.
    pub(super) fn stream(&mut self, request: &RequestId) -> Option<u64> {
        let asked = self.asked.get_mut(request)?;
        asked.streams = true;
        Some(asked.number)
    }

    /// Ends a request that has no stream.
    pub(super) fn cancel(&self, request: &RequestId) {
        if let Some(asked) = self.asked.get(request) {
            asked.cancel.cancel();
        }
    }

    /// Forgets a request that has a stream, and returns the stream's number.
    pub(super) fn forget(&mut self, request: &RequestId) -> Option<u64> {
        let number = self
            .asked
            .get(request)
            .filter(|asked| asked.streams)?
            .number;
        self.asked.remove(request);
        Some(number)
    }

    /// Forgets all, and returns the requests that have streams.
    pub(super) fn end(&mut self) -> Vec<RequestId> {
        let Self { asked, .. } = std::mem::take(self);
        let asked = asked.into_iter();
        asked
            .filter_map(|(request, asked)| {
                asked.cancel.cancel();
                asked.streams.then_some(request)
            })
            .collect()
    }

    /// Returns the stream of the request that a message belongs to, or the one of those that belong
    /// to none: also where the request has no stream yet, or any more.
    fn on(&self, extensions: &Extensions) -> Route {
        let origin = extensions.get::<OriginatingRequestId>();
        let asked = origin.and_then(|origin| self.asked.get(&origin.0));
        let asked = asked.filter(|asked| asked.streams);
        Route::On(asked.map_or(STANDALONE_STREAM, |asked| asked.number))
    }

    /// Returns the destination of a message. A message that belongs to no request goes to the
    /// stream without one.
    pub(super) fn of(&mut self, message: &ServerJsonRpcMessage) -> Route {
        let answer = |this: &mut Self, request: Option<&RequestId>| {
            let number = request.and_then(|request| this.forget(request));
            number.map_or(Route::Nowhere, Route::Answer)
        };
        match message {
            ServerJsonRpcMessage::Response(response) => answer(self, Some(&response.id)),
            ServerJsonRpcMessage::Error(error) => answer(self, error.id.as_ref()),
            ServerJsonRpcMessage::Request(question) => self.on(question.request.extensions()),
            ServerJsonRpcMessage::Notification(said) => self.on(said.notification.extensions()),
        }
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::{NumberOrString, ServerRequest};
    use serde_json::{Value, json};

    use super::*;
    use crate::mcp::http::sessions::tests::log;

    fn id(number: i64) -> RequestId {
        NumberOrString::Number(number)
    }

    fn message(message: Value) -> ServerJsonRpcMessage {
        serde_json::from_value(message).unwrap()
    }

    fn answer(request: i64) -> ServerJsonRpcMessage {
        message(json!({ "jsonrpc": "2.0", "id": request, "result": {} }))
    }

    fn question(number: i64, origin: Option<i64>) -> ServerJsonRpcMessage {
        let mut request: ServerRequest =
            serde_json::from_value(json!({ "method": "ping" })).unwrap();
        if let Some(origin) = origin {
            let origin = OriginatingRequestId(id(origin));
            request.extensions_mut().insert(origin);
        }
        ServerJsonRpcMessage::request(request, id(number))
    }

    fn said_in(request: i64) -> ServerJsonRpcMessage {
        let mut said = log(0);
        if let ServerJsonRpcMessage::Notification(said) = &mut said {
            let origin = OriginatingRequestId(id(request));
            said.notification.extensions_mut().insert(origin);
        }
        said
    }

    /// Two requests, each with a stream of its own, and one without.
    fn routes() -> Routes {
        let mut routes = Routes::default();
        for (request, number) in [(1, 11), (2, 12), (3, 13)] {
            assert!(routes.claim(&id(request), number).is_some());
        }
        for (request, number) in [(1, 11), (2, 12)] {
            assert_eq!(routes.stream(&id(request)), Some(number));
        }
        routes
    }

    #[test]
    fn each_message_goes_where_it_belongs() {
        for (message, expected) in [
            (answer(1), Route::Answer(11)),
            (answer(2), Route::Answer(12)),
            (answer(3), Route::Nowhere),
            (answer(4), Route::Nowhere),
            (question(1, Some(2)), Route::On(12)),
            (question(1, Some(3)), Route::On(STANDALONE_STREAM)),
            (question(1, None), Route::On(STANDALONE_STREAM)),
            (log(0), Route::On(STANDALONE_STREAM)),
            (said_in(1), Route::On(11)),
            (said_in(2), Route::On(12)),
            (said_in(3), Route::On(STANDALONE_STREAM)),
        ] {
            assert_eq!(routes().of(&message), expected, "{message:?}");
        }
    }

    #[test]
    fn what_belongs_to_a_request_ends_with_it() {
        let mut routes = routes();
        // Questions have names of their own, like those of requests or not.
        assert_eq!(routes.of(&question(2, Some(1))), Route::On(11));
        assert_eq!(routes.of(&question(7, Some(1))), Route::On(11));
        assert_eq!(routes.of(&said_in(1)), Route::On(11));
        assert_eq!(routes.of(&answer(1)), Route::Answer(11));
        for message in [question(9, Some(1)), said_in(1)] {
            assert_eq!(
                routes.of(&message),
                Route::On(STANDALONE_STREAM),
                "{message:?}"
            );
        }
        assert_eq!(routes.of(&answer(1)), Route::Nowhere);
        assert_eq!(routes.of(&said_in(2)), Route::On(12));
    }

    #[test]
    fn an_id_is_for_one_request_at_a_time() {
        let mut routes = routes();
        assert!(routes.claim(&id(3), 14).is_none());
        assert!(routes.claim(&id(1), 15).is_none());
        // Whoever has claimed it earlier does not take it from whoever has it now.
        routes.release(&id(3), 12);
        assert!(routes.is_asked(&id(3)));
        routes.release(&id(3), 13);
        assert!(routes.claim(&id(3), 16).is_some());
        // With a stream it is there until the answer.
        routes.release(&id(1), 11);
        assert!(routes.is_asked(&id(1)));
        assert_eq!(routes.forget(&id(3)), None);
        assert_eq!(routes.forget(&id(1)), Some(11));
        let mut left = routes.end();
        assert_eq!(left.pop(), Some(id(2)));
        assert!(left.is_empty() && routes.is_idle());
    }
}
