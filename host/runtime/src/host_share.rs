//! What the host keeps for an instance beside its linear memories and tables.

use dormouse_catalog::instance_footprint;
use wasmtime::Store;

use super::engine::GUEST_STACK_BYTES;
use super::value::{MAX_NESTED_FACTOR, flags_factor};

/// How many component instances one component may have, itself included. Those that toolchains
/// build have one, or a few.
const MAX_COMPONENT_INSTANCES: u64 = 1000;

/// How many core instances one store may have. A component of componentize-py has some
/// thirty.
const MAX_CORE_INSTANCES: u64 = 256;

/// How many core instances one store may have whose component has the component model's
/// concurrency.
const MAX_CONCURRENT_CORE_INSTANCES: u64 = 64;

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
    sent_flags: usize,
    /// Whether wasmtime makes values of what its code hands over before it returns: to futures and
    /// streams, or to functions that nobody offers.
    hands_over_values: bool,
}

impl HostShare {
    /// What is kept for each instance of a component.
    ///
    /// # Errors
    /// It has more component instances than it may.
    pub(super) fn of(component: &[u8], is_concurrent: bool) -> Result<Self, String> {
        let footprint = instance_footprint(component);
        if footprint.component_instances > MAX_COMPONENT_INSTANCES {
            let what = match footprint.component_instances {
                u64::MAX => "it makes instances of components that others hand to it, and nobody knows how many".to_owned(),
                number => format!("it has {number} component instances"),
            };
            return Err(format!(
                "{what}, where {MAX_COMPONENT_INSTANCES} are allowed\nhint: build it with fewer components in it"
            ));
        }
        let concurrent = match is_concurrent {
            // In each component instance a function may wait, however deep it has called itself.
            true => CONCURRENT_BYTES + footprint.with_code * GUEST_STACK_BYTES as u64,
            false => 0,
        };
        Ok(Self {
            bytes: footprint.bytes.saturating_add(concurrent),
            is_concurrent,
            sent_flags: footprint.sent_flags,
            hands_over_values: footprint.sends_values,
        })
    }

    /// The same of a component that imports functions which nobody offers.
    pub(super) fn with_functions_not_offered(self) -> Self {
        Self {
            hands_over_values: true,
            ..self
        }
    }

    /// How much it is, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many times the memory that wasmtime counts what its components send each other may take.
    pub(super) fn uncounted_factor(&self) -> usize {
        let nested = match self.hands_over_values {
            true => MAX_NESTED_FACTOR,
            false => 1,
        };
        // A name has a letter.
        flags_factor(self.sent_flags, self.sent_flags).max(nested)
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
