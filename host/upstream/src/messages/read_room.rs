//! Room for the parts of lines, answers and events that are not whole yet. All connections of one
//! server share it, because a server may begin as many messages as there are calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dormouse_policy::UpstreamLimits;

/// Bytes of one message that take no room: there are only so many calls at once.
const FREE_BYTES: usize = 64 << 10;

/// Most messages of the largest size that there is room for.
const MAX_LARGE_MESSAGES: usize = 2;

/// Room for the parts of messages that are not whole yet.
#[derive(Debug, Clone)]
pub(crate) struct ReadRoom {
    message_bytes: usize,
    batch_messages: usize,
    taken_bytes: Arc<AtomicUsize>,
}

/// Reasons for reading no further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoReadRoom {
    /// The message is larger than one may be, in bytes.
    #[error("more than {} MiB", .0 >> 20)]
    Message(usize),
    /// The messages that are not whole yet are larger than all may be together, in bytes.
    #[error("more than {} MiB together with the others that are not whole yet", .0 >> 20)]
    Shared(usize),
}

/// The room that one message has taken. It is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct ReadPlace {
    room: ReadRoom,
    /// Most bytes of the message.
    max_bytes: usize,
    /// Bytes that it has taken of the room.
    bytes: usize,
}

impl ReadRoom {
    pub(crate) fn new(message_bytes: usize) -> Self {
        Self {
            message_bytes,
            batch_messages: UpstreamLimits::default().batch_messages,
            taken_bytes: Arc::default(),
        }
    }

    /// Returns the same room, where `batch_messages` are taken of a batch at most.
    pub(crate) fn with_batches_of(self, batch_messages: usize) -> Self {
        Self {
            batch_messages,
            ..self
        }
    }

    /// Returns the most messages that are taken of one batch.
    pub(crate) fn batch_messages(&self) -> usize {
        self.batch_messages
    }

    /// Most bytes of one message.
    pub(crate) fn message_bytes(&self) -> usize {
        self.message_bytes
    }

    /// Returns a place for a message of which nothing has been read.
    pub(crate) fn place(&self) -> ReadPlace {
        ReadPlace {
            room: self.clone(),
            max_bytes: self.message_bytes,
            bytes: 0,
        }
    }
}

impl ReadPlace {
    /// Takes room for a message of which that many bytes have been read, or will have been.
    ///
    /// # Errors
    /// There is no such room.
    pub(crate) fn hold(&mut self, bytes: usize) -> Result<(), NoReadRoom> {
        if bytes > self.max_bytes {
            return Err(NoReadRoom::Message(self.max_bytes));
        }
        let wanted = bytes.saturating_sub(FREE_BYTES);
        let Some(more @ 1..) = wanted.checked_sub(self.bytes) else {
            return Ok(());
        };
        let most = self.room.message_bytes.saturating_mul(MAX_LARGE_MESSAGES);
        let taken = &self.room.taken_bytes;
        let taken = taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, |taken| {
            taken.checked_add(more).filter(|taken| *taken <= most)
        });
        taken.map_err(|_| NoReadRoom::Shared(most))?;
        self.bytes = wanted;
        Ok(())
    }

    /// Allows no more bytes of one message from now on.
    pub(crate) fn limit(&mut self, bytes: usize) {
        self.max_bytes = self.max_bytes.min(bytes);
    }

    /// Gives the room back: the message is whole.
    pub(crate) fn release(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        self.room.taken_bytes.fetch_sub(bytes, Ordering::AcqRel);
    }
}

impl Drop for ReadPlace {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
impl Default for ReadRoom {
    fn default() -> Self {
        Self::new(UpstreamLimits::default().message_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_are_not_whole_share_their_room() {
        let limit = 10 * FREE_BYTES;
        let room = ReadRoom::new(limit);
        let mut first = room.place();
        assert_eq!(first.hold(limit + 1), Err(NoReadRoom::Message(limit)));
        assert_eq!(first.hold(limit), Ok(()));
        let mut others: Vec<ReadPlace> = (0..100).map(|_| room.place()).collect();
        // Small ones need none.
        assert!(others.iter_mut().all(|one| one.hold(FREE_BYTES).is_ok()));
        let held = others
            .iter_mut()
            .map_while(|one| one.hold(limit / 2).ok())
            .count();
        assert_eq!(held, 2);
        drop(first);
        assert_eq!(others[50].hold(limit), Ok(()));
        assert!(others[60].hold(limit).is_err());
        // What grows takes no more than it grows by.
        (1..=10).for_each(|part| others[50].hold(part * limit / 10).unwrap());
        others[50].release();
        assert_eq!(others[60].hold(limit), Ok(()));
    }
}
