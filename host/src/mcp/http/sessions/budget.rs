//! Limits of the memory in which sessions keep their sent messages.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Most bytes that all sessions together keep for clients that come back.
const ALL: usize = 64 << 20;

/// Most bytes that one session keeps.
const ONE: usize = 8 << 20;

/// Memory of all sessions, shared equally between them.
#[derive(Default)]
pub(super) struct SessionsBudget {
    sessions: AtomicUsize,
}

impl SessionsBudget {
    /// Notes the number of sessions.
    pub(super) fn among(&self, sessions: usize) {
        self.sessions.store(sessions, Ordering::Relaxed);
    }

    /// Returns the most bytes that each session may keep.
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
        let budget = SessionsBudget::default();
        for sessions in [0, 1, 7, 8, 9, 256, 100_000] {
            budget.among(sessions);
            assert!(budget.share() <= ONE && budget.share() * sessions <= ALL);
            assert_eq!(budget.share() == ONE, sessions <= 8, "{sessions}");
        }
    }
}
