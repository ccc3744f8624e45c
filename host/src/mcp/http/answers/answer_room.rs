//! Memory of messages to clients that are being written: clients may leave any number of them
//! unread.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;

use crate::mcp::messages::error_object::ErrorObject;

/// Most memory that all messages take together that are being written, in bytes.
const MAX_BYTES: usize = 256 << 20;

/// Length in bytes up to which messages go out in any case: connections have a limit of their own.
const SHORT_BYTES: usize = 16 << 10;

/// Room that all clients share. Each may have as much as is free, so that one that reads nothing
/// leaves half of it to the others.
pub(in crate::mcp::http) struct AnswerRoom {
    most: usize,
    taken: Mutex<AnswerRoomUse>,
}

#[derive(Default)]
struct AnswerRoomUse {
    bytes: usize,
    by_client: HashMap<String, usize>,
}

/// Room of one message, or of the answers to a batch, until this is dropped.
pub(in crate::mcp::http) struct TakenAnswerRoom {
    room: Arc<AnswerRoom>,
    client: String,
    bytes: usize,
}

/// Error: there is no room for a message.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "too many long messages wait to be read by clients\n\
     hint: read those that are there, and ask again"
)]
pub(in crate::mcp::http) struct NoAnswerRoom;

/// Text of a message, with its room.
struct RoomyText {
    text: Vec<u8>,
    _room: TakenAnswerRoom,
}

/// Room for the messages to one client.
#[derive(Clone)]
pub(in crate::mcp::http) struct ClientAnswerRoom {
    room: Arc<AnswerRoom>,
    client: String,
    /// Whether short ones take room as well: one connection may have very many of them.
    counts_short: bool,
}

impl NoAnswerRoom {
    /// Returns the error that a client gets instead of an answer. It is no HTTP status that would
    /// make the client send its call once more, as the call has run.
    pub(in crate::mcp::http) fn error(self) -> ErrorObject {
        ErrorObject::internal_error(self.to_string())
    }
}

impl Default for AnswerRoom {
    fn default() -> Self {
        Self::new(MAX_BYTES)
    }
}

impl AnswerRoom {
    pub(in crate::mcp::http) fn new(most: usize) -> Self {
        Self {
            most,
            taken: Mutex::default(),
        }
    }

    /// Takes room for messages to a client of that name.
    ///
    /// # Errors
    /// There is no room for it.
    fn take(self: &Arc<Self>, client: &str, bytes: usize) -> Result<TakenAnswerRoom, NoAnswerRoom> {
        let mut taken = self.taken.lock();
        let own = taken.by_client.get(client).copied().unwrap_or_default();
        if own.saturating_add(bytes) > self.most.saturating_sub(taken.bytes) {
            return Err(NoAnswerRoom);
        }
        taken.bytes += bytes;
        taken.by_client.insert(client.to_owned(), own + bytes);
        Ok(TakenAnswerRoom {
            room: Arc::clone(self),
            client: client.to_owned(),
            bytes,
        })
    }

    /// Returns the room for the messages to a client of that name.
    pub(in crate::mcp::http) fn of_client(self: &Arc<Self>, client: String) -> ClientAnswerRoom {
        ClientAnswerRoom {
            room: Arc::clone(self),
            client,
            counts_short: false,
        }
    }
}

impl ClientAnswerRoom {
    /// Makes it one where short answers take room as well, where they are `many`.
    pub(in crate::mcp::http) fn counting_short(self, many: bool) -> Self {
        Self {
            counts_short: many,
            ..self
        }
    }

    /// Checks whether a message of that length takes room.
    pub(super) fn counts(&self, bytes: usize) -> bool {
        self.counts_short || bytes > SHORT_BYTES
    }

    /// Takes room for so many bytes, whatever they are.
    ///
    /// # Errors
    /// There is no room for them.
    pub(in crate::mcp::http) fn reserve(
        &self,
        bytes: usize,
    ) -> Result<TakenAnswerRoom, NoAnswerRoom> {
        self.room.take(&self.client, bytes)
    }

    /// Takes room for so many bytes, unless they are few.
    ///
    /// # Errors
    /// There is no room for them.
    pub(in crate::mcp::http) fn reserve_long(
        &self,
        bytes: usize,
    ) -> Result<Option<TakenAnswerRoom>, NoAnswerRoom> {
        match self.counts(bytes) {
            true => self.reserve(bytes).map(Some),
            false => Ok(None),
        }
    }

    /// Returns a text that has room as long as any part of it is there.
    ///
    /// # Errors
    /// There is no room for it.
    pub(super) fn hold(&self, text: Vec<u8>) -> Result<Bytes, NoAnswerRoom> {
        if !self.counts(text.len()) {
            return Ok(text.into());
        }
        let room = self.room.take(&self.client, text.capacity())?;
        Ok(Bytes::from_owner(RoomyText { text, _room: room }))
    }
}

impl Drop for TakenAnswerRoom {
    fn drop(&mut self) {
        let mut taken = self.room.taken.lock();
        taken.bytes = taken.bytes.saturating_sub(self.bytes);
        if let Some(own) = taken.by_client.get_mut(&self.client) {
            *own = own.saturating_sub(self.bytes);
            if *own == 0 {
                taken.by_client.remove(&self.client);
            }
        }
    }
}

impl AsRef<[u8]> for RoomyText {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn text(mib: usize) -> Vec<u8> {
        vec![b'x'; mib * MIB]
    }

    #[test]
    fn a_client_that_reads_nothing_leaves_room_to_others() {
        let room = Arc::new(AnswerRoom::new(16 * MIB));
        let of = |client: &str| room.of_client(client.to_owned());
        let held: Vec<_> = (0..20).map(|_| of("a").hold(text(1))).collect();
        assert_eq!(held.iter().flatten().count(), 8);
        // What is short goes out whatever there is.
        assert!(of("a").hold(vec![0; SHORT_BYTES]).is_ok());
        let other = of("b").hold(text(4)).unwrap();
        assert!(of("b").hold(text(4)).is_err());
        // Each part of a text keeps the room of all of it.
        let part = other.slice(..7);
        drop(other);
        assert_eq!(room.taken.lock().bytes, 12 * MIB);
        drop((part, held));
        let taken = room.taken.lock();
        assert_eq!((taken.bytes, taken.by_client.len()), (0, 0));
    }

    #[test]
    fn one_answer_may_have_all_of_it_and_none_more() {
        let room = Arc::new(AnswerRoom::new(2 * MIB));
        let of = |client: &str| room.of_client(client.to_owned());
        assert!(of("a").hold(text(3)).is_err());
        let held = of("a").hold(text(2)).unwrap();
        assert_eq!(of("b").hold(text(1)), Err(NoAnswerRoom));
        drop(held);
        assert!(of("b").hold(text(1)).is_ok());
    }
}
