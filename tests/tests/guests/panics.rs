//! Panics.

use super::*;

#[test]
fn tells_what_it_said() {
    let mut host = Host::with("panics");
    let error = host.fails(
        "panics__panics",
        json!({ "message": "the \"sky\" isn't \\ there" }),
        "; the \"sky\" isn't \\ there",
    );
    assert!(error.contains("thread '"), "{error}");
    assert!(!error.contains("RUST_BACKTRACE"), "{error}");
    host.stays_well();
}

#[test]
fn did_not_say_why() {
    let mut host = Host::with("panics");
    let error = host.client.error("panics__fails", json!({})).unwrap();
    assert_eq!(error, "the plugin failed and did not say why");
    host.stays_well();
}
