//! Plugins that mean to take all there is: memory, time, the log, a compiler. One file
//! for each way. After each the host answers a good call, and its memory has come back.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

mod compile;
mod folders;
mod host_memory;
mod logs;
mod memories;
mod schemas;
mod sessions;
mod tables;

use std::time::{Duration, Instant};

use dormouse_tests::{Client, Home, artifacts};
use serde_json::json;

/// How much more memory than before the host may keep, in KiB: what was in many small
/// pieces goes back late.
const KEPT: u64 = 64 << 10;

/// A host with a hostile component and a good one.
struct Host {
    home: Home,
    client: Client,
    before: u64,
}

impl Host {
    /// With more lines of TOML for the component.
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
        let before = memory("VmRSS", client.pid());
        Self {
            home,
            client,
            before,
        }
    }

    /// The most memory that the host has ever had, in KiB.
    fn peak(&self) -> u64 {
        memory("VmHWM", self.client.pid())
    }

    /// The error of a call of the component, which names its server.
    fn fails(&mut self, tool: &str, parts: &[&str]) {
        let error = self.client.error(tool, json!({})).unwrap();
        for part in parts.iter().chain(&["`bad`"]) {
            assert!(error.contains(part), "no `{part}` in `{error}`");
        }
    }

    /// The host answers a good call, has given back what it took, and goes.
    fn stays_well(mut self) {
        let told = self
            .client
            .text("good__echo", json!({ "text": "well" }))
            .unwrap();
        assert_eq!(told, "well");
        let start = Instant::now();
        let mut after = memory("VmRSS", self.client.pid());
        while after > self.before + KEPT && start.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(100));
            after = memory("VmRSS", self.client.pid());
        }
        let before = self.before;
        assert!(after <= before + KEPT, "{before} KiB became {after} KiB");
        assert!(self.client.close(Duration::from_secs(6)).unwrap().success());
    }
}

/// A line of a process's status, in KiB.
fn memory(line: &str, pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let found = status.lines().find_map(|found| found.strip_prefix(line));
    let found = found.unwrap().trim_start_matches(':');
    found.trim().trim_end_matches(" kB").parse().unwrap()
}
