//! The host as a process: before the first call, while plugins come and go, and at its end.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

mod changed;
mod commands;
mod files;
mod known_clients;
#[cfg(target_os = "linux")]
mod lazy;
mod lifecycle;
mod listed;
mod token_costs;

use std::time::{Duration, Instant};

use dormouse_tests::client;

fn wait_for(so: impl Fn() -> bool) {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < client::PATIENCE, "still not so");
        std::thread::sleep(Duration::from_millis(10));
    }
}
