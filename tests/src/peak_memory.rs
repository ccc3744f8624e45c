//! Most memory that this process takes at once.

use crate::processes;

/// Most memory that this process has had since this was made, beyond what it had before. What others
/// of its threads take counts, too.
#[derive(Debug)]
pub struct PeakMemory {
    /// Memory that it had before, in KiB.
    before: u64,
}

impl PeakMemory {
    /// Begins with what the process has now; none where the system does not tell.
    #[must_use]
    pub fn begin() -> Option<Self> {
        let this = std::process::id();
        processes::forget_most_memory(this).ok()?;
        let before = processes::memory(this).ok()?;
        Some(Self { before })
    }

    /// Returns the most memory since then, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let most = processes::most_memory(std::process::id()).unwrap_or_default();
        most.saturating_sub(self.before) << 10
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_back_counts() {
        let Some(peak) = PeakMemory::begin() else {
            return;
        };
        drop(std::hint::black_box(vec![1_u8; 64 << 20]));
        assert!(peak.bytes() >= 60 << 20, "{}", peak.bytes());
    }
}
