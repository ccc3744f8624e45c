//! Memory that the messages of clients share while they are on their way.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dormouse_jsonrpc::{TextPart, text_parts};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::error_object::ErrorObject;

/// Number of times that the bytes of a long message are kept while its call is on its way: as the
/// text, the arguments, and the message to an upstream.
pub(in crate::mcp) const KEPT_TIMES: usize = 4;

/// Time that a message over stdio waits for room, which those before it may be about to leave.
pub(in crate::mcp) const ROOM_TIMEOUT: Duration = Duration::from_secs(1);

/// Part of a message over stdio that takes no room from the others, in bytes. Most
/// messages take less, cancellations among them, and so are let in whatever is on its way.
const FREE_BYTES: usize = 32 << 10;

/// Mark of [`MessageRoom::left_in_vain`] that no message has waited in vain.
const NOBODY: usize = usize::MAX;

/// Memory that all messages share while they, or their calls, are on their way.
pub(in crate::mcp) struct MessageRoom {
    places: Arc<Semaphore>,
    /// All of the room, in bytes.
    bytes: usize,
    /// Room that was left when a message last waited for more in vain.
    left_in_vain: AtomicUsize,
}

/// Room of one message, or of several that came together, taken until this and all clones of it are
/// dropped.
#[derive(Debug, Clone, Default)]
pub(in crate::mcp) struct TakenRoom {
    _places: Option<Arc<OwnedSemaphorePermit>>,
}

/// Reason for which a message is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(in crate::mcp) enum NoMessageRoom {
    #[error(
        "the messages that are on their way, and whose calls are, take more than {0} bytes \
         together: send it again later (`--max-bodies` sets how many they may take)"
    )]
    Now(usize),
    #[error(
        "this message has so many values that it takes more than {0} bytes: send fewer of them \
         (`--max-bodies` sets how many bytes all messages may take)"
    )]
    Ever(usize),
}

impl NoMessageRoom {
    /// Returns the error with which a request is answered.
    pub(in crate::mcp) fn error(self) -> ErrorObject {
        match self {
            Self::Now(_) => ErrorObject::internal_error(self.to_string()),
            Self::Ever(_) => ErrorObject::invalid_request(self.to_string()),
        }
    }
}

impl MessageRoom {
    /// Makes room of `bytes`, or more if one message whose text is as long as `longest` needs more.
    pub(in crate::mcp) fn new(bytes: usize, longest: usize) -> Self {
        let bytes = bytes.max(longest.saturating_mul(KEPT_TIMES));
        let bytes = bytes.min(Semaphore::MAX_PERMITS);
        Self {
            places: Arc::new(Semaphore::new(bytes)),
            bytes,
            left_in_vain: AtomicUsize::new(NOBODY),
        }
    }

    /// Takes room, if there is as much now.
    ///
    /// # Errors
    /// There is not, or never will be.
    pub(in crate::mcp) fn take(&self, bytes: usize) -> Result<OwnedSemaphorePermit, NoMessageRoom> {
        if bytes > self.bytes {
            return Err(NoMessageRoom::Ever(self.bytes));
        }
        u32::try_from(bytes)
            .ok()
            .and_then(|bytes| Arc::clone(&self.places).try_acquire_many_owned(bytes).ok())
            .ok_or(NoMessageRoom::Now(self.bytes))
    }

    /// Takes room for `bytes`, less the free part, as soon as there is as much. Does not wait where
    /// another message has just waited in vain. Cancel safe.
    ///
    /// # Errors
    /// There is none at that time, or never will be.
    pub(in crate::mcp) async fn wait(
        &self,
        bytes: usize,
        until: Instant,
    ) -> Result<TakenRoom, NoMessageRoom> {
        let bytes = bytes.saturating_sub(FREE_BYTES);
        if bytes == 0 {
            return Ok(TakenRoom::default());
        }
        let places = match self.take(bytes) {
            Ok(places) => places,
            Err(no_room) => {
                let left = self.places.available_permits();
                let count = u32::try_from(bytes).ok();
                let count = count.filter(|_| matches!(no_room, NoMessageRoom::Now(_)));
                let in_vain = self.left_in_vain.load(Ordering::Relaxed);
                let Some(count) = count.filter(|_| left != in_vain) else {
                    return Err(no_room);
                };
                let places = Arc::clone(&self.places).acquire_many_owned(count);
                let Ok(Ok(places)) = tokio::time::timeout_at(until, places).await else {
                    let left = self.places.available_permits();
                    self.left_in_vain.store(left, Ordering::Relaxed);
                    return Err(no_room);
                };
                places
            }
        };
        self.left_in_vain.store(NOBODY, Ordering::Relaxed);
        Ok(TakenRoom {
            _places: Some(Arc::new(places)),
        })
    }
}

/// Returns the most bytes that a message takes while it is on its way.
pub(in crate::mcp) fn bytes_of_message(text: &[u8]) -> usize {
    let of_text = text.len().saturating_mul(KEPT_TIMES);
    of_text.saturating_add(bytes_of_values(text))
}

/// Returns the most bytes that the values of a JSON text take in memory besides their texts while a
/// request is read: far more than the text has, where the values are small.
pub(in crate::mcp) fn bytes_of_values(text: &[u8]) -> usize {
    /// An object with a member, times its copies during that.
    const OBJECT: usize = 2 << 10;
    /// An array with an element, which has places for several, times its copies during that.
    const ARRAY: usize = 1 << 10;
    /// Another place in an array or an object, times its copies during that.
    const PLACE: usize = 256;
    let parts = text_parts(text).map(|part| match part {
        TextPart::Byte(b'{') => OBJECT,
        TextPart::Byte(b'[') => ARRAY,
        TextPart::Byte(b',') => PLACE,
        TextPart::Byte(_) | TextPart::String(_) => 0,
    });
    parts.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(50)
    }

    #[tokio::test]
    async fn messages_share_their_room_until_they_are_done_with() {
        let room = MessageRoom::new(8 * MIB, MIB);
        let held = room.wait(6 * MIB, soon()).await.unwrap();
        let also = held.clone();
        drop(held);
        let refused = room.wait(6 * MIB, soon()).await.unwrap_err();
        assert_eq!(refused, NoMessageRoom::Now(8 * MIB));
        assert!(refused.to_string().contains("--max-bodies"), "{refused}");
        // Nobody waits again before there is more.
        let later = Instant::now() + Duration::from_secs(3600);
        assert_eq!(room.wait(6 * MIB, later).await.unwrap_err(), refused);
        // What takes little is let in all the same.
        let _little = room.wait(FREE_BYTES, soon()).await.unwrap();
        let _less = room.wait(MIB, soon()).await.unwrap();
        // Whoever waits gets it as soon as it is there.
        let (waited, ()) = tokio::join!(room.wait(7 * MIB, later), async { drop(also) });
        assert!(waited.is_ok());
        drop(waited);
        assert!(room.wait(7 * MIB, soon()).await.is_ok());
    }

    #[tokio::test]
    async fn what_takes_more_than_there_is_never_waits() {
        // There is room for the longest text in any case.
        let room = MessageRoom::new(MIB, MIB);
        let text = vec![b'x'; MIB];
        assert!(room.wait(bytes_of_message(&text), soon()).await.is_ok());
        let later = Instant::now() + Duration::from_secs(3600);
        let values = r#"{"a":1},"#.repeat(MIB / 64);
        let refused = room.wait(bytes_of_message(values.as_bytes()), later).await;
        assert_eq!(refused.unwrap_err(), NoMessageRoom::Ever(4 * MIB));
    }

    #[test]
    fn counting_takes_linear_time() {
        let values = |count: usize| r#"{"a":[1,"\"{"]},"#.repeat(count);
        dormouse_tests::growth::is_linear("values", 5_000, values, |text: &String| {
            std::hint::black_box(bytes_of_message(text.as_bytes()));
        });
    }
}
