//! Plugins that try to take all there is: memory, time, the log, a compiler. One file for each way.
//! After each the host answers a good call, and its memory has come back.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

mod compile;
#[cfg(unix)]
mod compile_cache;
mod concurrency;
mod first_reads;
mod folders;
mod handed_over;
mod host_memory;
mod in_flight;
mod large_values;
mod logs;
mod memories;
mod results;
mod schemas;
mod sessions;
mod straight_lines;
mod tables;
mod unread;

use std::time::Duration;

use dormouse_tests::{Client, Home, artifacts, processes};
use serde_json::json;

/// A host with a hostile component and a good one.
struct Host {
    home: Home,
    client: Client,
    before: u64,
}

impl Host {
    /// Starts a host, with more lines of TOML for the component.
    fn with(component: &[u8], more: &str) -> Self {
        Self::in_home(Home::new().unwrap(), component, more)
    }

    fn in_home(home: Home, component: &[u8], more: &str) -> Self {
        let file = home.plugin_file("bad.wasm", component).unwrap();
        home.server_with("bad", &file, more).unwrap();
        home.server("good", &artifacts::guest("echo").unwrap())
            .unwrap();
        let mut client = home.serve().unwrap();
        client
            .text("good__echo", json!({ "text": "warm" }))
            .unwrap();
        let before = processes::memory(client.pid()).unwrap();
        Self {
            home,
            client,
            before,
        }
    }

    /// Returns the most memory that the host has ever had, in KiB.
    fn peak(&self) -> u64 {
        processes::most_memory(self.client.pid()).unwrap()
    }

    /// Checks the error of a call of the component, which names its server.
    fn fails(&mut self, tool: &str, parts: &[&str]) {
        let error = self.client.error(tool, json!({})).unwrap();
        for part in parts.iter().chain(&["`bad`"]) {
            assert!(error.contains(part), "no `{part}` in `{error}`");
        }
    }

    /// Checks that the host answers a good call, has given back the memory that it took, and ends.
    fn stays_well(mut self) {
        let told = self
            .client
            .text("good__echo", json!({ "text": "well" }))
            .unwrap();
        assert_eq!(told, "well");
        processes::gives_back(self.client.pid(), self.before).unwrap();
        assert!(self.client.close(Duration::from_secs(6)).unwrap().success());
    }
}
