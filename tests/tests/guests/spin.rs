//! Runs for ever.

use super::*;

#[test]
fn ends_at_the_deadline() {
    let mut host = Host::with_more("spin", "[servers.spin.limits]\ntimeout = \"300ms\"");
    let start = Instant::now();
    host.fails("spin__spin", json!({}), "0.3 s");
    assert!(start.elapsed() < Duration::from_secs(10));
    host.stays_well();
}

/// More loops than processors, and all other calls go on.
#[test]
fn many_do_not_hold_up_others() {
    let mut host = Host::with("spin");
    // Whoever comes after must not wait for a compiler either.
    host.client
        .text("good__echo", json!({ "text": "" }))
        .unwrap();
    let call = json!({ "name": "spin__spin", "arguments": {} });
    let ids: Vec<_> = (0..16)
        .map(|_| host.client.send("tools/call", call.clone()).unwrap())
        .collect();
    wait_for(|| host.home.server_status("spin").unwrap()["running"] == 16);
    let start = Instant::now();
    for _ in 0..5 {
        host.client
            .text("good__echo", json!({ "text": "well" }))
            .unwrap();
    }
    host.client.tools().unwrap();
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "took {:?}",
        start.elapsed()
    );
    for id in ids {
        host.client
            .notify("notifications/cancelled", json!({ "requestId": id }))
            .unwrap();
    }
    let start = Instant::now();
    wait_for(|| host.home.server_status("spin").unwrap()["running"] == 0);
    assert!(
        start.elapsed() < Duration::from_secs(1),
        "stopped after {:?}",
        start.elapsed()
    );
    host.stays_well();
}
