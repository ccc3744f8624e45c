//! Gives back what it is given, of every type there is. The guest that behaves.

use super::*;

#[test]
fn gives_back_what_it_gets() {
    let mut host = Host::with("echo");
    for text in ["", "a", "\"\\\n\u{1}\u{2028}😀", &"y".repeat(100_000)] {
        assert_eq!(
            host.client
                .text("echo__echo", json!({ "text": text }))
                .unwrap(),
            text
        );
    }
    host.stays_well();
}

/// A whole number is one in each notation; outside its range it is none.
#[test]
fn takes_numbers_as_they_are_written() {
    let mut host = Host::with("echo");
    let sum = |client: &mut Client, a: Value| {
        client.call("echo__add", json!({ "a": a, "b": 1 })).unwrap()
    };
    assert_eq!(
        sum(&mut host.client, json!(5.0))["structuredContent"]["result"],
        6
    );
    for bad in [json!(5.5), json!("5"), json!(1_u64 << 31), json!(null)] {
        let result = sum(&mut host.client, bad);
        assert_eq!(result["isError"], true, "{result}");
    }
    host.stays_well();
}
