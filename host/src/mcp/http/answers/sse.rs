//! Streams of server-sent events, each of which has one message.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use tokio::time::{Instant, Sleep, sleep};

use super::written::WrittenMessage;
use crate::mcp::http::sessions::EventId;

/// Time after which a stream without events has a comment, so that nobody on the way takes it for dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Length in bytes up to which an event goes out in one piece.
const SHORT_BYTES: usize = 16 << 10;

/// Events of a stream, as they come.
pub(in crate::mcp::http) type SentEvents = BoxStream<'static, SentEvent>;

/// An event.
pub(in crate::mcp::http) struct SentEvent {
    /// Id with which a client can come back for what came after it.
    pub(in crate::mcp::http) id: Option<EventId>,
    /// Time after which a client that has lost its connection is to come back.
    pub(in crate::mcp::http) retry: Option<Duration>,
    /// Its message; none of one that has only an id.
    pub(in crate::mcp::http) message: Option<WrittenMessage>,
}

impl From<WrittenMessage> for SentEvent {
    fn from(message: WrittenMessage) -> Self {
        Self {
            id: None,
            retry: None,
            message: Some(message),
        }
    }
}

impl SentEvent {
    /// Returns its text, in parts: a long message is not copied.
    fn parts(self) -> VecDeque<Bytes> {
        let id = self.id.map(|id| format!("id: {id}\n"));
        let retry = self
            .retry
            .map(|time| format!("retry: {}\n", time.as_millis()));
        let head = [id.as_deref(), retry.as_deref(), Some("data: ")];
        let head: String = head.into_iter().flatten().collect();
        let mut parts = VecDeque::from([Bytes::from(head)]);
        parts.extend(
            self.message
                .into_iter()
                .flat_map(WrittenMessage::into_parts),
        );
        parts.push_back(Bytes::from_static(b"\n\n"));
        if parts.iter().map(Bytes::len).sum::<usize>() > SHORT_BYTES {
            return parts;
        }
        let text: Vec<u8> = parts.iter().flatten().copied().collect();
        VecDeque::from([text.into()])
    }
}

/// Text of a stream of events, with comments while there are none.
pub(in crate::mcp::http) struct EventText {
    events: SentEvents,
    /// Parts of an event that go out next.
    next: VecDeque<Bytes>,
    /// Time after which a comment goes out.
    keep_alive: Duration,
    pause: Pin<Box<Sleep>>,
}

impl EventText {
    pub(in crate::mcp::http) fn new(events: SentEvents) -> Self {
        Self::kept_alive(events, KEEP_ALIVE)
    }

    fn kept_alive(events: SentEvents, keep_alive: Duration) -> Self {
        Self {
            events,
            next: VecDeque::new(),
            keep_alive,
            pause: Box::pin(sleep(keep_alive)),
        }
    }

    /// Returns the next part of the text; none at its end.
    pub(in crate::mcp::http) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.next.is_empty() {
            match self.events.poll_next_unpin(cx) {
                Poll::Ready(Some(event)) => self.next = event.parts(),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => {
                    std::task::ready!(self.pause.as_mut().poll(cx));
                    self.next.push_back(Bytes::from_static(b":\n\n"));
                }
            }
            self.pause.as_mut().reset(Instant::now() + self.keep_alive);
        }
        Poll::Ready(self.next.pop_front())
    }

    /// Returns the next event, if none has begun to go out.
    pub(in crate::mcp::http) fn poll_event(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<SentEvent>> {
        self.events.poll_next_unpin(cx)
    }
}

#[cfg(test)]
mod tests {
    use futures::stream;

    use super::*;

    fn text(events: Vec<SentEvent>) -> Vec<Bytes> {
        let mut text = EventText::new(stream::iter(events).boxed());
        let mut cx = Context::from_waker(std::task::Waker::noop());
        let mut parts = Vec::new();
        while let Poll::Ready(Some(part)) = text.poll(&mut cx) {
            parts.push(part);
        }
        parts
    }

    #[tokio::test]
    async fn an_event_has_its_fields_in_lines() {
        let id = EventId {
            index: 7,
            stream: 12,
        };
        let events = vec![
            SentEvent {
                id: Some(id),
                retry: Some(Duration::from_millis(500)),
                message: None,
            },
            SentEvent {
                id: Some(id),
                retry: None,
                message: Some(WrittenMessage::of_parts(vec![Bytes::from_static(b"{}")])),
            },
            WrittenMessage::of_parts(vec![Bytes::from_static(b"{}")]).into(),
        ];
        let expected = [
            "id: 7/12\nretry: 500\ndata: \n\n",
            "id: 7/12\ndata: {}\n\n",
            "data: {}\n\n",
        ];
        assert_eq!(text(events), expected);
    }

    #[tokio::test]
    async fn a_long_message_is_not_copied() {
        let long = Bytes::from(vec![b' '; 2 * SHORT_BYTES]);
        let parts = text(vec![WrittenMessage::of_parts(vec![long.clone()]).into()]);
        assert_eq!(parts.len(), 3);
        assert_eq!(parts[1].as_ptr(), long.as_ptr());
    }

    #[tokio::test]
    async fn a_stream_that_is_silent_has_comments() {
        let pause = Duration::from_millis(20);
        let mut text = EventText::kept_alive(stream::pending().boxed(), pause);
        let start = Instant::now();
        for _ in 0..2 {
            let part = std::future::poll_fn(|cx| text.poll(cx)).await;
            assert_eq!(part.unwrap(), ":\n\n");
        }
        assert!(start.elapsed() >= 2 * pause);
    }
}
