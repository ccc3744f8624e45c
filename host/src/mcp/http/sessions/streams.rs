//! Streams of a session, and the memory that they keep.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use rmcp::model::RequestId;
use tokio::time::Instant;

use super::event::EventId;
use super::stream::{EventStream, EvictionClass};
use crate::mcp::http::answers::written::WrittenMessage;
use crate::mcp::messages::error_object::ErrorObject;

/// The number of the stream that answers no request.
pub(super) const STANDALONE_STREAM: u64 = 0;

/// Time for which an answer is kept: as long as clients mostly wait for one.
pub(super) const ANSWER_RETENTION: Duration = Duration::from_secs(60);

/// Most streams that are kept of those that have their answers.
const MAX_ENDED_STREAMS: usize = 64;

/// Most streams without kept answers of which it is known that they were answered.
const KNOWN: usize = 256;

/// The streams of one session.
pub(super) struct EventStreams {
    all: BTreeMap<u64, EventStream>,
    /// Memory of all streams that could be freed, in bytes.
    bytes: usize,
    /// Number of those that have their answers.
    ended: usize,
    /// Streams whose answers are kept no longer, and their requests.
    gone: VecDeque<(u64, RequestId)>,
}

impl EventStreams {
    pub(super) fn new() -> Self {
        Self {
            all: BTreeMap::from([(STANDALONE_STREAM, EventStream::new(STANDALONE_STREAM, None))]),
            bytes: 0,
            ended: 0,
            gone: VecDeque::new(),
        }
    }

    /// Opens a stream for the answer to a request.
    pub(super) fn open(&mut self, number: u64, request: RequestId) {
        let stream = EventStream::new(number, Some(request));
        self.all.insert(number, stream);
    }

    /// Calls `act` with a stream, if it is there.
    pub(super) fn on<T>(
        &mut self,
        number: u64,
        act: impl FnOnce(&mut EventStream) -> T,
    ) -> Option<T> {
        let stream = self.all.get_mut(&number)?;
        let (bytes, ended) = (stream.bytes(), stream.ended().is_some());
        let done = act(stream);
        self.bytes = self.bytes - bytes + stream.bytes();
        self.ended += usize::from(!ended && stream.ended().is_some());
        Some(done)
    }

    /// Lets a client that had that event go on after it. Returns the reader's turn, or none where
    /// no such event is known.
    pub(super) fn resume(
        &mut self,
        after: EventId,
        is_asked: impl FnOnce(&RequestId) -> bool,
    ) -> Option<u64> {
        let gone = |(number, _): &(u64, RequestId)| *number == after.stream;
        if let Some(place) = self.gone.iter().position(gone) {
            let (number, request) = self.gone.remove(place)?;
            // That id means another request by now.
            if is_asked(&request) {
                return None;
            }
            let stream = EventStream::after(after, request.clone());
            self.all.insert(number, stream);
            let lost = "the answer is kept no longer: the client was away for too long";
            self.on(number, |stream| stream.answer(error(&request, lost)));
        }
        self.on(after.stream, |stream| {
            let sent = stream.has_sent(after.index);
            sent.then(|| stream.attach(Some(after.index)))
        })?
    }

    /// Checks whether nothing comes after that event, or no such event is known.
    pub(super) fn is_over(
        &self,
        after: EventId,
        is_asked: impl FnOnce(&RequestId) -> bool,
    ) -> bool {
        if let Some(stream) = self.all.get(&after.stream) {
            return stream.is_over(after.index);
        }
        // Who comes back for an answer that is kept no longer hears of it.
        let mut gone = self.gone.iter();
        let gone = gone.find(|(number, _)| *number == after.stream);
        gone.is_none_or(|(_, request)| is_asked(request))
    }

    /// Forgets answers that are kept for too long, or are too many.
    pub(super) fn expire(&mut self, now: Instant) {
        while self.ended > 0 {
            let ended = self.all.iter().filter(|(_, stream)| !stream.is_read());
            let ended = ended.filter_map(|(number, stream)| Some((stream.ended()?, *number)));
            match ended.min() {
                Some((at, number))
                    if self.ended > MAX_ENDED_STREAMS
                        || now.duration_since(at) > ANSWER_RETENTION =>
                {
                    self.forget(number);
                }
                _ => break,
            }
        }
    }

    /// Drops the oldest events above that many bytes.
    pub(super) fn shrink(&mut self, most: usize) {
        // Who does not read is sent away, and after that nobody is there to read.
        for what in [
            EvictionClass::Read,
            EvictionClass::Away,
            EvictionClass::Unread,
            EvictionClass::Away,
        ] {
            if self.bytes <= most {
                return;
            }
            let numbers: Vec<u64> = self.all.keys().copied().collect();
            for number in numbers {
                while self.bytes > most
                    && self.on(number, |stream| stream.spare(what)) == Some(true)
                {}
                let empty = |stream: &EventStream| {
                    stream.is_empty() && stream.ended().is_some() && !stream.is_read()
                };
                if self.all.get(&number).is_some_and(empty) {
                    self.forget(number);
                }
            }
        }
    }

    /// Ends all streams for good.
    pub(super) fn end(&mut self) {
        let numbers: Vec<u64> = self.all.keys().copied().collect();
        for number in numbers {
            drop(self.take(number));
        }
        self.gone.clear();
    }

    /// Drops a stream that has its answer.
    fn forget(&mut self, number: u64) {
        let Some(stream) = self.take(number) else {
            return;
        };
        if let Some(request) = stream.request() {
            self.gone.push_back((number, request.clone()));
        }
        if self.gone.len() > KNOWN {
            self.gone.pop_front();
        }
    }

    fn take(&mut self, number: u64) -> Option<EventStream> {
        self.on(number, EventStream::close);
        let stream = self.all.remove(&number)?;
        self.bytes -= stream.bytes();
        self.ended -= usize::from(stream.ended().is_some());
        Some(stream)
    }
}

/// Returns the error that a client gets instead of an answer.
pub(super) fn error(request: &RequestId, why: impl Into<String>) -> WrittenMessage {
    let error = ErrorObject::internal_error(why.into());
    WrittenMessage::error(Some(request), &error)
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::mcp::http::sessions::tests::{log, value};

    fn id(number: u64) -> RequestId {
        RequestId::Number(i64::try_from(number).unwrap())
    }

    /// So many streams of which nobody has read the answer yet, each so long.
    fn answered(many: u64, bytes: usize) -> EventStreams {
        let mut streams = EventStreams::new();
        for number in 1..=many {
            streams.open(number, id(number));
            streams.on(number, |stream| stream.answer(log(bytes)));
        }
        streams
    }

    fn bytes(streams: &EventStreams) -> usize {
        streams.all.values().map(EventStream::bytes).sum()
    }

    #[test]
    fn answers_are_kept_for_some_time_and_only_so_many() {
        let many = u64::try_from(MAX_ENDED_STREAMS).unwrap() + 3;
        let mut streams = answered(many, 10);
        streams.expire(Instant::now());
        assert_eq!(streams.ended, MAX_ENDED_STREAMS);
        assert!(
            !streams.all.contains_key(&3)
                && streams.all.contains_key(&4)
                && streams.all.contains_key(&many)
        );
        let reading = streams.on(4, |stream| stream.attach(None)).unwrap();
        streams.expire(Instant::now() + ANSWER_RETENTION + Duration::from_secs(1));
        assert_eq!(streams.ended, 1, "who reads an answer can do so");
        streams.on(4, |stream| stream.detach(reading));
        streams.expire(Instant::now() + ANSWER_RETENTION + Duration::from_secs(1));
        assert_eq!((streams.ended, streams.bytes), (0, 0));
        assert_eq!(streams.all.len(), 1);
    }

    #[test]
    fn who_comes_too_late_hears_of_it_once() {
        let mut streams = answered(3, 10);
        streams.expire(Instant::now() + ANSWER_RETENTION + Duration::from_secs(1));
        let after = |stream| EventId { index: 5, stream };
        for (stream, is_asked, is_over) in [(2, true, true), (9, false, true), (1, false, false)] {
            assert_eq!(
                streams.is_over(after(stream), |_| is_asked),
                is_over,
                "{stream}"
            );
        }
        assert_eq!(streams.resume(after(2), |_| true), None);
        assert_eq!(streams.resume(after(9), |_| false), None);
        let turn = streams.resume(after(1), |_| false).unwrap();
        let cx = Context::from_waker(Waker::noop());
        let polled = streams.on(1, |stream| stream.poll(turn, &cx)).unwrap();
        let Poll::Ready(Some(event)) = polled else {
            panic!("{polled:?}");
        };
        let error = value(&event.message);
        assert_eq!((&error["id"], event.index), (&1.into(), 6));
        assert!(error["error"]["message"].is_string(), "{error}");
        let polled = streams.on(1, |stream| stream.poll(turn, &cx)).unwrap();
        assert!(matches!(polled, Poll::Ready(None)));
    }

    #[test]
    fn what_is_too_much_is_forgotten_oldest_first() {
        const KIB: usize = 1 << 10;
        let mut streams = answered(8, 100 * KIB);
        streams.on(STANDALONE_STREAM, |stream| stream.send(log(100 * KIB)));
        assert_eq!(streams.bytes, bytes(&streams));
        streams.shrink(650 * KIB);
        // The news, of which there is more to come, before answers; and these in the
        // order in which they were asked for.
        let left: Vec<u64> = streams.all.keys().copied().collect();
        assert_eq!(left, [0, 3, 4, 5, 6, 7, 8]);
        assert!(streams.all[&STANDALONE_STREAM].is_empty());
        // Who is there to read an answer gets it.
        let reading = streams.on(3, |stream| stream.attach(None)).unwrap();
        streams.shrink(0);
        assert!(streams.all.contains_key(&3));
        assert_eq!((streams.all.len(), streams.bytes), (2, 0));
        streams.on(3, |stream| stream.detach(reading));
        assert_eq!(streams.bytes, bytes(&streams));
        streams.shrink(0);
        assert_eq!((streams.all.len(), streams.ended), (1, 0));
    }
}
