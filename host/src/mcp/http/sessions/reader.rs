//! A client that reads a stream.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::event::EventId;
use super::session::HttpSession;
use crate::mcp::http::answers::sse::SentEvent;

/// Time after which a client that has lost its connection is told to come back: well before its
/// call is given up.
const RETRY: Duration = Duration::from_millis(500);

/// The events of a stream, for one reader. Dropped, it leaves.
pub(in super::super) struct StreamEventReader {
    session: Arc<HttpSession>,
    stream: u64,
    /// Number of this reader among the stream's; none where there is nothing to read.
    turn: Option<u64>,
    /// An event with an id alone, which goes first.
    priming: Option<EventId>,
    /// Retry time that goes out with the first event.
    retry: Option<Duration>,
}

impl StreamEventReader {
    /// Makes a reader, for a session that has counted it.
    pub(super) fn new(
        session: Arc<HttpSession>,
        stream: u64,
        turn: Option<u64>,
        priming: Option<EventId>,
    ) -> Self {
        Self {
            session,
            stream,
            turn,
            priming,
            retry: Some(RETRY),
        }
    }
}

impl futures::Stream for StreamEventReader {
    type Item = SentEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<SentEvent>> {
        let (mut id, mut message) = (self.priming.take(), None);
        if id.is_none() {
            let Some(turn) = self.turn else {
                return Poll::Ready(None);
            };
            let mut state = self.session.state.lock();
            let polled = state
                .streams
                .on(self.stream, |stream| stream.poll(turn, cx));
            drop(state);
            let Some(event) = std::task::ready!(polled.unwrap_or(Poll::Ready(None))) else {
                return Poll::Ready(None);
            };
            id = Some(EventId {
                index: event.index,
                stream: self.stream,
            });
            message = Some(event.message);
        }
        Poll::Ready(Some(SentEvent {
            id,
            retry: self.retry.take(),
            message,
        }))
    }
}

impl Drop for StreamEventReader {
    fn drop(&mut self) {
        self.session.leave(self.stream, self.turn);
    }
}
