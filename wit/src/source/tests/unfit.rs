//! Functions that are no tools, and types at their limits.

use super::*;

#[test]
fn what_is_no_tool_is_named_and_the_others_stay() {
    let table = [
        ("f: async func();", "async func"),
        ("f: func(x: option<option<u8>>);", "option<option<T>>"),
        (
            "type o = option<u8>; f: func() -> option<o>;",
            "option<option<T>>",
        ),
        ("f: func(x: stream<u8>);", "stream"),
        ("f: func() -> future<u8>;", "future"),
        ("resource res {} f: func(x: borrow<res>);", "borrow<res>"),
        ("resource res {} f: func() -> list<res>;", "own<res>"),
        (
            "resource res {} record r { x: res } f: func(r: r);",
            "own<res>",
        ),
        ("resource res {} f: func() -> result<u8, res>;", "own<res>"),
        ("f: func() -> error-context;", "error-context"),
    ];
    for (items, expected) in table {
        let (declaration, findings) = declare(&interface(&format!("{items} good: func() -> u8;")));
        assert_eq!(names(&declaration), ["good"], "{items}");
        let [finding] = findings.as_slice() else {
            panic!("{items}: {findings:?}")
        };
        assert_eq!(
            (finding.item.as_str(), finding.severity),
            ("a:b/i#f", Severity::Warning)
        );
        assert!(finding.message.contains(expected), "{finding}");
    }
    let (declaration, findings) = declare(&interface(
        "resource res { constructor(); get: func() -> u8; make: static func() -> u8; } good: func();",
    ));
    assert_eq!(names(&declaration), ["good"]);
    assert_eq!(findings.len(), 3, "{findings:?}");
}

#[test]
fn types_that_explode_are_refused_in_no_time() {
    let mut wide = String::from("record r0 { a: u8, b: u8 }");
    for i in 1..24 {
        wide += &format!("record r{i} {{ a: r{}, b: r{} }}", i - 1, i - 1);
    }
    let deep = format!("f: func(x: {}u8{});", "list<".repeat(60), ">".repeat(60));
    let many: String = (0..2000).map(|i| format!("g{i}: func(r: r9);")).collect();
    let start = dormouse_tests::growth::cpu_time();
    for (items, expected) in [
        (format!("{wide} f: func(r: r23);"), "KiB written out"),
        (deep, "nested deeper"),
        (format!("{wide} {many} f: func(r: r23);"), "MiB written out"),
    ] {
        let (declaration, findings) = declare(&interface(&format!("good: func(); {items}")));
        assert_eq!(declaration.tools[0].name, "good");
        assert!(
            findings
                .iter()
                .any(|finding| finding.message.contains(expected)),
            "{expected}"
        );
        assert!(
            findings
                .iter()
                .all(|finding| finding.severity == Severity::Warning)
        );
    }
    let time = dormouse_tests::growth::cpu_time().saturating_sub(start);
    assert!(time.as_secs() < 20, "{time:?}");
}

#[test]
fn the_deepest_types_survive_their_own_section() {
    // One level less than is refused, of the types with the deepest schemas.
    let mut items = String::from("variant v0 { a(u8) } record r0 { a: u8 }");
    for i in 1..24 {
        items += &format!(
            "variant v{i} {{ a(v{}) }} record r{i} {{ a: r{} }}",
            i - 1,
            i - 1
        );
    }
    let declaration = sound(&interface(&format!(
        "{items} v: func(v: v23) -> v23; r: func(r: r23) -> r23;"
    )));
    let section = crate::section::encode(&declaration).unwrap();
    let back = crate::section::decode(&section).unwrap();
    assert_eq!(names(&back), ["v", "r"]);
    tool(&back, "v");
    tool(&back, "r");
}
