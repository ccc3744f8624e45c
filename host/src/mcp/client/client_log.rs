//! Logging of events that clients cause by their messages. Each message can cause a line, also that
//! of a client without a token, so that all clients share a budget.

use std::borrow::Cow;

use dormouse_policy::LogBudget;
use tracing::Level;

static BUDGET: LogBudget = LogBudget::new(Cow::Borrowed("clients"));

/// Logs an event that a client can cause again and again, unless that has happened too often of
/// late.
pub(in crate::mcp) fn warn(what: &str) {
    if tracing::enabled!(Level::WARN)
        && let Some(what) = BUDGET.take(what)
    {
        tracing::warn!("{what}");
    }
}
