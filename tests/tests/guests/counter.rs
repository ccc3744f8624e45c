//! Keeps state in a global, without saying so.

use super::*;

#[test]
fn forgets_from_call_to_call() {
    let mut host = Host::with("counter");
    for _ in 0..3 {
        let result = host.client.call("counter__count", json!({})).unwrap();
        assert_eq!(result["structuredContent"]["result"], 1);
    }
    host.stays_well();
}

#[test]
fn remembers_where_the_user_says_so() {
    let mut host = Host::with_more("counter", "instance = \"per-session\"");
    for count in 1..4 {
        let result = host.client.call("counter__count", json!({})).unwrap();
        assert_eq!(result["structuredContent"]["result"], count);
    }
    host.stays_well();
}
