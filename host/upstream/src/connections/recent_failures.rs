//! Failures of an upstream, and the time from which on it may be tried again.

use std::time::{Duration, Instant};

use dormouse_policy::Backoff;

use crate::messages::channel::Lost;

/// Time for which a failed start is not repeated.
const BACKOFF: Backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(30));

/// A connection that ends by itself sooner than this has crashed.
const SHORT: Duration = Duration::from_secs(30);

/// Most crashes in a row after which a new connection is made at once.
const CRASHES: u32 = 2;

/// Failures of late.
#[derive(Default)]
pub(super) struct RecentFailures {
    failures: u32,
    crashes: u32,
    /// Time before which nothing is tried.
    until: Option<Instant>,
    last: Option<Lost>,
}

impl RecentFailures {
    /// Notes that a connection could not be made.
    pub(super) fn failed(&mut self, why: Lost) {
        // Logging in mends that, not waiting.
        if !matches!(why, Lost::Auth { .. }) {
            self.pause(self.failures);
            self.failures += 1;
        }
        self.last = Some(why);
    }

    /// Notes that a connection has ended by itself, after that long.
    pub(super) fn ended(&mut self, why: String, after: Duration) {
        if after < SHORT {
            self.crashes += 1;
        } else {
            self.crashes = 0;
        }
        if let Some(more) = self.crashes.checked_sub(CRASHES + 1) {
            self.pause(more);
        }
        self.last = Some(Lost::Broken(why));
    }

    /// Notes that a connection was made. It may crash again all the same.
    pub(super) fn connected(&mut self) {
        self.failures = 0;
        self.until = None;
        self.last = None;
    }

    /// Notes that a connection is of no use before its user logs in.
    pub(super) fn shut_out(&mut self, challenge: Option<String>) {
        self.last = Some(Lost::Auth { challenge });
    }

    /// Forgets all that stands in the way of another attempt, except a login that is wanted.
    pub(super) fn forget(&mut self) {
        let last = self.last.take();
        *self = Self {
            last: last.filter(|last| matches!(last, Lost::Auth { .. })),
            ..Self::default()
        };
    }

    /// Checks whether a connection may be tried now.
    pub(super) fn may_try(&self) -> Result<(), Lost> {
        let now = Instant::now();
        let Some(until) = self.until.filter(|until| *until > now) else {
            return Ok(());
        };
        let why = self.last.as_ref().map(ToString::to_string);
        Err(Lost::Broken(format!(
            "{}\nhint: it is tried again in {} s; `dormouse restart` tries at once",
            why.unwrap_or_default(),
            (until - now).as_secs().max(1)
        )))
    }

    pub(super) fn last(&self) -> Option<&Lost> {
        self.last.as_ref()
    }

    fn pause(&mut self, before: u32) {
        self.until = Some(Instant::now() + BACKOFF.pause(before));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pause(failures: &RecentFailures) -> u64 {
        let pause = failures.until.map_or(Duration::ZERO, |until| {
            until.saturating_duration_since(Instant::now())
        });
        // Some of it is over already.
        pause.as_secs_f64().ceil() as u64
    }

    #[test]
    fn failed_starts_are_repeated_ever_more_rarely() {
        let mut failures = RecentFailures::default();
        for expected in [1, 2, 4, 8, 16, 30, 30] {
            failures.failed(Lost::Broken("no key".into()));
            assert_eq!(pause(&failures), expected);
        }
        let refused = failures.may_try().unwrap_err().to_string();
        assert!(refused.starts_with("no key\nhint: "), "{refused}");
        failures.forget();
        assert_eq!((failures.may_try(), failures.last()), (Ok(()), None));
    }

    #[test]
    fn a_crash_or_two_are_forgiven_but_no_loop_of_them() {
        let mut failures = RecentFailures::default();
        let brief = Duration::from_secs(1);
        for expected in [0, 0, 1, 2, 4] {
            failures.ended("killed".into(), brief);
            assert_eq!(pause(&failures), expected);
            failures.connected();
        }
        failures.ended("killed".into(), SHORT);
        failures.ended("killed".into(), brief);
        assert_eq!(failures.may_try(), Ok(()));
    }

    #[test]
    fn waiting_does_not_log_anybody_in() {
        let mut failures = RecentFailures::default();
        let auth = Lost::Auth { challenge: None };
        failures.failed(auth.clone());
        assert_eq!(failures.may_try(), Ok(()));
        failures.forget();
        assert_eq!(failures.last(), Some(&auth));
    }
}
