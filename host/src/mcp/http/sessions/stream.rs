//! Stream of a session: the messages that go out on it, its reader, and the events that are kept
//! for a client that comes back.
//!
//! There is no queue besides the kept events. A reader has a place in these, and a sender never
//! waits for a reader: one that is too slow is sent away, and may come back for the events that are
//! still there.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use rmcp::model::RequestId;
use tokio::time::Instant;

use super::event::{EventId, StoredMessage};
use crate::mcp::http::answers::written::WrittenMessage;

/// Most events that are kept, those included that were not read yet.
pub(super) const MAX_EVENTS: usize = 2048;

/// A stream of events.
pub(super) struct EventStream {
    number: u64,
    /// The request whose answer ends it. The stream without a request has no end.
    request: Option<RequestId>,
    events: VecDeque<StoredMessage>,
    /// Memory that the events take together, in bytes.
    bytes: usize,
    /// The index of the next event.
    next: u64,
    /// The index of the first event that no reader has had.
    unread: u64,
    /// Number that grows with every reader: only the newest reader counts.
    turn: u64,
    /// The index of the event that the reader gets next, if there is one.
    reader: Option<u64>,
    /// Wakes the reader.
    waker: Option<Waker>,
    /// Time of its answer.
    ended: Option<Instant>,
}

/// Events that can be dropped where there are too many, the most dispensable first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EvictionClass {
    /// Events that were read, and are there only for a client that has missed them all the same.
    Read,
    /// Events without a reader.
    Away,
    /// Events that the reader does not read, except for an answer, which is kept.
    Unread,
}

impl EventStream {
    pub(super) fn new(number: u64, request: Option<RequestId>) -> Self {
        Self {
            number,
            request,
            events: VecDeque::new(),
            bytes: 0,
            next: 0,
            unread: 0,
            turn: 0,
            reader: None,
            waker: None,
            ended: None,
        }
    }

    /// Makes a stream of which it is only known that its client has had the event `id`.
    pub(super) fn after(id: EventId, request: RequestId) -> Self {
        let mut stream = Self::new(id.stream, Some(request));
        stream.next = id.index.saturating_add(1);
        stream.unread = stream.next;
        stream
    }

    pub(super) fn request(&self) -> Option<&RequestId> {
        self.request.as_ref()
    }

    /// Returns the time at which the stream's request was answered.
    pub(super) fn ended(&self) -> Option<Instant> {
        self.ended
    }

    pub(super) fn is_read(&self) -> bool {
        self.reader.is_some()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Checks whether the reader with that turn has left, and none has come since.
    pub(super) fn is_left(&self, turn: u64) -> bool {
        self.turn == turn && self.reader.is_none()
    }

    /// Returns the memory that could be freed, in bytes: all but that of an answer with a reader.
    pub(super) fn bytes(&self) -> usize {
        let owed = self.events.back().filter(|last| self.is_owed(last));
        self.bytes - owed.map_or(0, StoredMessage::bytes)
    }

    fn is_owed(&self, event: &StoredMessage) -> bool {
        let unread = self.reader.is_some_and(|next| event.index >= next);
        unread && self.ended.is_some() && event.index + 1 == self.next
    }

    /// Returns an id to come back with before the reader's first event; none where that event is
    /// there already, or none comes.
    pub(super) fn prime(&mut self) -> Option<EventId> {
        if self.reader.unwrap_or(self.unread) < self.next || self.ended.is_some() {
            return None;
        }
        let index = self.index();
        self.unread = self.next;
        if let Some(reader) = &mut self.reader {
            *reader = self.next;
        }
        Some(EventId {
            index,
            stream: self.number,
        })
    }

    /// Sends a message.
    pub(super) fn send(&mut self, message: WrittenMessage) {
        let index = self.index();
        let event = StoredMessage { index, message };
        self.bytes += event.bytes();
        self.events.push_back(event);
        while self.events.len() > MAX_EVENTS {
            self.drop_first();
        }
        self.wake();
    }

    /// Sends the answer, which is the last message: it is kept until it is read.
    pub(super) fn answer(&mut self, answer: WrittenMessage) {
        self.ended = Some(Instant::now());
        self.send(answer);
    }

    /// Attaches a reader from after that event on, or else from the first unread one; an earlier
    /// reader is sent away. Returns the reader's turn.
    pub(super) fn attach(&mut self, after: Option<u64>) -> u64 {
        self.turn += 1;
        self.reader = Some(after.map_or(self.unread, |index| index.saturating_add(1)));
        self.wake();
        self.turn
    }

    /// Detaches a reader. Returns whether it was the newest.
    pub(super) fn detach(&mut self, turn: u64) -> bool {
        let newest = self.turn == turn;
        if newest {
            self.reader = None;
        }
        newest
    }

    /// Checks whether the event with that index has ever been sent.
    pub(super) fn has_sent(&self, index: u64) -> bool {
        index < self.next
    }

    /// Checks whether no event comes after the one with that index, or there is none of it.
    pub(super) fn is_over(&self, index: u64) -> bool {
        let is_last = self.events.back().is_none_or(|last| last.index <= index);
        !self.has_sent(index) || (self.ended.is_some() && is_last)
    }

    /// The next event for the reader of that turn; none where there are no more for it.
    pub(super) fn poll(&mut self, turn: u64, cx: &Context<'_>) -> Poll<Option<StoredMessage>> {
        let Some(next) = self.reader.filter(|_| self.turn == turn) else {
            return Poll::Ready(None);
        };
        let first = self.events.partition_point(|event| event.index < next);
        if let Some(event) = self.events.get(first) {
            self.reader = Some(event.index + 1);
            self.unread = self.unread.max(event.index + 1);
            return Poll::Ready(Some(event.clone()));
        }
        if self.ended.is_some() {
            return Poll::Ready(None);
        }
        self.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Drops the oldest event, if it is of that class. Returns whether it was.
    pub(super) fn spare(&mut self, what: EvictionClass) -> bool {
        let Some(first) = self.events.front() else {
            return false;
        };
        let read = first.index < self.reader.unwrap_or(self.unread);
        let spared = match what {
            EvictionClass::Read => read,
            EvictionClass::Away => self.reader.is_none(),
            EvictionClass::Unread => self.reader.is_some() && !self.is_owed(first),
        };
        if spared {
            self.drop_first();
        }
        spared
    }

    /// Ends it for its reader.
    pub(super) fn close(&mut self) {
        self.reader = None;
        self.wake();
    }

    /// Takes the next index. It cannot overflow: it counts from an index that a client has
    /// come back with, which is at most [`EventId::MAX_INDEX`].
    fn index(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// Drops the oldest event. A reader that has not read it cannot go on as if nothing were
    /// missing.
    fn drop_first(&mut self) {
        let Some(event) = self.events.pop_front() else {
            return;
        };
        self.bytes -= event.bytes();
        // What is owed stays to be read all the same.
        let ends = self.ended.is_some();
        if self.reader.is_some_and(|next| event.index >= next) && !ends {
            self.close();
        }
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::http::sessions::tests::{answer, log};

    fn request() -> Option<RequestId> {
        Some(RequestId::Number(5))
    }

    /// Returns the events that a reader gets now, and whether it is over then.
    fn read(stream: &mut EventStream, turn: u64) -> (Vec<u64>, bool) {
        let mut indices = Vec::new();
        let cx = Context::from_waker(Waker::noop());
        loop {
            match stream.poll(turn, &cx) {
                Poll::Ready(Some(event)) => indices.push(event.index),
                Poll::Ready(None) => return (indices, true),
                Poll::Pending => return (indices, false),
            }
        }
    }

    #[test]
    fn who_comes_back_gets_what_came_after_and_nothing_else() {
        // What was sent before the reader left, what after, and after which event
        // it comes back; what it gets then.
        let table: [(u64, u64, u64, &[u64]); 5] = [
            (0, 0, 0, &[]),
            (0, 2, 0, &[1, 2]),
            (2, 0, 2, &[]),
            (2, 0, 0, &[1, 2]),
            (2, 2, 1, &[2, 3, 4]),
        ];
        for (before, meanwhile, after, expected) in table {
            for ends in [false, true] {
                let mut stream = EventStream::new(1, request());
                let turn = stream.attach(None);
                assert_eq!(stream.prime().map(|id| id.index), Some(0));
                (0..before).for_each(|_| stream.send(log(0)));
                assert_eq!(
                    read(&mut stream, turn),
                    ((1..=before).collect(), false),
                    "{before}"
                );
                assert!(stream.detach(turn) && stream.is_left(turn));
                (0..meanwhile).for_each(|_| stream.send(log(0)));
                let mut expected = expected.to_vec();
                if ends {
                    stream.answer(answer(5));
                    expected.push(before + meanwhile + 1);
                }
                // As often as it comes back.
                for _ in 0..2 {
                    let turn = stream.attach(Some(after));
                    assert!(!stream.is_left(turn));
                    assert_eq!(read(&mut stream, turn), (expected.clone(), ends));
                }
            }
        }
    }

    #[test]
    fn the_newest_reader_gets_what_is_new() {
        let mut stream = EventStream::new(0, None);
        stream.send(log(0));
        let first = stream.attach(None);
        // Where something waits, that has an id to come back with.
        assert_eq!(stream.prime(), None);
        assert_eq!(read(&mut stream, first), (vec![0], false));
        stream.send(log(0));
        let second = stream.attach(None);
        assert_eq!(read(&mut stream, first), (vec![], true));
        // That the older one has gone by and by is nothing to it.
        assert!(!stream.detach(first));
        assert_eq!(read(&mut stream, second), (vec![1], false));
        let third = stream.attach(None);
        assert_eq!(stream.prime().map(|id| id.to_string()), Some("2/0".into()));
        stream.send(log(0));
        assert_eq!(read(&mut stream, third), (vec![3], false));
    }

    #[test]
    fn who_does_not_read_is_sent_away_and_holds_nobody_up() {
        let mut stream = EventStream::new(0, None);
        let slow = stream.attach(None);
        (0..3 * MAX_EVENTS).for_each(|_| stream.send(log(0)));
        assert!(!stream.is_read() && stream.is_left(slow));
        assert_eq!(read(&mut stream, slow), (vec![], true));
        let back = stream.attach(Some(0));
        let (rest, over) = read(&mut stream, back);
        assert_eq!((rest.len(), over), (MAX_EVENTS, false));
        // Who reads stays, however much there is.
        for _ in 0..3 * MAX_EVENTS {
            stream.send(log(0));
            assert_eq!(read(&mut stream, back).0.len(), 1);
        }
    }

    #[test]
    fn what_is_spared_is_what_is_least_missed() {
        let kept = |stream: &EventStream| stream.events.iter().map(|event| event.index).collect();
        // Whether somebody reads it, whether it has its answer, what is spared, and
        // what is there after that of two events of which one was read, and the answer.
        let table: [(bool, bool, EvictionClass, &[u64]); 9] = [
            (true, false, EvictionClass::Read, &[1]),
            (false, false, EvictionClass::Read, &[1]),
            (true, true, EvictionClass::Read, &[1, 2]),
            (true, false, EvictionClass::Away, &[0, 1]),
            (false, false, EvictionClass::Away, &[]),
            (false, true, EvictionClass::Away, &[]),
            // Whoever has missed something is sent away, and the rest may wait.
            (true, false, EvictionClass::Unread, &[]),
            (true, true, EvictionClass::Unread, &[2]),
            (false, true, EvictionClass::Unread, &[0, 1, 2]),
        ];
        for (reads, ends, what, expected) in table {
            let case = format!("{reads} {ends} {what:?}");
            let mut stream = EventStream::new(1, request());
            let turn = stream.attach(None);
            stream.send(log(0));
            assert_eq!(read(&mut stream, turn), (vec![0], false));
            stream.send(log(1));
            if ends {
                stream.answer(answer(5));
            }
            if !reads {
                stream.detach(turn);
            }
            while stream.spare(what) {}
            let left: Vec<u64> = kept(&stream);
            assert_eq!(left, expected, "{case}");
            let bytes: usize = stream.events.iter().map(StoredMessage::bytes).sum();
            assert_eq!(stream.bytes, bytes, "{case}");
            let sent_away = reads && what == EvictionClass::Unread && !ends;
            assert_eq!(stream.is_left(turn), sent_away || !reads, "{case}");
        }
    }
}
