//! Answers with more than anyone can use.

use super::*;

#[test]
fn is_refused_with_the_limit_in_the_error() {
    let mut host = Host::with("huge");
    let error = host.fails("huge__huge", json!({ "bytes": 64 << 20 }), "8");
    assert!(error.len() < 1000, "{} bytes", error.len());
    assert_eq!(
        host.client
            .text("huge__huge", json!({ "bytes": 1 << 20 }))
            .unwrap()
            .len(),
        1 << 20
    );
    host.stays_well();
}
