//! Ends its process, so to speak.

use super::*;

#[test]
fn ends_the_call_and_not_the_host() {
    let mut host = Host::with("exit");
    for code in [0, 1, 255] {
        host.fails("exit__exit", json!({ "code": code }), "exit");
    }
    host.stays_well();
}
