//! Upstreams of bridged servers: what is let through between them, and what of their offers is
//! learnt, kept for a connection and forgotten.

mod connection_offers;
mod forget;
mod learning;
mod policy;
mod sync;

pub(super) use connection_offers::ConnectionOffers;
pub use sync::Synced;
