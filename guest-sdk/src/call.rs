//! Messages of a tool to the agent while the tool runs.

use crate::bindings::dormouse::plugin::call;

/// Tells the agent the progress of the running call. `done` has to grow from one report to the
/// next; `total` is its last value, where that is known; the `message` may be empty. Does nothing
/// where the agent asked for no progress.
pub fn progress(done: f64, total: Option<f64>, message: &str) {
    call::progress(done, total, (!message.is_empty()).then_some(message));
}

/// Whether the agent has given up on the running call. A tool need not ask: the
/// host ends a cancelled call by itself, half a second later. Asking lets a tool end
/// it tidily before that, and a tool that ends by itself keeps what it has in memory for
/// its session (`@instance per-session`); one that is ended, by its deadline too, does not.
#[must_use]
pub fn is_cancelled() -> bool {
    call::is_cancelled()
}
