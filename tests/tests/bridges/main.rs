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
mod asked;
mod browser;
mod difference;
mod exact;
mod http;
mod news;
mod pages;
mod pair;
mod prompts;
mod questions;
mod requests;
mod resources;
mod roots;
mod servers;
mod sessions;
mod tools;
mod unlisted;

use dormouse_tests::{Home, upstream};
use pair::Pair;

/// Returns the server that has every feature of the protocol, in an empty folder.
fn everything() -> Pair {
    Pair::start("everything", |_| {}, |_| upstream::everything())
}

/// Returns a home with the server that repeats what it is told, which Dormouse knows already.
fn mirror(legacy: bool) -> Home {
    let home = Home::new().unwrap();
    let server = upstream::mirror(legacy).unwrap();
    home.upstream("mirror", &server, "").unwrap();
    home.synced("mirror").unwrap();
    home
}
