//! Servers that users have already, in the files of their clients: found, asked
//! for, trusted, allowed, switched and turned into components, by the real program.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

mod announcing;
mod answers;
mod changes;
mod commands;
mod component_calls;
mod confirmed_calls;
mod confirmed_changes;
mod discovery;
mod hostile;
mod lifecycle;
mod names;
mod over_http;
mod questions_over_http;
mod rules_meanwhile;
mod scripted;
mod session;
mod trust;
