//! Twenty tools of ordinary size, for the benches.

use super::*;

#[test]
fn lists_twenty_tools_in_their_order() {
    let mut host = Host::with("bench");
    let tools = host.tools();
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names[0], "bench__echo");
    assert_eq!(names[19], "bench__filler19");
    assert_eq!(
        host.client
            .text("bench__filler19", json!({ "text": "a", "times": 3 }))
            .unwrap(),
        "aaa"
    );
    host.stays_well();
}
