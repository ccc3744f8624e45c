//! What the host keeps for an instance beside its linear memories and tables.

use dormouse_catalog::instance_footprint;
use wasmtime::Store;

/// How many core instances one store may have. A component of componentize-py has some
/// thirty.
const MAX_CORE_INSTANCES: u64 = 256;

/// How many core instances one store may have whose component has the component model's
/// concurrency: in each a function may wait, which keeps a stack.
const MAX_CONCURRENT_CORE_INSTANCES: u64 = 64;

/// Bytes of such a stack that are in use.
const STACK_BYTES: u64 = 32 << 10;

/// How many handles (resources, streams, futures, tasks, …) a component may hold at once.
const MAX_HANDLES: usize = 4096;

/// How many tasks, threads, sets of what is waited for, streams and futures with their ends there
/// may be at once. A task takes three of these, and so does a stream.
const MAX_CONCURRENT_ENTRIES: usize = 1024;

/// Bytes that all of those entries take, with the handles.
const CONCURRENT_BYTES: u64 = 1 << 20;

/// What the host keeps for each instance of one component beside its linear memories and
/// tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HostShare {
    bytes: u64,
    is_concurrent: bool,
}

impl HostShare {
    /// What is kept for each instance of a component.
    pub(super) fn of(component: &[u8], is_concurrent: bool) -> Self {
        let footprint = instance_footprint(component, max_core_instances(is_concurrent));
        let concurrent = match is_concurrent {
            true => CONCURRENT_BYTES + footprint.core_instances * STACK_BYTES,
            false => 0,
        };
        Self {
            bytes: footprint.bytes + concurrent,
            is_concurrent,
        }
    }

    /// How much it is, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many core instances an instance may have.
    pub(super) fn max_core_instances(&self) -> usize {
        let most = max_core_instances(self.is_concurrent);
        usize::try_from(most).unwrap_or(usize::MAX)
    }

    /// Sees to it that a store never keeps more than that.
    pub(super) fn limit<T>(&self, store: &mut Store<T>) {
        store.set_max_component_handles(MAX_HANDLES);
        if let Some(entries) = store.concurrent_resource_table() {
            entries.set_max_capacity(MAX_CONCURRENT_ENTRIES);
        }
    }
}

/// Why a guest ended that held more than it may, by what wasmtime says, whose types for that are
/// its own.
pub(super) fn held_too_many(error: &str) -> Option<String> {
    let is_full = error.contains("store handle limit exceeded")
        || error.contains("resource table has no free keys");
    is_full.then(|| {
        format!(
            "it held more resources, streams, futures and tasks than it may: {MAX_HANDLES} handles, and {MAX_CONCURRENT_ENTRIES} tasks, streams and their ends\nhint: does it let go of what it is done with?"
        )
    })
}

fn max_core_instances(is_concurrent: bool) -> u64 {
    match is_concurrent {
        true => MAX_CONCURRENT_CORE_INSTANCES,
        false => MAX_CORE_INSTANCES,
    }
}
