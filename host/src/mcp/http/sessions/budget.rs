//! How much sessions may keep of what they have sent.

use std::sync::atomic::{AtomicUsize, Ordering};

/// How many bytes all sessions together keep for clients that come back.
const ALL: usize = 64 << 20;

/// How many bytes one session keeps at most.
const ONE: usize = 8 << 20;

/// What there is, shared equally.
#[derive(Default)]
pub(super) struct Budget {
    sessions: AtomicUsize,
}

impl Budget {
    /// Takes note of how many sessions there are.
    pub(super) fn among(&self, sessions: usize) {
        self.sessions.store(sessions, Ordering::Relaxed);
    }

    /// How many bytes each may keep.
    pub(super) fn share(&self) -> usize {
        let sessions = self.sessions.load(Ordering::Relaxed).max(1);
        (ALL / sessions).min(ONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_together_stay_within_bounds() {
        let budget = Budget::default();
        for sessions in [0, 1, 7, 8, 9, 256, 100_000] {
            budget.among(sessions);
            assert!(budget.share() <= ONE && budget.share() * sessions <= ALL);
            assert_eq!(budget.share() == ONE, sessions <= 8, "{sessions}");
        }
    }
}
