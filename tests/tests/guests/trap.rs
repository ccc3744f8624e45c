//! Executes an instruction that cannot be.

use super::*;

#[test]
fn is_an_error_each_time() {
    let mut host = Host::with("trap");
    for _ in 0..3 {
        host.fails("trap__trap", json!({}), "unreachable");
    }
    host.stays_well();
}

#[test]
fn gets_a_hint_where_its_stack_has_overflowed() {
    let mut host = Host::with("trap");
    let hint = "does it call itself without end?";
    host.fails("trap__dig", json!({}), hint);
    host.stays_well();
}
