//! Position in a stream, and the time after which the stream is asked for again when it ends.

use std::time::Duration;

use dormouse_policy::Backoff;

use super::event::ReceivedEvent;
use super::events::ReceivedEvents;

/// Longest wait that the server has not named.
const MAX_RECONNECT_DELAY: Duration = Duration::from_secs(30);
/// The waits after an end, where the server names none.
const BACKOFF: Backoff = Backoff::new(Duration::from_millis(500), MAX_RECONNECT_DELAY);
/// The shortest wait, whatever the server names.
const SHORTEST: Duration = Duration::from_millis(50);
/// The wait that becomes the shortest where nothing has come since the last one. A server may name a
/// longer one, and has its way with that as long as it likes.
const EMPTY: Duration = Duration::from_secs(1);
/// Most attempts that may fail one after the other.
const ATTEMPTS: u32 = 6;

/// Position in a stream that may take several connections.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    after: Option<String>,
    /// The wait that the server wants.
    retry: Option<Duration>,
    /// Number of ends of the stream since its last event.
    ends: u32,
    failures: u32,
}

impl Cursor {
    /// Returns the id of the event after which the stream goes on, if it can.
    pub(super) fn after(&self) -> Option<&str> {
        self.after.as_deref()
    }

    /// Notes that an event has come: the stream works, and goes on after it.
    pub(super) fn read(&mut self, event: &ReceivedEvent) {
        if let Some(id) = &event.id {
            self.after = Some(id.clone()).filter(|id| !id.is_empty());
        }
        self.ends = 0;
        self.failures = 0;
    }

    /// Makes the stream begin anew the next time, instead of going on.
    pub(super) fn forget(&mut self) {
        self.after = None;
    }

    /// Notes that a connection is over, and the wait that it has named for the next one.
    pub(super) fn leave(&mut self, events: &ReceivedEvents) {
        self.retry = events.retry().or(self.retry);
    }

    /// Returns the time to wait now; `None` when the stream has failed too often. `orderly` says
    /// that the server has ended it itself, as it may do as often as it likes.
    pub(super) fn wait(&mut self, orderly: bool) -> Option<Duration> {
        self.failures = if orderly { 0 } else { self.failures + 1 };
        if self.failures > ATTEMPTS {
            return None;
        }
        let is_first = self.ends == 0;
        let backoff = BACKOFF.pause(self.ends);
        self.ends = self.ends.saturating_add(1);
        Some(match self.retry {
            // One that ends again and again without an event is asked for less and less often.
            Some(retry) if orderly && is_first => retry.max(SHORTEST),
            Some(retry) if orderly => retry.max(backoff.min(EMPTY)),
            Some(retry) => retry.max(backoff),
            None => backoff,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_up_to_a_bound_and_failures_end_it() {
        let mut cursor = Cursor::default();
        let waits: Vec<_> = (0..8).map_while(|_| cursor.wait(false)).collect();
        let expected = [500, 1000, 2000, 4000, 8000, 16000];
        assert_eq!(waits, expected.map(Duration::from_millis));
        cursor.read(&ReceivedEvent::default());
        assert!((0..1000).all(|_| cursor.wait(true).is_some()));
        assert_eq!(cursor.wait(true), Some(MAX_RECONNECT_DELAY));
    }

    #[test]
    fn the_server_has_its_way_but_is_not_hammered() {
        let minute = Duration::from_secs(60);
        let mut cursor = Cursor {
            retry: Some(minute),
            ..Cursor::default()
        };
        assert_eq!(cursor.wait(true), Some(minute));
        assert!((0..1000).all(|_| cursor.wait(true) == Some(minute)));
        cursor.read(&ReceivedEvent::default());
        cursor.retry = Some(Duration::ZERO);
        assert_eq!(cursor.wait(true), Some(SHORTEST));
        // Nothing has come since.
        assert!((0..1000).all(|_| cursor.wait(true) == Some(EMPTY)));
        cursor.read(&ReceivedEvent::default());
        assert_eq!(cursor.wait(true), Some(SHORTEST));
        assert_eq!(cursor.wait(false), Some(Duration::from_secs(1)));
    }

    #[test]
    fn goes_on_after_the_last_event_that_had_an_id() {
        let mut cursor = Cursor::default();
        let event = |id: Option<&str>| ReceivedEvent {
            id: id.map(str::to_owned),
            ..ReceivedEvent::default()
        };
        for (id, after) in [
            (None, None),
            (Some("a"), Some("a")),
            (None, Some("a")),
            (Some(""), None),
        ] {
            cursor.read(&event(id));
            assert_eq!(cursor.after(), after);
        }
    }
}
