//! Upstreams of bridged servers: what is let through between them, and what of their offers is
//! learnt, added and forgotten.

mod added_resources;
mod forget;
mod policy;
mod sync;

pub(super) use added_resources::AddedResources;
pub use sync::Synced;
