//! Memory of one instance, which has a limit of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use wasmtime::ResourceLimiterAsync;

use super::host_share::HostShare;
use super::memory_wait::{MemoryWait, PendingGrowth};
use super::server_memory::{NoMemoryRoom, ServerMemory};
use crate::call::Pace;
use crate::error::Cause;
use crate::sandbox::Charge;

/// Most linear memories of one store: each takes one mapping or more, and a process has a limited
/// number of these.
const MAX_MEMORIES: usize = 16;

/// Most tables of one store.
const MAX_TABLES: usize = 64;

/// Memory of an element of a table, in bytes.
const TABLE_ELEMENT: usize = size_of::<usize>();

/// Reason for which memory was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryRefusal {
    /// The instance would have had so many bytes in all, more than its limit.
    Instance(u64),
    /// The host's budget, of so many bytes, is taken.
    Host(u64),
}

/// Memory of one instance: all linear memories and tables of its store together, and its
/// [`HostShare`].
///
/// A growth that was granted and fails all the same stays counted until the instance ends. Wasmtime
/// reports a failed growth without saying which, and also growths that were never requested here:
/// giving back the last granted growth at each report would give it back again and again.
///
/// The last refusal is recorded: a guest that gets no memory traps in its own way, and the model
/// should be told the reason.
pub(crate) struct InstanceMemory {
    server: Arc<ServerMemory>,
    limit: u64,
    max_core_instances: usize,
    taken: Arc<AtomicU64>,
    pub refused: Option<MemoryRefusal>,
    /// Time for which the instance's current call has waited for memory.
    pub waits: Arc<MemoryWait>,
    /// Pace of that call, which goes on after it has waited where its condition holds.
    pub pace: Option<Pace>,
}

impl InstanceMemory {
    pub(crate) fn new(server: Arc<ServerMemory>, limit: u64, waits: Arc<MemoryWait>) -> Self {
        Self {
            server,
            limit,
            max_core_instances: 0,
            taken: Arc::default(),
            refused: None,
            waits,
            pace: None,
        }
    }

    /// Makes a call the one that takes memory and waits for it.
    pub(crate) fn begin_call(&mut self, pace: &Pace) {
        self.refused = None;
        self.waits = Arc::clone(&pace.waits_for_memory);
        self.pace = Some(pace.clone());
    }

    /// Takes the host's share of the instance for its whole life.
    ///
    /// # Errors
    /// There is no room for that.
    pub(crate) async fn begin(&mut self, share: &HostShare) -> Result<(), MemoryRefusal> {
        self.max_core_instances = share.max_core_instances();
        let limit = self.server.host.limit();
        match self.grow(share.bytes()).await {
            true => Ok(()),
            false => Err(self.refused.unwrap_or(MemoryRefusal::Host(limit))),
        }
    }

    /// Returns the bytes that the instance has.
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Takes memory of the host that is kept for the instance, as long as the charge is there. None
    /// where it may have no more.
    pub(crate) async fn charge(&mut self, bytes: u64) -> Option<MemoryCharge> {
        self.grow(bytes).await.then(|| MemoryCharge {
            server: Arc::clone(&self.server),
            taken: Arc::clone(&self.taken),
            bytes,
        })
    }

    /// Returns the memory of the instance's server.
    pub(crate) fn server(&self) -> &Arc<ServerMemory> {
        &self.server
    }

    /// Takes more memory, as soon as there is room for it. Returns whether it was granted: not where its
    /// call does not go on after it has waited for that.
    pub(super) async fn grow(&mut self, bytes: u64) -> bool {
        let wanted = self.taken().saturating_add(bytes);
        if wanted > self.limit {
            self.refused = Some(MemoryRefusal::Instance(wanted));
            return false;
        }
        let has_waited = self.server.try_take(bytes).is_err();
        if has_waited && !self.wait(bytes).await {
            self.refused = Some(MemoryRefusal::Host(self.server.host.limit()));
            return false;
        }
        // It is given back with the instance from here on, also where the check below is dropped.
        self.taken.fetch_add(bytes, Ordering::Relaxed);
        if has_waited
            && let Some(pace) = &self.pace
            && pace.check().await.is_err()
        {
            self.taken.fetch_sub(bytes, Ordering::Relaxed);
            self.server.release(bytes);
            return false;
        }
        true
    }

    /// Checks that nothing has been found that forbids its call to go on.
    fn goes_on(&self) -> Result<(), Cause> {
        let pace = self.pace.as_ref();
        pace.map_or(Ok(()), |pace| pace.condition.has_held())
    }

    /// Waits until there is room. Returns whether the memory was taken.
    async fn wait(&mut self, bytes: u64) -> bool {
        let host = &self.server.host;
        let mut waiting = PendingGrowth::begin(&self.server, self.taken(), &self.waits);
        let mut looked_at = None;
        loop {
            let released = host.released.notified();
            let mut released = std::pin::pin!(released);
            // A release from here on is not missed.
            released.as_mut().enable();
            let only = match self.server.try_take(bytes) {
                Ok(()) => return true,
                Err(NoMemoryRoom::InShare) => Some(&*self.server),
                Err(NoMemoryRoom::InHost) => None,
            };
            let now = (host.became_idle.load(Ordering::Acquire), only.is_some());
            if looked_at != Some(now) {
                looked_at = Some(now);
                if host.end_idle(bytes, only) {
                    looked_at = None;
                    continue;
                }
            }
            if waiting.gives_up(bytes) {
                return false;
            }
            released.await;
        }
    }
}

impl Drop for InstanceMemory {
    fn drop(&mut self) {
        self.server.release(self.taken.swap(0, Ordering::Relaxed));
    }
}

/// Memory of the host that counts as an instance's, and is given back when this is dropped.
pub(crate) struct MemoryCharge {
    server: Arc<ServerMemory>,
    taken: Arc<AtomicU64>,
    bytes: u64,
}

impl Charge for MemoryCharge {
    fn add(&mut self, mut other: Self) {
        self.bytes += std::mem::take(&mut other.bytes);
    }

    fn reduce_to(&mut self, bytes: u64) {
        let less = self.bytes.saturating_sub(bytes);
        self.bytes -= less;
        drop(Self {
            server: Arc::clone(&self.server),
            taken: Arc::clone(&self.taken),
            bytes: less,
        });
    }
}

impl Drop for MemoryCharge {
    fn drop(&mut self) {
        let less = |taken: u64| Some(taken.saturating_sub(self.bytes));
        // An instance that has ended has given back all of its memory itself.
        let updated = self
            .taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        self.server.release(updated.unwrap_or(0).min(self.bytes));
    }
}

#[async_trait::async_trait]
impl ResourceLimiterAsync for InstanceMemory {
    async fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let grown = self.grow(desired.saturating_sub(current) as u64).await;
        self.goes_on()?;
        Ok(grown)
    }

    async fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let elements = desired.saturating_sub(current);
        let bytes = elements.saturating_mul(TABLE_ELEMENT);
        let grown = self.grow(bytes as u64).await;
        self.goes_on()?;
        Ok(grown)
    }

    fn instances(&self) -> usize {
        self.max_core_instances
    }

    fn tables(&self) -> usize {
        MAX_TABLES
    }

    fn memories(&self) -> usize {
        MAX_MEMORIES
    }
}
