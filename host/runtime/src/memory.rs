//! Memory of guests: counted for each instance, for each server and for the whole host.
//!
//! An instance has a limit of its own, which all its linear memories and tables share. A server's
//! instances together never take more than half of the host's budget, so that no server can keep
//! all others from running. Where there is no room, idle instances that are kept for a session are
//! ended; then calls that need memory wait, until their deadline.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;
use wasmtime::ResourceLimiterAsync;

use super::compiled_schemas;
use super::host_share::HostShare;
use super::instances::{IdleInstance, KeptInstances};
use crate::sandbox::Charge;

/// Most linear memories of one store: each takes one mapping or more, and a process has a limited
/// number of these.
const MAX_MEMORIES: usize = 16;

/// Most tables of one store.
const MAX_TABLES: usize = 64;

/// Memory of an element of a table, in bytes.
const TABLE_ELEMENT: usize = size_of::<usize>();

/// Largest file that is loaded even where there is no room for it. Components of toolchains are
/// smaller, and none of them should fail to start because others are busy.
const ALWAYS_HELD_BYTES: u64 = 32 << 20;

/// Longest time for which a larger one waits for room.
const MAX_WAIT_FOR_FILE: Duration = Duration::from_secs(10);

/// Interval at which it looks for room.
const POLL: Duration = Duration::from_millis(20);

/// Divisor of the host's budget that gives one server's share.
const SERVER_SHARE: u64 = 2;

/// The memory budget of a host.
pub(super) struct HostMemory {
    limit: AtomicU64,
    usage: Mutex<Usage>,
    released: Notify,
    /// The kept instances of all servers, which may be ended while no call uses them.
    kept: Mutex<Vec<Weak<KeptInstances>>>,
    /// Number of times that an instance has become idle: waiting calls look for idle ones only
    /// then.
    became_idle: AtomicU64,
    #[cfg(test)]
    looked_for_idle: AtomicU64,
}

/// Memory in use, in bytes.
#[derive(Debug, Default, Clone, Copy)]
struct Usage {
    taken: u64,
    /// Memory of instances that wait for more: it comes free only when one of them gives up.
    held_by_waiting: u64,
}

/// Memory of one server's instances.
pub(super) struct ServerMemory {
    host: Arc<HostMemory>,
    /// Changed while the host's usage is locked.
    usage: Mutex<Usage>,
}

/// Reason for which memory was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// The instance would have had so many bytes in all, more than its limit.
    Instance(u64),
    /// The host's budget, of so many bytes, is taken.
    Host(u64),
}

/// Budget that has no room for more memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NoRoom {
    /// The share of the server: freeing memory of other servers does not help.
    InShare,
    InHost,
}

impl HostMemory {
    pub(super) fn new(limit: u64) -> Arc<Self> {
        Arc::new(Self {
            limit: AtomicU64::new(limit),
            usage: Mutex::default(),
            released: Notify::new(),
            kept: Mutex::default(),
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
    pub(super) fn may_end(&self, kept: &Arc<KeptInstances>) {
        let mut all = self.kept.lock();
        all.retain(|kept| kept.strong_count() > 0);
        all.push(Arc::downgrade(kept));
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
        let mut ended = compiled_schemas::forget(only);
        let all: Vec<_> = self.kept.lock().iter().filter_map(Weak::upgrade).collect();
        let help = |kept: &&Arc<KeptInstances>| only.is_none_or(|memory| kept.are_of(memory));
        let mut idle: Vec<_> = all
            .iter()
            .filter(help)
            .flat_map(|kept| kept.idle())
            .collect();
        idle.sort_by_key(IdleInstance::used);
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

impl ServerMemory {
    pub(super) fn new(host: Arc<HostMemory>) -> Arc<Self> {
        Arc::new(Self {
            host,
            usage: Mutex::default(),
        })
    }

    /// Takes memory.
    ///
    /// # Errors
    /// There is no room for it in this server's share, or else in the host's budget.
    fn try_take(&self, bytes: u64) -> Result<(), NoRoom> {
        let limit = self.host.limit();
        let mut host = self.host.usage.lock();
        let mut server = self.usage.lock();
        if server.taken.saturating_add(bytes) > limit / SERVER_SHARE {
            return Err(NoRoom::InShare);
        }
        if host.taken.saturating_add(bytes) > limit {
            return Err(NoRoom::InHost);
        }
        host.taken += bytes;
        server.taken += bytes;
        Ok(())
    }

    /// Takes memory of the host for values, as long as the charge is there: at once or not at all.
    /// The limit of an instance does not count, as a result of an allowed size may take more.
    pub(super) fn charge(self: &Arc<Self>, bytes: u64) -> Option<ServerCharge> {
        if let Err(no_room) = self.try_take(bytes) {
            let only = (no_room == NoRoom::InShare).then_some(&**self);
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
    pub(super) fn charge_what_is_free(self: &Arc<Self>, bytes: u64) -> Option<ServerCharge> {
        self.try_take(bytes).ok()?;
        Some(ServerCharge {
            server: Arc::clone(self),
            bytes,
        })
    }

    /// Wakes all calls that wait for memory: there are schemas that can be given back.
    pub(super) fn can_give_back(&self) {
        self.host.has_become_idle();
    }

    /// Returns the most memory of all servers together, in bytes.
    pub(super) fn host_limit(&self) -> u64 {
        self.host.limit()
    }

    fn release(&self, bytes: u64) {
        if bytes == 0 {
            return;
        }
        self.change(|usage| usage.taken = usage.taken.saturating_sub(bytes));
        self.host.wake_waiting();
    }

    fn change(&self, change: impl Fn(&mut Usage)) {
        let mut host = self.host.usage.lock();
        let mut server = self.usage.lock();
        change(&mut host);
        change(&mut server);
    }

    /// Gives up for an instance that waits in vain, because all instances that have memory wait for
    /// more: one of them has to give up, and the others then wait for its memory. Returns whether
    /// it did.
    fn give_up_in_vain(&self, bytes: u64, held: u64) -> bool {
        let limit = self.host.limit();
        let in_vain = |usage: &Usage, limit: u64| {
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

/// Time for which a call has waited for memory.
#[derive(Default)]
pub(super) struct MemoryWait(Mutex<WaitTime>);

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
    pub(super) fn is_why_it_was_late(&self, deadline: Duration) -> bool {
        let time = self.0.lock();
        let now = time.since.map(|since| since.elapsed()).unwrap_or_default();
        time.before + now > deadline / 2
    }
}

/// Memory that an instance holds while it waits for more.
struct PendingGrowth<'a> {
    server: &'a ServerMemory,
    held: u64,
    time: &'a MemoryWait,
}

impl<'a> PendingGrowth<'a> {
    fn begin(server: &'a ServerMemory, held: u64, time: &'a MemoryWait) -> Self {
        server.change(|usage| usage.held_by_waiting += held);
        time.begin();
        Self { server, held, time }
    }

    /// Gives up if waiting is in vain.
    fn gives_up(&mut self, bytes: u64) -> bool {
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

/// Memory of one instance: all linear memories and tables of its store together, and its
/// [`HostShare`].
///
/// A growth that was granted and fails all the same stays counted until the instance ends. Wasmtime
/// reports a failed growth without saying which, and also growths that were never requested here:
/// giving back the last granted growth at each report would give it back again and again.
///
/// The last refusal is recorded: a guest that gets no memory traps in its own way, and the model
/// should be told the reason.
pub(super) struct InstanceMemory {
    server: Arc<ServerMemory>,
    limit: u64,
    max_core_instances: usize,
    taken: Arc<AtomicU64>,
    pub refused: Option<Refused>,
    /// Time for which the instance's current call has waited for memory.
    pub waits: Arc<MemoryWait>,
}

impl InstanceMemory {
    pub(super) fn new(server: Arc<ServerMemory>, limit: u64, waits: Arc<MemoryWait>) -> Self {
        Self {
            server,
            limit,
            max_core_instances: 0,
            taken: Arc::default(),
            refused: None,
            waits,
        }
    }

    /// Takes the host's share of the instance for its whole life.
    ///
    /// # Errors
    /// There is no room for that.
    pub(super) async fn begin(&mut self, share: &HostShare) -> Result<(), Refused> {
        self.max_core_instances = share.max_core_instances();
        let limit = self.server.host.limit();
        match self.grow(share.bytes()).await {
            true => Ok(()),
            false => Err(self.refused.unwrap_or(Refused::Host(limit))),
        }
    }

    /// Returns the bytes that the instance has.
    pub(super) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Takes memory of the host that is kept for the instance, as long as the charge is there. None
    /// where it may have no more.
    pub(super) async fn charge(&mut self, bytes: u64) -> Option<MemoryCharge> {
        self.grow(bytes).await.then(|| MemoryCharge {
            server: Arc::clone(&self.server),
            taken: Arc::clone(&self.taken),
            bytes,
        })
    }

    /// Returns the memory of the instance's server.
    pub(super) fn server(&self) -> &Arc<ServerMemory> {
        &self.server
    }

    /// Takes more memory, as soon as there is room for it. Returns whether it was granted.
    async fn grow(&mut self, bytes: u64) -> bool {
        let wanted = self.taken().saturating_add(bytes);
        if wanted > self.limit {
            self.refused = Some(Refused::Instance(wanted));
            return false;
        }
        if self.server.try_take(bytes).is_err() && !self.wait(bytes).await {
            self.refused = Some(Refused::Host(self.server.host.limit()));
            return false;
        }
        self.taken.fetch_add(bytes, Ordering::Relaxed);
        true
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
                Err(NoRoom::InShare) => Some(&*self.server),
                Err(NoRoom::InHost) => None,
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
pub(super) struct MemoryCharge {
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

/// Memory of the host that counts as a server's, and is given back when this is dropped.
pub(super) struct ServerCharge {
    server: Arc<ServerMemory>,
    bytes: u64,
}

impl ServerCharge {
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Merges two charges.
    pub(super) fn add(&mut self, mut other: Self) {
        self.bytes += std::mem::take(&mut other.bytes);
    }

    /// Gives back the memory above so many bytes.
    pub(super) fn reduce_to(&mut self, bytes: u64) {
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

#[async_trait::async_trait]
impl ResourceLimiterAsync for InstanceMemory {
    async fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(self.grow(desired.saturating_sub(current) as u64).await)
    }

    async fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let elements = desired.saturating_sub(current);
        let bytes = elements.saturating_mul(TABLE_ELEMENT);
        Ok(self.grow(bytes as u64).await)
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

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn instance(server: &Arc<ServerMemory>, limit: u64) -> InstanceMemory {
        InstanceMemory::new(Arc::clone(server), limit, Arc::default())
    }

    #[tokio::test]
    async fn memories_and_tables_of_an_instance_count_together() {
        let host = HostMemory::new(1 << 40);
        let server = ServerMemory::new(Arc::clone(&host));
        let mut one = instance(&server, 10 * MIB);
        let mib = MIB as usize;
        assert!(one.memory_growing(0, 4 * mib, None).await.unwrap());
        assert!(one.memory_growing(0, 4 * mib, None).await.unwrap());
        assert!(!one.memory_growing(0, 4 * mib, None).await.unwrap());
        assert_eq!(one.refused, Some(Refused::Instance(12 * MIB)));
        // 8 bytes for each element.
        assert!(!one.table_growing(0, mib, None).await.unwrap());
        assert!(one.table_growing(0, mib / 4, None).await.unwrap());
        assert_eq!((one.taken(), host.taken()), (10 * MIB, 10 * MIB));
        drop(one);
        assert_eq!(host.taken(), 0);
    }

    #[tokio::test]
    async fn a_growth_that_fails_gives_nothing_back() {
        let host = HostMemory::new(1 << 40);
        let server = ServerMemory::new(Arc::clone(&host));
        let mut one = instance(&server, 10 * MIB);
        assert!(one.grow(MIB).await && one.grow(MIB).await);
        let error = || wasmtime::Error::msg("the table would be too large");
        one.table_grow_failed(error()).unwrap();
        one.memory_grow_failed(error()).unwrap();
        assert_eq!((one.taken(), host.taken()), (2 * MIB, 2 * MIB));
    }

    #[tokio::test]
    async fn what_is_charged_is_given_back_once() {
        let host = HostMemory::new(1 << 40);
        let server = ServerMemory::new(Arc::clone(&host));
        let mut one = instance(&server, 10 * MIB);
        assert!(one.grow(MIB).await);
        let first = one.charge(4 * MIB).await.unwrap();
        let second = one.charge(4 * MIB).await.unwrap();
        assert!(one.charge(4 * MIB).await.is_none());
        assert_eq!((one.taken(), host.taken()), (9 * MIB, 9 * MIB));
        drop(first);
        assert_eq!((one.taken(), host.taken()), (5 * MIB, 5 * MIB));
        drop(one);
        assert_eq!(host.taken(), 0);
        drop(second);
        assert_eq!(host.taken(), 0);
    }

    #[tokio::test]
    async fn an_instance_that_becomes_idle_is_offered_to_who_waits() {
        let host = HostMemory::new(8 * MIB);
        let (one, other) = (
            ServerMemory::new(Arc::clone(&host)),
            ServerMemory::new(Arc::clone(&host)),
        );
        let mut held = instance(&one, 8 * MIB);
        assert!(held.grow(4 * MIB).await);
        let mut also_held = instance(&other, 8 * MIB);
        assert!(also_held.grow(4 * MIB).await);
        let third = ServerMemory::new(Arc::clone(&host));
        let mut wants = instance(&third, 8 * MIB);
        let mut growing = std::pin::pin!(wants.grow(MIB));
        assert!(growing.as_mut().now_or_never().is_none());
        // Whoever waits looks again when it is told to, without anything being released yet.
        host.has_become_idle();
        assert!(growing.as_mut().now_or_never().is_none());
        drop(held);
        assert!(growing.await);
    }

    #[tokio::test]
    async fn who_waits_looks_for_idle_instances_only_where_there_may_be_new_ones() {
        let host = HostMemory::new(8 * MIB);
        let server = ServerMemory::new(Arc::clone(&host));
        let mut held = instance(&server, 8 * MIB);
        assert!(held.grow(4 * MIB).await);
        let mut wants = instance(&server, 8 * MIB);
        let mut growing = std::pin::pin!(wants.grow(4 * MIB));
        let looked = || host.looked_for_idle.load(Ordering::Relaxed);
        assert!(growing.as_mut().now_or_never().is_none());
        assert_eq!(looked(), 1);
        for _ in 0..100 {
            host.wake_waiting();
            assert!(growing.as_mut().now_or_never().is_none());
        }
        assert_eq!(looked(), 1);
        host.has_become_idle();
        assert!(growing.as_mut().now_or_never().is_none());
        assert_eq!(looked(), 2);
        drop(held);
        assert!(growing.await);
    }

    #[tokio::test]
    async fn one_server_never_has_more_than_half() {
        let host = HostMemory::new(8 * MIB);
        let (greedy, good) = (
            ServerMemory::new(Arc::clone(&host)),
            ServerMemory::new(Arc::clone(&host)),
        );
        let mut first = instance(&greedy, 4 * MIB);
        assert!(first.grow(4 * MIB).await);
        let mut second = instance(&greedy, 4 * MIB);
        let mut waiting = second.grow(MIB).boxed();
        assert!(futures::poll!(&mut waiting).is_pending());
        assert!(instance(&good, 4 * MIB).grow(4 * MIB).await);
        drop(first);
        assert!(waiting.await);
    }

    #[tokio::test]
    async fn who_waits_gets_what_others_give_back_and_the_call_can_tell() {
        let host = HostMemory::new(4 * MIB);
        let server = ServerMemory::new(Arc::clone(&host));
        let mut first = instance(&server, 4 * MIB);
        assert!(first.grow(2 * MIB).await);
        let mut second = instance(&server, 4 * MIB);
        let waits = Arc::clone(&second.waits);
        let mut waiting = second.grow(MIB).boxed();
        assert!(futures::poll!(&mut waiting).is_pending());
        tokio::time::sleep(Duration::from_millis(20)).await;
        drop(first);
        assert!(waiting.await);
        assert!(waits.is_why_it_was_late(Duration::from_millis(30)));
        assert!(!waits.is_why_it_was_late(Duration::from_secs(60)));
    }

    #[tokio::test]
    async fn where_all_wait_for_one_another_the_last_one_is_refused() {
        let host = HostMemory::new(8 * MIB);
        let server = ServerMemory::new(Arc::clone(&host));
        let (mut first, mut second) = (instance(&server, 8 * MIB), instance(&server, 8 * MIB));
        assert!(first.grow(2 * MIB).await && second.grow(2 * MIB).await);
        let mut waiting = first.grow(MIB).boxed();
        assert!(futures::poll!(&mut waiting).is_pending());
        assert!(!second.grow(MIB).await);
        assert_eq!(second.refused, Some(Refused::Host(8 * MIB)));
        drop(second);
        assert!(waiting.await);
    }

    #[test]
    fn files_that_are_loaded_count_and_large_ones_need_room() {
        let host = HostMemory::new(100 * MIB);
        let first = host.hold_file(60 * MIB).unwrap();
        assert_eq!(host.taken(), 60 * MIB);
        // Nothing would make room for that one.
        assert!(host.hold_file(101 * MIB).is_none());
        let small: Vec<_> = (0..3).map(|_| host.hold_file(30 * MIB).unwrap()).collect();
        assert_eq!(host.taken(), 150 * MIB);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| host.hold_file(90 * MIB));
            std::thread::sleep(Duration::from_millis(100));
            assert!(!waiting.is_finished());
            drop((first, small));
            let held = waiting.join().unwrap();
            assert_eq!((held.is_some(), host.taken()), (true, 90 * MIB));
        });
        assert_eq!(host.taken(), 0);
    }
}
