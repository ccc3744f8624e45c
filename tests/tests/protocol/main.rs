//! The protocol over stdio: its eras, and messages that make no sense in one of them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

mod eras;
mod messages;
