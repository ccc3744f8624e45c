//! Keeps state in a global, and declares it.

use super::*;

#[test]
fn remembers_within_a_session_only() {
    let mut host = Host::with("keeper");
    for count in 1..4 {
        let result = host.client.call("keeper__count", json!({})).unwrap();
        assert_eq!(result["structuredContent"]["result"], count);
    }
    let mut other = host.home.serve().unwrap();
    let result = other.call("keeper__count", json!({})).unwrap();
    assert_eq!(result["structuredContent"]["result"], 1);
    host.stays_well();
}
