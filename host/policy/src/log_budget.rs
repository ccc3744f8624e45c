//! Bound of what others can make this host write into its log.
//!
//! Clients keep the log of a host in files. What a server says, or what a client sends, is
//! logged once for each message, so that without a bound either of them could fill a disk.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Most that is usually logged in one [`PERIOD`], in bytes; the rest of that period is left out.
const MAX_BYTES: usize = 32 << 10;

/// Length of a period.
const PERIOD: Duration = Duration::from_secs(10);

/// Longest text of one line, in bytes; of a longer one the beginning is logged.
const MAX_LINE_BYTES: usize = 4 << 10;

/// Size of what stands on a line beside its text, in bytes: the time, the level, a name.
/// Many empty lines fill a log as well.
const LINE_BYTES: usize = 64;

/// Bound of what one other side, such as an upstream, can have logged.
#[derive(Debug)]
pub struct LogBudget {
    /// Owner of the budget, as the message says that tells of lines that are left out.
    subject: Cow<'static, str>,
    max_bytes: AtomicUsize,
    period: Mutex<Period>,
}

/// Bytes that have been logged since some time.
#[derive(Debug)]
struct Period {
    /// None before the first line.
    since: Option<Instant>,
    bytes: usize,
}

/// Decision about a line.
#[derive(Debug, PartialEq, Eq)]
enum LogRoom {
    /// The line is logged.
    Enough,
    /// The line is the first of this period that is left out.
    Exceeded,
    /// The line is left out, as others before it.
    None,
}

impl LogBudget {
    /// Makes a budget of which nothing is used.
    pub const fn new(subject: Cow<'static, str>) -> Self {
        Self {
            subject,
            max_bytes: AtomicUsize::new(MAX_BYTES),
            period: Mutex::new(Period {
                since: None,
                bytes: 0,
            }),
        }
    }

    /// Sets the most that is logged in one [`PERIOD`], in bytes.
    pub fn set_max_bytes(&self, bytes: usize) {
        self.max_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Returns the part of a text that is to be logged now; none where there has been too much of
    /// late. To be called only for lines that the log level lets through: lines that nobody sees
    /// must not use the budget up.
    pub fn take<'t>(&self, text: &'t str) -> Option<&'t str> {
        let end = text.floor_char_boundary(MAX_LINE_BYTES);
        let text = text.get(..end).unwrap_or(text);
        match self.room(text.len(), Instant::now()) {
            LogRoom::Enough => return Some(text),
            LogRoom::Exceeded => tracing::warn!(
                "{}: more than {} bytes would be logged within {} s, of which the rest is left out",
                self.subject,
                self.max_bytes.load(Ordering::Relaxed),
                PERIOD.as_secs()
            ),
            LogRoom::None => {}
        }
        None
    }

    fn room(&self, bytes: usize, now: Instant) -> LogRoom {
        let mut period = self.period.lock();
        let is_over = |since| now.saturating_duration_since(since) > PERIOD;
        if period.since.is_none_or(is_over) {
            *period = Period {
                since: Some(now),
                bytes: 0,
            };
        }
        let before = period.bytes;
        period.bytes = before.saturating_add(bytes).saturating_add(LINE_BYTES);
        let most = self.max_bytes.load(Ordering::Relaxed);
        match (period.bytes <= most, before <= most) {
            (true, _) => LogRoom::Enough,
            (false, true) => LogRoom::Exceeded,
            (false, false) => LogRoom::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_logged_in_a_while_is_bounded_and_said_once() {
        let budget = LogBudget::new("server `up`".into());
        let start = Instant::now();
        for (text, lines) in [(0, MAX_BYTES / LINE_BYTES), (1024, 30), (MAX_LINE_BYTES, 7)] {
            // Each in a period of its own.
            let now = start + PERIOD * u32::try_from(text + 2).unwrap();
            for _ in 0..lines {
                assert_eq!(budget.room(text, now), LogRoom::Enough, "{text}");
            }
            assert_eq!(budget.room(text, now), LogRoom::Exceeded, "{text}");
            for _ in 0..10_000 {
                assert_eq!(budget.room(text, now + PERIOD), LogRoom::None, "{text}");
            }
        }
    }

    #[test]
    fn a_long_line_is_cut_at_a_character() {
        let budget = LogBudget::new("server `up`".into());
        assert_eq!(budget.take("short"), Some("short"));
        let long = format!("x{}", "ü".repeat(MAX_LINE_BYTES));
        assert_eq!(budget.take(&long).map(str::len), Some(MAX_LINE_BYTES - 1));
    }
}
