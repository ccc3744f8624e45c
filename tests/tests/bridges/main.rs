//! Real MCP servers behind Dormouse: what an agent gets of them is what it gets
//! without Dormouse, but for the name in front.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

mod agents;
mod browser;
mod difference;
mod exact;
mod http;
mod news;
mod pair;
mod prompts;
mod questions;
mod resources;
mod servers;
mod tools;
mod unlisted;

use dormouse_tests::upstream;
use pair::Pair;

/// The server that has every feature of the protocol, in an empty folder.
fn everything() -> Pair {
    Pair::start("everything", |_| {}, |_| upstream::everything())
}
