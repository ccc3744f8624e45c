//! Pauses between attempts.

use std::time::Duration;

/// Pauses between attempts, each twice as long as the one before it.
#[derive(Debug, Clone, Copy)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
}

impl Backoff {
    /// Makes pauses from the first one to the longest.
    #[must_use]
    pub const fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest }
    }

    /// Returns the pause that comes after so many others.
    #[must_use]
    pub fn pause(self, others: u32) -> Duration {
        let times = 1_u32.checked_shl(others).unwrap_or(u32::MAX);
        self.first.saturating_mul(times).min(self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(30));
        for (others, seconds) in [
            (0, 1),
            (1, 2),
            (4, 16),
            (5, 30),
            (31, 30),
            (32, 30),
            (u32::MAX, 30),
        ] {
            assert_eq!(backoff.pause(others).as_secs(), seconds, "{others}");
        }
    }
}
