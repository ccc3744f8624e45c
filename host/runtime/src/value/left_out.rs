//! Logging of hints that are left out of one result.

use std::cell::Cell;

/// Most hints of one result that are logged one by one: a plugin chooses how many there are.
const MAX_LOGGED: usize = 3;

/// Hints that are left out of one result of a server: clients discard a whole result for one
/// invalid hint.
pub(super) struct LeftOutHints<'s> {
    server: &'s str,
    count: Cell<usize>,
}

impl<'s> LeftOutHints<'s> {
    /// Begins without any.
    pub(super) fn new(server: &'s str) -> Self {
        Self {
            server,
            count: Cell::new(0),
        }
    }

    /// Logs a hint, unless enough have been logged.
    pub(super) fn add(&self, why: &str) {
        let count = self.count.get() + 1;
        self.count.set(count);
        if count <= MAX_LOGGED {
            tracing::warn!("server `{}`: {why}; that is left out", self.server);
        }
    }
}

impl Drop for LeftOutHints<'_> {
    fn drop(&mut self) {
        let more = self.count.get().saturating_sub(MAX_LOGGED);
        if more > 0 {
            let server = self.server;
            tracing::warn!("server `{server}`: {more} more hints of the same result are left out");
        }
    }
}
