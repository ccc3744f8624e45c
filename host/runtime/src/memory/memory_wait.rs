//! Waits of calls for memory.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::ServerMemory;

/// Time for which a call has waited for memory.
#[derive(Default)]
pub(crate) struct MemoryWait(Mutex<WaitTime>);

#[derive(Default)]
struct WaitTime {
    since: Option<Instant>,
    before: Duration,
}

impl MemoryWait {
    fn begin(&self) {
        self.0.lock().since = Some(Instant::now());
    }

    fn end(&self) {
        let mut time = self.0.lock();
        if let Some(since) = time.since.take() {
            time.before += since.elapsed();
        }
    }

    /// Checks whether a call that was ended at its deadline spent most of its time waiting for
    /// memory.
    pub(crate) fn is_why_it_was_late(&self, deadline: Duration) -> bool {
        let time = self.0.lock();
        let now = time.since.map(|since| since.elapsed()).unwrap_or_default();
        time.before + now > deadline / 2
    }
}

/// Memory that an instance holds while it waits for more.
pub(super) struct PendingGrowth<'a> {
    server: &'a ServerMemory,
    held: u64,
    time: &'a MemoryWait,
}

impl<'a> PendingGrowth<'a> {
    pub(super) fn begin(server: &'a ServerMemory, held: u64, time: &'a MemoryWait) -> Self {
        server.change(|usage| usage.held_by_waiting += held);
        time.begin();
        Self { server, held, time }
    }

    /// Gives up if waiting is in vain.
    pub(super) fn gives_up(&mut self, bytes: u64) -> bool {
        let gives_up = self.server.give_up_in_vain(bytes, self.held);
        if gives_up {
            self.held = 0;
        }
        gives_up
    }
}

impl Drop for PendingGrowth<'_> {
    fn drop(&mut self) {
        self.time.end();
        let held = self.held;
        self.server
            .change(|usage| usage.held_by_waiting = usage.held_by_waiting.saturating_sub(held));
    }
}
