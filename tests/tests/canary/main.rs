//! Secrets of every kind that a configuration can have: none of the output, the logs and the files
//! of Dormouse has one of them in it.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

mod agents;
mod commands;
mod full_home;
mod hidden;
mod servers;
mod tokens;

/// Beginning of every secret here, but for those that are made by chance.
pub(crate) const CANARY: &str = "canary-";
