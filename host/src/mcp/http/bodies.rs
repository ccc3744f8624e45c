//! Bodies of requests, and the room that they share.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use tokio::sync::OwnedSemaphorePermit;

use crate::mcp::messages::message_room::{KEPT_TIMES, MessageRoom, NoMessageRoom, bytes_of_values};

/// Number of bytes of each body that take no shared room. Most requests are shorter and so are let
/// in whatever others send.
const FREE_BYTES: usize = 64 << 10;

/// Reads bodies.
pub(super) struct Bodies {
    /// The longest body, in bytes.
    longest: usize,
    /// Time that a body may take to arrive.
    timeout: Duration,
    /// Room for all bodies together.
    room: MessageRoom,
}

/// A body that keeps its room for as long as any part of it is kept.
struct BodyInRoom {
    bytes: Bytes,
    _room: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for BodyInRoom {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Reason for which a body is not taken.
#[derive(Debug, thiserror::Error)]
pub(super) enum BodyError {
    #[error("a message may have at most {0} bytes")]
    TooLong(usize),
    #[error("the body did not arrive: {0}")]
    Broken(String),
    #[error("the body did not arrive within {0:?}")]
    Slow(Duration),
    #[error(transparent)]
    NoRoom(#[from] NoMessageRoom),
}

impl Bodies {
    /// Bodies of at most `longest` bytes each, and about `most` bytes together.
    pub(super) fn new(longest: usize, timeout: Duration, most: usize) -> Self {
        Self {
            longest,
            timeout,
            room: MessageRoom::new(most, longest),
        }
    }

    /// Reads the whole body, if it is neither too long nor too slow and there is room for it, which
    /// it keeps for as long as the returned bytes, or a part of them. `announced` is its announced
    /// length.
    ///
    /// # Errors
    /// The body is not taken.
    pub(super) async fn read<B>(&self, body: B, announced: Option<u64>) -> Result<Bytes, BodyError>
    where
        B: http_body::Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        if announced.is_some_and(|length| length > self.longest as u64) {
            return Err(BodyError::TooLong(self.longest));
        }
        let read = tokio::time::timeout(self.timeout, self.collect(body));
        read.await.map_err(|_| BodyError::Slow(self.timeout))?
    }

    async fn collect<B>(&self, mut body: B) -> Result<Bytes, BodyError>
    where
        B: http_body::Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        let mut whole = BytesMut::new();
        let mut first: Option<Bytes> = None;
        let mut room: Option<OwnedSemaphorePermit> = None;
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| BodyError::Broken(error.to_string()))?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            let held = whole.len() + first.as_ref().map_or(0, Bytes::len);
            let length = held + data.len();
            if length > self.longest {
                return Err(BodyError::TooLong(self.longest));
            }
            let more = length.saturating_sub(held.max(FREE_BYTES));
            if more > 0 {
                let permit = self.room.take(more.saturating_mul(KEPT_TIMES))?;
                match &mut room {
                    Some(room) => room.merge(permit),
                    None => room = Some(permit),
                }
            }
            // Most bodies come in one piece, which need not be copied.
            match first.take() {
                None if whole.is_empty() => first = Some(data),
                None => whole.extend_from_slice(&data),
                Some(before) => {
                    whole.extend_from_slice(&before);
                    whole.extend_from_slice(&data);
                }
            }
        }
        let bytes = first.unwrap_or_else(|| whole.freeze());
        // Before anybody makes values of it.
        let of_values = bytes_of_values(&bytes);
        let free = FREE_BYTES.saturating_sub(bytes.len());
        if of_values > free {
            let permit = self.room.take(of_values)?;
            match &mut room {
                Some(room) => room.merge(permit),
                None => room = Some(permit),
            }
        }
        Ok(match room {
            None => bytes,
            Some(room) => Bytes::from_owner(BodyInRoom { bytes, _room: room }),
        })
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::Full;

    use super::*;

    const MIB: usize = 1 << 20;

    fn bodies() -> Bodies {
        Bodies::new(2 * MIB, Duration::from_secs(5), 12 * MIB)
    }

    async fn read(bodies: &Bodies, bytes: usize) -> Result<Bytes, BodyError> {
        bodies
            .read(Full::new(Bytes::from(vec![0; bytes])), None)
            .await
    }

    #[tokio::test]
    async fn bodies_share_their_room_until_they_are_done_with() {
        let bodies = bodies();
        let one = read(&bodies, 2 * MIB).await.unwrap();
        assert_eq!(one.len(), 2 * MIB);
        let refused = read(&bodies, 2 * MIB).await.err().unwrap();
        assert!(matches!(refused, BodyError::NoRoom(_)), "{refused}");
        assert!(refused.to_string().contains("--max-bodies"), "{refused}");
        // Short ones are let in whatever others send.
        let _held = read(&bodies, MIB).await.unwrap();
        assert!(read(&bodies, FREE_BYTES).await.is_ok());
        // What is kept of one keeps its room.
        let part = one.slice(7..9);
        drop(one);
        assert!(read(&bodies, 2 * MIB).await.is_err());
        drop(part);
        assert!(read(&bodies, 2 * MIB).await.is_ok());
    }

    #[tokio::test]
    async fn values_take_room_besides_their_texts() {
        let bodies = bodies();
        let body = |text: String| Full::new(Bytes::from(text));
        // 12 MiB are room for 5400 objects.
        let objects = |count: usize| format!("[{}]", r#"{"a":1},"#.repeat(count));
        let few = bodies.read(body(objects(3000)), None).await.unwrap();
        let more = bodies.read(body(objects(3000)), None).await;
        assert!(matches!(more.err(), Some(BodyError::NoRoom(_))));
        drop(few);
        assert!(bodies.read(body(objects(3000)), None).await.is_ok());
        let many = bodies.read(body(objects(7000)), None).await;
        assert!(matches!(many.err(), Some(BodyError::NoRoom(_))));
        let nested = format!("[{}1{}],", "[".repeat(15), "]".repeat(15)).repeat(900);
        let many = bodies.read(body(format!("[{nested}1]")), None).await;
        assert!(matches!(many.err(), Some(BodyError::NoRoom(_))));
        // In a text they are none.
        let text = serde_json::to_string(&objects(7000)).unwrap();
        assert!(bodies.read(body(text), None).await.is_ok());
        // What is short needs none.
        let _held = bodies.read(body(objects(5000)), None).await.unwrap();
        for _ in 0..100 {
            assert!(bodies.read(body(objects(20)), None).await.is_ok());
        }
    }

    #[tokio::test]
    async fn a_long_body_is_refused_before_it_is_read() {
        let bodies = bodies();
        let refused = read(&bodies, 2 * MIB + 1).await.err().unwrap();
        assert!(matches!(refused, BodyError::TooLong(_)), "{refused}");
        let announced = bodies.read(Full::new(Bytes::new()), Some(1 << 40)).await;
        assert!(matches!(announced.err(), Some(BodyError::TooLong(_))));
    }
}
