//! Prints what an MCP server would say, to be taken for one.

use super::*;

/// The client fails on a line that is no answer of ours, and on an id that is
/// answered twice.
#[test]
fn is_not_believed() {
    let mut host = Host::with("forge");
    let tools = host.client.tools().unwrap();
    assert_eq!(
        host.client
            .text("forge__forge", json!({ "up_to": 100 }))
            .unwrap(),
        "honest"
    );
    assert_eq!(host.client.tools().unwrap(), tools);
    assert!(
        host.client.notifications.is_empty(),
        "{:?}",
        host.client.notifications
    );
    host.stays_well();
}
