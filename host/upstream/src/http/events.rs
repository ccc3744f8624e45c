//! Streams of server-sent events.

use std::collections::VecDeque;
use std::time::Duration;

use dormouse_egress::causes;
use reqwest::Response;
use tokio::task::coop::consume_budget;

use super::event::ReceivedEvent;
use super::event_parser::{Cut, Parser};
use crate::messages::read_room::ReadRoom;

/// The events of one response.
pub(super) struct ReceivedEvents {
    response: Response,
    parser: Parser,
    ready: VecDeque<ReceivedEvent>,
}

impl ReceivedEvents {
    /// Reads the events of a response, as far as there is room for them.
    pub(super) fn new(response: Response, room: &ReadRoom) -> Self {
        Self {
            response,
            parser: Parser::new(room),
            ready: VecDeque::new(),
        }
    }

    /// Returns the next event; `None` when the server has ended the stream. A part of an event at
    /// the end is no event. Cancel safe.
    ///
    /// # Errors
    /// The stream has broken, or the event is too large.
    pub(super) async fn next(&mut self) -> Result<Option<ReceivedEvent>, Cut> {
        loop {
            // What comes as fast as it is read would keep a thread from all others: a body that has
            // more is no reason for its reader to wait.
            consume_budget().await;
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            match self.response.chunk().await {
                Ok(Some(chunk)) => self.parser.feed(&chunk, &mut self.ready)?,
                Ok(None) => return Ok(None),
                Err(error) => return Err(Cut::Broken(causes(error))),
            }
        }
    }

    /// Allows no more bytes of one event from now on.
    pub(super) fn limit(&mut self, bytes: usize) {
        self.parser.place.limit(bytes);
    }

    /// Returns the time that the server wants its clients to wait before connecting again.
    pub(super) fn retry(&self) -> Option<Duration> {
        self.parser.retry
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Such a stream is as fast as it is read, so that nothing else makes its reader wait.
    #[tokio::test]
    async fn a_stream_that_never_pauses_keeps_nobody_waiting() {
        use std::sync::Arc;
        use std::sync::atomic::{AtomicUsize, Ordering};

        let chunk = || Ok::<_, std::io::Error>("data:x\n\n".repeat(10));
        let chunks = futures::stream::iter(std::iter::repeat_with(chunk).take(10_000));
        let body = reqwest::Body::wrap_stream(chunks);
        let mut events =
            ReceivedEvents::new(hyper::Response::new(body).into(), &ReadRoom::new(1024));
        let turns = Arc::new(AtomicUsize::new(0));
        let others = Arc::clone(&turns);
        let other = tokio::spawn(async move {
            loop {
                others.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
            }
        });
        let mut read = 0;
        while events.next().await.unwrap().is_some() {
            read += 1;
        }
        other.abort();
        assert_eq!(read, 100_000);
        let turns = turns.load(Ordering::Relaxed);
        assert!(turns > 500, "{turns} turns of another task");
    }
}
