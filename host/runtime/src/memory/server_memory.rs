//! Memory of one server's instances, and of what the host keeps for it.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{HostMemory, MemoryUsage};

/// Divisor of the host's budget that gives one server's share.
const SERVER_SHARE: u64 = 2;

/// Gives back what can be made again at little cost, of one server or of all. Returns whether there
/// was any.
pub(crate) type ReclaimCaches = fn(Option<&ServerMemory>) -> bool;

/// Memory of one server's instances.
pub(crate) struct ServerMemory {
    pub(super) host: Arc<HostMemory>,
    /// Changed while the host's usage is locked.
    usage: Mutex<MemoryUsage>,
}

/// Budget that has no room for more memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoMemoryRoom {
    /// The share of the server: freeing memory of other servers does not help.
    InShare,
    InHost,
}

impl ServerMemory {
    pub(crate) fn new(host: Arc<HostMemory>) -> Arc<Self> {
        Arc::new(Self {
            host,
            usage: Mutex::default(),
        })
    }

    /// Takes memory.
    ///
    /// # Errors
    /// There is no room for it in this server's share, or else in the host's budget.
    pub(super) fn try_take(&self, bytes: u64) -> Result<(), NoMemoryRoom> {
        let limit = self.host.limit();
        let mut host = self.host.usage.lock();
        let mut server = self.usage.lock();
        if server.taken.saturating_add(bytes) > limit / SERVER_SHARE {
            return Err(NoMemoryRoom::InShare);
        }
        if host.taken.saturating_add(bytes) > limit {
            return Err(NoMemoryRoom::InHost);
        }
        host.taken += bytes;
        server.taken += bytes;
        Ok(())
    }

    /// Takes memory of the host for values, as long as the charge is there: at once or not at all.
    /// The limit of an instance does not count, as a result of an allowed size may take more.
    pub(crate) fn charge(self: &Arc<Self>, bytes: u64) -> Option<ServerCharge> {
        if let Err(no_room) = self.try_take(bytes) {
            let only = (no_room == NoMemoryRoom::InShare).then_some(&**self);
            if !self.host.end_idle(bytes, only) || self.try_take(bytes).is_err() {
                return None;
            }
        }
        Some(ServerCharge {
            server: Arc::clone(self),
            bytes,
        })
    }

    /// Takes free memory like [`charge`](Self::charge), without ending any instance for it.
    pub(crate) fn charge_what_is_free(self: &Arc<Self>, bytes: u64) -> Option<ServerCharge> {
        self.try_take(bytes).ok()?;
        Some(ServerCharge {
            server: Arc::clone(self),
            bytes,
        })
    }

    /// Wakes all calls that wait for memory: there are schemas that can be given back.
    pub(crate) fn can_give_back(&self, reclaim_schemas: ReclaimCaches) {
        self.host.reclaim_schemas.get_or_init(|| reclaim_schemas);
        self.host.has_become_idle();
    }

    /// Returns the most memory of all servers together, in bytes.
    pub(crate) fn host_limit(&self) -> u64 {
        self.host.limit()
    }

    pub(super) fn release(&self, bytes: u64) {
        if bytes == 0 {
            return;
        }
        self.change(|usage| usage.taken = usage.taken.saturating_sub(bytes));
        self.host.wake_waiting();
    }

    pub(super) fn change(&self, change: impl Fn(&mut MemoryUsage)) {
        let mut host = self.host.usage.lock();
        let mut server = self.usage.lock();
        change(&mut host);
        change(&mut server);
    }

    /// Gives up for an instance that waits in vain, because all instances that have memory wait for
    /// more: one of them has to give up, and the others then wait for its memory. Returns whether
    /// it did.
    pub(super) fn give_up_in_vain(&self, bytes: u64, held: u64) -> bool {
        let limit = self.host.limit();
        let in_vain = |usage: &MemoryUsage, limit: u64| {
            usage.taken.saturating_add(bytes) > limit && usage.held_by_waiting >= usage.taken
        };
        let mut host = self.host.usage.lock();
        let mut server = self.usage.lock();
        let gives_up = in_vain(&host, limit) || in_vain(&server, limit / SERVER_SHARE);
        if gives_up {
            host.held_by_waiting = host.held_by_waiting.saturating_sub(held);
            server.held_by_waiting = server.held_by_waiting.saturating_sub(held);
        }
        gives_up
    }
}

/// Memory of the host that counts as a server's, and is given back when this is dropped.
pub(crate) struct ServerCharge {
    server: Arc<ServerMemory>,
    bytes: u64,
}

impl ServerCharge {
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Merges two charges.
    pub(crate) fn add(&mut self, mut other: Self) {
        self.bytes += std::mem::take(&mut other.bytes);
    }

    /// Gives back the memory above so many bytes.
    pub(crate) fn reduce_to(&mut self, bytes: u64) {
        let less = self.bytes.saturating_sub(bytes);
        self.bytes -= less;
        self.server.release(less);
    }
}

impl Drop for ServerCharge {
    fn drop(&mut self) {
        self.server.release(self.bytes);
    }
}
