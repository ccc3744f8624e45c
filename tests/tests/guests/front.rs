//! Asks an upstream; what it may ask one for is tested with servers (`servers::component_calls`).

use super::*;

#[test]
fn is_told_that_it_has_no_upstream() {
    let mut host = Host::with("front");
    let asked = json!({ "method": "tools/list", "params": "{}" });
    host.fails("front__hand_on", asked, "this server has no upstream");
    host.stays_well();
}
