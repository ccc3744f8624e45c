//! Time for reading all that is new at one start, or at one change of the configuration.
//!
//! A host answers nobody before it has read what is new, and applies no change before that: a file
//! that takes as long as one may, named often enough or copied often enough, would keep it silent
//! for minutes. So it has little time for that, and reads the rest while it answers.

use std::time::{Duration, Instant};

use crate::error::Problem;

/// Time after which no further process is started to read a component where somebody waits for all
/// of them: enough for a thousand and more of those that toolchains make, on a slow machine.
const STARTS: Duration = Duration::from_secs(40);

/// Time after which all processes are ended then. One that is started last has as much time as any
/// component of a toolchain takes.
const ALL: Duration = Duration::from_secs(45);

/// Both times where others wait for a host.
const BRIEF: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(6));

/// Time that all processes together have which read components for one start or reload.
#[derive(Debug, Clone, Copy)]
pub struct ReadRound {
    begun: Instant,
    starts: Duration,
    all: Duration,
}

impl ReadRound {
    /// Begins a round now that somebody waits for who wants all of it.
    #[must_use]
    pub fn begin() -> Self {
        Self::of(STARTS, ALL)
    }

    /// Begins a round now in the time that a host may keep its clients waiting.
    #[must_use]
    pub fn begin_briefly() -> Self {
        Self::of(BRIEF.0, BRIEF.1)
    }

    /// Begins a round now that nobody waits for: of many components some are read, each to its end.
    #[must_use]
    pub fn begin_in_background() -> Self {
        Self::of(BRIEF.0, ALL)
    }

    /// Makes a round that has no time: nothing is read in a process.
    #[must_use]
    pub fn over() -> Self {
        Self::of(Duration::ZERO, Duration::ZERO)
    }

    /// Begins a round of which processes are started for one time, and ended after the other.
    pub(crate) fn of(starts: Duration, all: Duration) -> Self {
        Self {
            begun: Instant::now(),
            starts,
            all,
        }
    }

    /// Checks whether one more process may start.
    ///
    /// # Errors
    /// It is too late for that.
    pub(crate) fn may_start(&self) -> Result<(), Problem> {
        self.is_within(self.starts)
    }

    /// Checks whether a process may go on.
    ///
    /// # Errors
    /// The round is over.
    pub(crate) fn may_go_on(&self) -> Result<(), Problem> {
        self.is_within(self.all)
    }

    fn is_within(&self, time: Duration) -> Result<(), Problem> {
        match self.begun.elapsed() < time {
            true => Ok(()),
            false => Err(Problem::NotYet),
        }
    }
}
