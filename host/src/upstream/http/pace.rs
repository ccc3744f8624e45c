//! How soon a stream that has ended is asked for again.

use std::time::Duration;

/// The wait after the first end, where the server names none.
const FIRST: Duration = Duration::from_millis(500);
/// The longest wait that is our own idea.
const LONGEST: Duration = Duration::from_secs(30);
/// The shortest wait, whatever the server names.
const SHORTEST: Duration = Duration::from_millis(50);
/// How many attempts may fail one after the other.
const ATTEMPTS: u32 = 6;

/// Counts how often a stream has ended without having said anything.
#[derive(Debug, Default)]
pub(super) struct Pace {
    ends: u32,
    failures: u32,
}

impl Pace {
    /// The stream has said something: it works.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// How long to wait now; `None` when it has failed too often. `orderly` says that
    /// the server has ended the stream itself, as it may do as often as it likes;
    /// `retry` is the wait that it wants.
    pub(super) fn wait(&mut self, orderly: bool, retry: Option<Duration>) -> Option<Duration> {
        self.failures = if orderly { 0 } else { self.failures + 1 };
        if self.failures > ATTEMPTS {
            return None;
        }
        let backoff = FIRST.saturating_mul(1 << self.ends.min(6)).min(LONGEST);
        self.ends = self.ends.saturating_add(1);
        Some(match retry {
            Some(retry) if orderly => retry.max(SHORTEST),
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
        let mut pace = Pace::default();
        let waits: Vec<_> = (0..8).map_while(|_| pace.wait(false, None)).collect();
        let expected = [500, 1000, 2000, 4000, 8000, 16000];
        assert_eq!(waits, expected.map(Duration::from_millis));
        pace.reset();
        assert!((0..1000).all(|_| pace.wait(true, None).is_some()));
        assert_eq!(pace.wait(true, None), Some(LONGEST));
    }

    #[test]
    fn the_server_has_its_way_but_is_not_hammered() {
        let mut pace = Pace::default();
        let minute = Duration::from_secs(60);
        assert_eq!(pace.wait(true, Some(minute)), Some(minute));
        assert_eq!(pace.wait(true, Some(Duration::ZERO)), Some(SHORTEST));
        assert_eq!(
            pace.wait(false, Some(Duration::ZERO)),
            Some(Duration::from_secs(2))
        );
    }
}
