//! Servers that were replaced while their calls go on.

use std::sync::{Arc, Weak};

use dormouse_config::ServerConfig;
use dormouse_runtime::RunningCalls;
use parking_lot::Mutex;

use crate::roster::Snapshot;
use crate::roster::server::SlotCell;

/// Servers that were replaced while their calls go on: what is taken away later is taken from these
/// calls, too.
#[derive(Debug, Default)]
pub(in crate::roster) struct ReplacedServers(Mutex<Vec<ReplacedServer>>);

/// Server that was replaced, for as long as a call of it runs.
#[derive(Debug)]
struct ReplacedServer {
    config: ServerConfig,
    slot: Weak<SlotCell>,
}

impl ReplacedServers {
    /// Stops servers that are gone, disabled, or to be run in another way, and ends calls of earlier
    /// ones that have something which was taken away.
    pub(super) fn stop(&self, old: &Snapshot, new: &Snapshot) {
        let next = |name: &str| new.servers().get(name).map(AsRef::as_ref);
        let mut replaced = self.0.lock();
        replaced.retain(|before| {
            let Some(slot) = before.slot.upgrade() else {
                return false;
            };
            let goes_on =
                next(&before.config.name).is_some_and(|next| next.continues(&before.config));
            if !goes_on {
                slot.close(RunningCalls::End);
            }
            goes_on
        });
        for (name, server) in old.servers() {
            if let Some(slot) = server.replaced_by(next(name)) {
                replaced.push(ReplacedServer {
                    config: server.config().clone(),
                    slot: Arc::downgrade(slot),
                });
            }
        }
    }

    /// Ends the calls that go on of servers of that name.
    pub(in crate::roster) fn end(&self, server: &str) {
        self.0.lock().retain(|before| {
            let is_other = before.config.name != server;
            if !is_other && let Some(slot) = before.slot.upgrade() {
                slot.close(RunningCalls::End);
            }
            is_other
        });
    }
}
