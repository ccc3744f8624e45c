//! Limits of an item, and the time that judging one takes.

use super::*;

#[test]
fn judging_takes_linear_time() {
    let limits = ItemLimits {
        bytes: usize::MAX,
        members: usize::MAX,
        depth: 100,
        items: usize::MAX,
    };
    let members = |number: usize, member: &dyn Fn(usize) -> String| {
        let members = (0..number).map(member).collect::<Vec<_>>();
        members.join(",")
    };
    let unknown = |number| {
        let members = members(number, &|one| format!("\"m{one}\":1"));
        format!(r#"{{"name":"k","inputSchema":{{}},{members}}}"#)
    };
    let properties = |number| {
        let members = members(number, &|one| format!("\"m{one}\":true"));
        format!(r#"{{"name":"k","inputSchema":{{"type":"object","properties":{{{members}}}}}}}"#)
    };
    let required = |number| {
        let texts = members(number, &|one| format!("\"m{one}\""));
        let schema = format!(r#"{{"type":"object","required":[{texts}],"properties":{{}}}}"#);
        format!(r#"{{"name":"k","inputSchema":{schema},"outputSchema":{schema}}}"#)
    };
    let icons = |number| {
        let icons = members(number, &|_| r#"{"src":7}"#.to_owned());
        format!(r#"{{"name":"k","inputSchema":{{"type":"object"}},"icons":[{icons}]}}"#)
    };
    let inputs: [(&str, &dyn Fn(usize) -> String); 4] = [
        ("unknown members", &unknown),
        ("properties", &properties),
        ("required", &required),
        ("odd icons", &icons),
    ];
    for (what, input) in inputs {
        let input = |size| RawValue::from_string(input(size)).unwrap();
        dormouse_tests::growth::is_linear(what, 2_000, input, |tool| {
            let tool: &RawValue = tool;
            std::hint::black_box(Shape::within(&limits, What::Tool, "k", tool).unwrap());
        });
    }
    // Adapters answer with the same code.
    let twice = |number| {
        let members = members(number, &|_| r#""isError":false"#.to_owned());
        format!(r#"{{"content":[],{members}}}"#)
    };
    let blocks = |number| {
        let block = r#"{"type":"text","text":"x","annotations":{"priority":7}}"#;
        let blocks = members(number, &|_| block.to_owned());
        format!(r#"{{"content":[{blocks}]}}"#)
    };
    let inputs: [(&str, &dyn Fn(usize) -> String); 2] =
        [("members of one name", &twice), ("odd blocks", &blocks)];
    for (what, input) in inputs {
        dormouse_tests::growth::is_linear(what, 2_000, input, |text| {
            std::hint::black_box(answer(What::Tool, text).unwrap());
        });
    }
}

#[test]
fn two_members_of_one_name_are_refused_wherever_they_are() {
    for text in [
        r#"{"name":"k","inputSchema":{"type":"object"},"description":"new","description":"old"}"#,
        r#"{"name":"k","inputSchema":{"type":"object"},"description":"new","d\u0065scription":"old"}"#,
        r#"{"name":"k","inputSchema":{"type":"object","properties":{"a":{},"a":{}}}}"#,
        r#"{"name":"k","inputSchema":{"type":"object"},"_meta":{"a":[{"b":1,"b":1}]}}"#,
    ] {
        let why = shape(What::Tool, text).unwrap_err();
        assert!(why.contains("is there twice"), "{why}");
    }
}

/// A parsed value would show another content of such a member than the text that clients get.
#[test]
fn members_that_readers_take_for_something_else_are_refused() {
    for name in [
        "$serde_json::private::RawValue",
        "$serde_json::privat\\u0065::Number",
    ] {
        let text = format!(
            r#"{{"name":"k","inputSchema":{{"type":"object","properties":{{"a":{{"{name}":"{{}}"}}}}}}}}"#
        );
        let why = shape(What::Tool, &text).unwrap_err();
        assert!(why.contains("$serde_json::private::"), "{why}");
    }
}

#[test]
fn an_item_has_caps() {
    let long = format!(r#"{{"name":"k","x":"{}"}}"#, "x".repeat(1 << 20));
    let members = (0..70_000).map(|one| format!("\"m{one}\":1"));
    let many = format!(
        r#"{{"name":"k",{}}}"#,
        members.collect::<Vec<_>>().join(",")
    );
    for (text, told) in [
        (long, "bytes where 1048576 are allowed"),
        (many, "more than 65536 members"),
    ] {
        let why = shape(What::Tool, &text).unwrap_err();
        assert!(why.contains(told), "{why}");
    }
}
