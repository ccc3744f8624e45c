//! Wasmtime engines, made by the calls that first need them.

mod ticker;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wasmtime::{Config, Enabled, Engine, PoolingAllocationConfig};

use self::ticker::{RunningGuest, Ticker};
use crate::memory::GUEST_STACK_BYTES;
use crate::state::InstanceState;

/// Most instances in the pool; further ones are made on demand.
const POOL: u32 = 128;

/// Largest memory of an instance in the pool, in bytes: as large as the default of `memory` in
/// `[servers.NAME.limits]`.
pub(super) const POOL_MEMORY: u64 = 256 << 20;

/// Largest image of a memory, in bytes, that is kept regardless of the zeros in it. A larger image
/// is kept where at least half of it is data.
const DENSE_IMAGE_BYTES: u64 = 1 << 20;

/// Origin of instances.
///
/// Making an instance maps memory and unmaps it again, and processes with many threads queue for
/// their address space: with 64 calls in flight a pool, whose memory stays mapped, serves about
/// eight times as many calls. But a pool has places of one size, and not many; so instances that do
/// not fit, or stay for long, are made on demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InstanceOrigin {
    /// From the pool.
    Pool,
    /// Made to measure.
    Demand,
}

/// Kind of the engine that runs a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EngineKind {
    pub origin: InstanceOrigin,
    /// Whether it has the component model's concurrency. A call through all of that takes a fifth
    /// more of a processor's time (`cargo xtask bench http`), and few components use it; those of
    /// componentize-js are among them.
    pub concurrent: bool,
}

/// An engine with its linker.
pub(super) struct Machine {
    pub engine: Engine,
    /// Linker with all functions that the host offers: WASI (whose use is up to each store) and the
    /// contract.
    pub linker: wasmtime::component::Linker<InstanceState>,
}

/// Engines of one host, each made when it is first needed.
pub(super) struct Machines {
    /// The engine of each kind.
    all: [OnceLock<Result<Machine, String>>; 4],
    /// The places of the pool.
    places: Arc<Semaphore>,
    ticker: Ticker,
    made: AtomicU64,
}

impl Default for Machines {
    fn default() -> Self {
        Self {
            all: Default::default(),
            places: Arc::new(Semaphore::new(POOL as usize)),
            ticker: Ticker::default(),
            made: AtomicU64::new(0),
        }
    }
}

impl Machines {
    /// Returns the number of engines that were made: none before the first call.
    pub(super) fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    /// Returns an engine, made now if need be.
    pub(super) fn get(&self, kind: EngineKind) -> Result<&Machine, String> {
        let [pool, demand, concurrent_pool, concurrent_demand] = &self.all;
        let machine = match (kind.origin, kind.concurrent) {
            (InstanceOrigin::Pool, false) => pool,
            (InstanceOrigin::Demand, false) => demand,
            (InstanceOrigin::Pool, true) => concurrent_pool,
            (InstanceOrigin::Demand, true) => concurrent_demand,
        };
        let make = || {
            self.made.fetch_add(1, Ordering::Relaxed);
            let machine = Machine::new(kind).map_err(|error| format!("{error:#}"))?;
            let begun = self.ticker.begin(&machine.engine);
            begun.map_err(|error| format!("no thread can be started: {error}"))?;
            Ok(machine)
        };
        machine.get_or_init(make).as_ref().map_err(Clone::clone)
    }

    /// Makes busy guests yield for as long as the returned value is held.
    pub(super) fn busy(&self) -> RunningGuest {
        self.ticker.busy()
    }

    /// Takes a place in the pool, if one is free.
    pub(super) fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }
}

/// Returns the pool's configuration. Only address space is taken before a place is used.
fn pool(concurrent: bool) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    // A component of componentize-js has some ten core instances, and in each a function may
    // wait, which keeps a stack; one that has more than its share here is made on demand.
    let (core_instances, stacks) = match concurrent {
        true => (16, 16),
        false => (32, 1),
    };
    pool.max_core_instances_per_component(core_instances)
        .max_tables_per_component(16)
        .max_memories_per_component(2)
        .total_component_instances(POOL)
        .total_core_instances(POOL * core_instances)
        .total_tables(POOL * 16)
        .total_memories(POOL * 2)
        .total_stacks(POOL * stacks)
        .max_component_instance_size(4 << 20)
        .max_core_instance_size(4 << 20)
        .table_elements(1 << 16)
        .max_memory_size(usize::try_from(POOL_MEMORY).unwrap_or(usize::MAX))
        // Memory that is overwritten with zeros instead of being unmapped and mapped anew. Where
        // the kernel tells which pages were touched, only those are.
        .pagemap_scan(Enabled::Auto)
        .linear_memory_keep_resident(256 << 10)
        .table_keep_resident(64 << 10)
        // Places that keep their memory while nobody uses them.
        .max_unused_warm_slots(16);
    pool
}

impl Machine {
    /// Returns an engine of that kind alone, for a process that only compiles.
    pub(super) fn engine(kind: EngineKind) -> wasmtime::Result<Engine> {
        let mut config = Config::new();
        config
            .epoch_interruption(true)
            .wasm_component_model(true)
            .concurrency_support(kind.concurrent)
            .wasm_component_model_map(true)
            .wasm_component_model_fixed_length_lists(true)
            .max_wasm_stack(GUEST_STACK_BYTES)
            .async_stack_size(2 * GUEST_STACK_BYTES)
            // The default of 4 GiB for each memory runs out of address space
            // with a few thousand instances.
            .memory_reservation(256 << 20)
            // Memory that data is written to when an instance is made stands in the code as a whole,
            // zeros and all, up to this size for each module: two bytes far apart would be 16 MiB.
            .memory_guaranteed_dense_image_size(DENSE_IMAGE_BYTES)
            // A guest can see the text of an error; none shows the host's code.
            .wasm_backtrace_max_frames(None);
        if kind.origin == InstanceOrigin::Pool {
            config.allocation_strategy(pool(kind.concurrent));
        }
        Engine::new(&config)
    }

    /// Returns an engine of that kind, with all functions that the host offers.
    pub(super) fn new(kind: EngineKind) -> wasmtime::Result<Self> {
        let engine = Self::engine(kind)?;
        let linker = crate::state::linker(&engine)?;
        Ok(Self { engine, linker })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Code compiled once serves instances of the pool and instances made on demand.
    #[test]
    fn both_origins_take_the_same_code() {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let machines = Machines::default();
        let hash = |origin, concurrent| {
            let mut hasher = DefaultHasher::new();
            let kind = EngineKind { origin, concurrent };
            let engine = &machines.get(kind).unwrap().engine;
            engine.precompile_compatibility_hash().hash(&mut hasher);
            hasher.finish()
        };
        for concurrent in [false, true] {
            let pooled = hash(InstanceOrigin::Pool, concurrent);
            assert_eq!(pooled, hash(InstanceOrigin::Demand, concurrent));
        }
        assert_eq!(machines.made(), 4);
    }
}
