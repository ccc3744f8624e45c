//! Things that are kept as long as nobody else needs their memory, and given back then.

use std::time::Instant;

use super::ServerMemory;

/// Instances of one server that are kept while no call uses them.
pub(crate) trait ReclaimableInstances: Send + Sync {
    /// Checks whether they are of the server with that memory.
    fn are_of(&self, memory: &ServerMemory) -> bool;

    /// Returns the instances that no call uses.
    fn idle(&self) -> Vec<Box<dyn ReclaimableInstance>>;
}

/// A kept instance that no call uses, nor can use for as long as this is held.
pub(crate) trait ReclaimableInstance {
    /// Returns the time of its last call.
    fn used(&self) -> Instant;

    /// Ends it. Returns the number of bytes that this frees; its session's next call gets a fresh
    /// instance.
    fn end(self: Box<Self>) -> u64;
}
