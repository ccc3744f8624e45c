//! Bound on one call's output to the log.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bound on one call's output to the log, in bytes.
pub(super) struct OutputBudget {
    limit: u64,
    used: AtomicU64,
}

/// Part of a budget that was left for a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OutputRoom {
    /// Bytes left for it.
    pub(super) bytes: usize,
    /// Whether this is the first text that did not fit.
    pub(super) is_exceeded: bool,
}

impl OutputBudget {
    pub(super) fn new(limit: u64) -> Self {
        Self {
            limit,
            used: AtomicU64::new(0),
        }
    }

    /// Begins another call.
    pub(super) fn begin(&self) {
        self.used.store(0, Ordering::Relaxed);
    }

    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    #[cfg(test)]
    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Takes room for a text of so many bytes, as far as there is some.
    pub(super) fn take(&self, bytes: usize) -> OutputRoom {
        let before = self.used.fetch_add(bytes as u64, Ordering::Relaxed);
        let left = self.limit.saturating_sub(before);
        OutputRoom {
            bytes: usize::try_from(left).unwrap_or(usize::MAX).min(bytes),
            is_exceeded: before <= self.limit && bytes as u64 > left,
        }
    }
}
