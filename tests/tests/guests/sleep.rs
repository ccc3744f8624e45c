//! Sleeps.

use super::*;

/// A guest that sleeps holds up no other, and can be ended while it does.
#[test]
fn sleeps_alone() {
    let mut host = Host::with("sleep");
    host.client
        .text("sleep__sleep", json!({ "milliseconds": 0 }))
        .unwrap();
    let start = Instant::now();
    let call = json!({ "name": "sleep__sleep", "arguments": { "milliseconds": 500 } });
    let ids: Vec<_> = (0..20)
        .map(|_| host.client.send("tools/call", call.clone()).unwrap())
        .collect();
    for id in ids {
        host.client.answer(id).unwrap();
    }
    assert!(
        start.elapsed() < Duration::from_secs(4),
        "took {:?}",
        start.elapsed()
    );
    host.stays_well();
}

#[test]
fn ends_at_the_deadline() {
    let mut host = Host::with_more("sleep", "[servers.sleep.limits]\ntimeout = \"200ms\"");
    let start = Instant::now();
    host.fails("sleep__sleep", json!({ "milliseconds": 60_000 }), "0.2 s");
    assert!(start.elapsed() < Duration::from_secs(10));
    host.stays_well();
}
