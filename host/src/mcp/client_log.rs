//! Logging of events that a client brings about by what it sends. Each of its messages can bring
//! about a line, also those of clients that have no token yet, so that all clients share a budget.

use std::borrow::Cow;

use dormouse_policy::LogBudget;
use tracing::Level;

static BUDGET: LogBudget = LogBudget::new(Cow::Borrowed("clients"));

/// Logs something that a client can bring about again and again, unless that has happened too
/// often of late.
pub(in crate::mcp) fn warn(what: &str) {
    if tracing::enabled!(Level::WARN)
        && let Some(what) = BUDGET.take(what)
    {
        tracing::warn!("{what}");
    }
}
