//! Memory of guests: counted for each instance, for each server and for the whole host.
//!
//! An instance has a limit of its own, which all its linear memories and tables share. A server's
//! instances together never take more than half of the host's budget, so that no server can keep
//! all others from running. Where there is no room, idle instances that are kept for a session are
//! ended; then calls that need memory wait, until their deadline.

mod call_memory;
mod host_share;
mod instance_memory;
mod memory_wait;
mod reclaim;
mod server_memory;

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;

pub(crate) use call_memory::{CallMemory, allocated};
pub(crate) use host_share::{GUEST_STACK_BYTES, HostShare, held_too_many};
pub(crate) use instance_memory::{InstanceMemory, MemoryCharge, MemoryRefusal};
pub(crate) use memory_wait::MemoryWait;
pub(crate) use reclaim::{ReclaimableInstance, ReclaimableInstances};
pub(crate) use server_memory::{ReclaimCaches, ServerCharge, ServerMemory};

/// Largest file that is loaded even where there is no room for it. Components of toolchains are
/// smaller, and none of them should fail to start because others are busy.
const ALWAYS_HELD_BYTES: u64 = 32 << 20;

/// Longest time for which a larger one waits for room.
const MAX_WAIT_FOR_FILE: Duration = Duration::from_secs(10);

/// Interval at which it looks for room.
const POLL: Duration = Duration::from_millis(20);

/// The memory budget of a host.
pub(super) struct HostMemory {
    limit: AtomicU64,
    usage: Mutex<MemoryUsage>,
    released: Notify,
    /// The kept instances of all servers, which may be ended while no call uses them.
    kept: Mutex<Vec<Weak<dyn ReclaimableInstances>>>,
    /// Gives back compiled schemas; none while there are none.
    reclaim_schemas: OnceLock<ReclaimCaches>,
    /// Number of times that an instance has become idle: waiting calls look for idle ones only
    /// then.
    became_idle: AtomicU64,
    #[cfg(test)]
    looked_for_idle: AtomicU64,
}

/// Memory in use, in bytes.
#[derive(Debug, Default, Clone, Copy)]
struct MemoryUsage {
    taken: u64,
    /// Memory of instances that wait for more: it comes free only when one of them gives up.
    held_by_waiting: u64,
}

impl HostMemory {
    pub(super) fn new(limit: u64) -> Arc<Self> {
        Arc::new(Self {
            limit: AtomicU64::new(limit),
            usage: Mutex::default(),
            released: Notify::new(),
            kept: Mutex::default(),
            reclaim_schemas: OnceLock::new(),
            became_idle: AtomicU64::default(),
            #[cfg(test)]
            looked_for_idle: AtomicU64::default(),
        })
    }

    /// Changes the budget. Memory that is taken stays taken.
    pub(super) fn set_limit(&self, limit: u64) {
        self.limit.store(limit, Ordering::Relaxed);
        self.wake_waiting();
    }

    pub(super) fn limit(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    /// Returns the bytes that guests have now.
    pub(super) fn taken(&self) -> u64 {
        self.usage.lock().taken
    }

    /// Checks whether instances that have memory wait for more.
    #[cfg(test)]
    pub(super) fn is_waited_for(&self) -> bool {
        self.usage.lock().held_by_waiting > 0
    }

    /// Takes memory for a file that is read whole, as long as what is returned is there. Blocks
    /// where there is no room for a large one; none where there is none after that.
    pub(super) fn hold_file(self: &Arc<Self>, bytes: u64) -> Option<HeldFile> {
        let since = Instant::now();
        let mut has_ended_idle = false;
        loop {
            {
                let limit = self.limit();
                let mut usage = self.usage.lock();
                if bytes <= ALWAYS_HELD_BYTES || usage.taken.saturating_add(bytes) <= limit {
                    usage.taken += bytes;
                    break;
                }
                if bytes > limit || since.elapsed() >= MAX_WAIT_FOR_FILE {
                    return None;
                }
            }
            if !std::mem::replace(&mut has_ended_idle, true) {
                self.end_idle(bytes, None);
            } else {
                std::thread::sleep(POLL);
            }
        }
        Some(HeldFile {
            host: Arc::clone(self),
            bytes,
        })
    }

    /// Registers instances that may be ended where memory is short.
    pub(super) fn may_end(&self, kept: Weak<dyn ReclaimableInstances>) {
        let mut all = self.kept.lock();
        all.retain(|kept| kept.strong_count() > 0);
        all.push(kept);
    }

    /// Wakes all calls that wait for memory: some was released.
    fn wake_waiting(&self) {
        self.released.notify_waiters();
    }

    /// Makes all calls that wait for memory look for idle instances that may be ended: there is one
    /// more.
    pub(super) fn has_become_idle(&self) {
        self.became_idle.fetch_add(1, Ordering::AcqRel);
        self.wake_waiting();
    }

    /// Gives back compiled schemas, and ends idle instances, those that were used longest ago
    /// first, until so many bytes are free: those of one server, where only its own would help.
    /// Returns whether anything was given back or ended.
    fn end_idle(&self, bytes: u64, only: Option<&ServerMemory>) -> bool {
        #[cfg(test)]
        self.looked_for_idle.fetch_add(1, Ordering::Relaxed);
        // Schemas can be compiled again, which costs less than losing an instance's state.
        let reclaim_schemas = self.reclaim_schemas.get();
        let mut ended = reclaim_schemas.is_some_and(|reclaim| reclaim(only));
        let all: Vec<_> = self.kept.lock().iter().filter_map(Weak::upgrade).collect();
        let help =
            |kept: &&Arc<dyn ReclaimableInstances>| only.is_none_or(|memory| kept.are_of(memory));
        let mut idle: Vec<_> = all
            .iter()
            .filter(help)
            .flat_map(|kept| kept.idle())
            .collect();
        idle.sort_by_key(|instance| instance.used());
        let mut freed = 0;
        let mut idle = idle.into_iter();
        for instance in idle.by_ref() {
            freed += instance.end();
            ended = true;
            if freed >= bytes {
                break;
            }
        }
        // Other calls have not seen those as idle meanwhile.
        if idle.len() > 0 {
            drop(idle);
            self.has_become_idle();
        }
        ended
    }
}

/// Memory of a file that is being loaded.
pub(super) struct HeldFile {
    host: Arc<HostMemory>,
    bytes: u64,
}

impl Drop for HeldFile {
    fn drop(&mut self) {
        {
            let mut usage = self.host.usage.lock();
            usage.taken = usage.taken.saturating_sub(self.bytes);
        }
        self.host.wake_waiting();
    }
}
