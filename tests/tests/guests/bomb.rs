//! Takes all the memory it can get.

use super::*;

#[test]
fn ends_at_the_memory_limit() {
    let mut host = Host::with_more("bomb", "[servers.bomb.limits]\nmemory = \"32MiB\"");
    host.fails("bomb__grow", json!({}), "memory");
    let status = std::fs::read_to_string(format!("/proc/{}/status", host.client.pid())).unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 400 << 10, "the host took {peak} KiB");
    host.stays_well();
}
