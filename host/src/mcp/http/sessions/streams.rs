//! All streams of a session, and how much of them is kept.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage};
use tokio::time::Instant;

use super::event::EventId;
use super::stream::{Spare, Stream};

/// The number of the stream that answers no request.
pub(super) const NEWS: u64 = 0;

/// How long an answer is kept after it was there: as long as clients mostly wait for
/// one.
pub(super) const KEPT: Duration = Duration::from_secs(60);

/// How many of the streams that have their answers are kept.
const MOST: usize = 64;

/// Of how many streams it is known that their answers were there.
const KNOWN: usize = 256;

/// The streams of one session.
pub(super) struct Streams {
    all: BTreeMap<u64, Stream>,
    /// What they keep, and could do without.
    bytes: usize,
    /// How many have their answers.
    ended: usize,
    /// Streams whose answers are kept no longer, and the requests that these were for.
    gone: VecDeque<(u64, RequestId)>,
}

impl Streams {
    pub(super) fn new() -> Self {
        Self {
            all: BTreeMap::from([(NEWS, Stream::new(NEWS, None))]),
            bytes: 0,
            ended: 0,
            gone: VecDeque::new(),
        }
    }

    /// Opens one for the answer to a request.
    pub(super) fn open(&mut self, number: u64, request: RequestId) {
        let stream = Stream::new(number, Some(request));
        self.all.insert(number, stream);
    }

    /// Does something with one, if it is there.
    pub(super) fn on<T>(&mut self, number: u64, act: impl FnOnce(&mut Stream) -> T) -> Option<T> {
        let stream = self.all.get_mut(&number)?;
        let (bytes, ended) = (stream.bytes(), stream.ended().is_some());
        let done = act(stream);
        self.bytes = self.bytes - bytes + stream.bytes();
        self.ended += usize::from(!ended && stream.ended().is_some());
        Some(done)
    }

    /// Ends one for good, with nothing more to be had of it.
    pub(super) fn close(&mut self, number: u64) {
        drop(self.take(number));
    }

    /// Lets a client that had that event go on after it. Gives the reader's turn, or
    /// nothing where no such event is known of.
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
            let stream = Stream::after(after, request.clone());
            self.all.insert(number, stream);
            let lost = "the answer is kept no longer: the client was away for too long";
            self.on(number, |stream| stream.answer(error(request, lost)));
        }
        self.on(after.stream, |stream| {
            let sent = stream.has_sent(after.index);
            sent.then(|| stream.attach(Some(after.index)))
        })?
    }

    /// Forgets answers that are kept for too long, or are too many.
    pub(super) fn expire(&mut self, now: Instant) {
        while self.ended > 0 {
            let ended = self.all.iter().filter(|(_, stream)| !stream.is_read());
            let ended = ended.filter_map(|(number, stream)| Some((stream.ended()?, *number)));
            match ended.min() {
                Some((at, number)) if self.ended > MOST || now.duration_since(at) > KEPT => {
                    self.forget(number);
                }
                _ => break,
            }
        }
    }

    /// Forgets what is more than that many bytes.
    pub(super) fn shrink(&mut self, most: usize) {
        // Who does not read is sent away, and after that nobody is there to read.
        for what in [Spare::Read, Spare::Away, Spare::Unread, Spare::Away] {
            if self.bytes <= most {
                return;
            }
            let numbers: Vec<u64> = self.all.keys().copied().collect();
            for number in numbers {
                while self.bytes > most
                    && self.on(number, |stream| stream.spare(what)) == Some(true)
                {}
                let empty = |stream: &Stream| {
                    stream.is_empty() && stream.ended().is_some() && !stream.is_read()
                };
                if self.all.get(&number).is_some_and(empty) {
                    self.forget(number);
                }
            }
        }
    }

    /// Ends all of them, for good.
    pub(super) fn end(&mut self) {
        let numbers: Vec<u64> = self.all.keys().copied().collect();
        for number in numbers {
            self.close(number);
        }
        self.gone.clear();
    }

    /// Drops one that has its answer.
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

    fn take(&mut self, number: u64) -> Option<Stream> {
        self.on(number, Stream::close);
        let stream = self.all.remove(&number)?;
        self.bytes -= stream.bytes();
        self.ended -= usize::from(stream.ended().is_some());
        Some(stream)
    }
}

/// What a client gets instead of an answer.
pub(super) fn error(request: RequestId, why: impl Into<String>) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(ErrorData::internal_error(why.into(), None), Some(request))
}
