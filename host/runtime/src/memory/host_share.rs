//! Memory of the host for an instance beside its linear memories and tables.

use dormouse_catalog::instance_footprint;
use wasmtime::Store;

use crate::value::{MAX_NESTED_FACTOR, flags_factor};

/// Stack of a guest, in bytes; its fibre gets as much again for host calls.
pub(crate) const GUEST_STACK_BYTES: usize = 1 << 20;

/// Most component instances of one component, itself included. Components of known toolchains have
/// one, or a few.
const MAX_COMPONENT_INSTANCES: u64 = 1000;

/// Most core instances of one store. A component of componentize-py has some thirty.
const MAX_CORE_INSTANCES: u64 = 256;

/// Most core instances of one store whose component has the component model's concurrency.
const MAX_CONCURRENT_CORE_INSTANCES: u64 = 64;

/// Most handles (resources, streams, futures, tasks, …) that a component holds at once.
const MAX_HANDLES: usize = 4096;

/// Most tasks, threads, waitable sets, streams and futures with their ends at once. A task takes
/// three of these, and so does a stream.
const MAX_CONCURRENT_ENTRIES: usize = 1024;

/// Memory of all of those entries and the handles, in bytes.
const CONCURRENT_BYTES: u64 = 1 << 20;

/// Memory of the host for each instance of one component beside its linear memories and tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HostShare {
    bytes: u64,
    is_concurrent: bool,
    sent_flags: usize,
    /// Whether wasmtime makes values of data that the component's code hands over before it
    /// returns: to futures and streams, or to functions that the host does not offer.
    hands_over_values: bool,
}

impl HostShare {
    /// Computes the share of each instance of a component.
    ///
    /// # Errors
    /// The component has more parts than are read, or more component instances than are allowed.
    pub(crate) fn of(component: &[u8], is_concurrent: bool) -> Result<Self, String> {
        let footprint = instance_footprint(component).map_err(|too_many| {
            format!("{too_many}\nhint: build it with fewer components in it")
        })?;
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
            // In each component instance a function may wait, at any depth of its stack.
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

    /// Returns the share of the same component if it imports functions that the host does not
    /// offer.
    pub(crate) fn with_functions_not_offered(self) -> Self {
        Self {
            hands_over_values: true,
            ..self
        }
    }

    /// Returns the share in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the most memory that values sent between the component's parts may take, as a
    /// multiple of the memory that wasmtime counts.
    pub(crate) fn uncounted_factor(&self) -> usize {
        let nested = match self.hands_over_values {
            true => MAX_NESTED_FACTOR,
            false => 1,
        };
        // Each name has at least one letter.
        flags_factor(self.sent_flags, self.sent_flags).max(nested)
    }

    /// Returns the most core instances of an instance.
    pub(crate) fn max_core_instances(&self) -> usize {
        let most = max_core_instances(self.is_concurrent);
        usize::try_from(most).unwrap_or(usize::MAX)
    }

    /// Limits a store to the share.
    pub(crate) fn limit<T>(&self, store: &mut Store<T>) {
        store.set_max_component_handles(MAX_HANDLES);
        if let Some(entries) = store.concurrent_resource_table() {
            entries.set_max_capacity(MAX_CONCURRENT_ENTRIES);
        }
    }
}

/// Returns the text for a guest that ended because it held too many handles, recognised by
/// wasmtime's message: wasmtime keeps its types for that to itself.
pub(crate) fn held_too_many(error: &str) -> Option<String> {
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
