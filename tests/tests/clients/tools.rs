//! Tools: listed, called, refused, replaced.

use std::path::Path;

use dormouse_tests::artifacts;
use serde_json::{Value, json};

use crate::{Sdk, call, home, is_error, names, text};

pub(crate) fn are_listed_and_called(sdk: Sdk) {
    let long = "x".repeat(100_000);
    let everything = everything();
    let home = home(&["echo", "spin"]);
    let echo = |text: &str| call("echo__echo", json!({ "text": text }));
    let [list, hello, many, much, mirrored, failed, refused] = sdk
        .run(
            &home,
            &[
                json!({ "do": "list" }),
                echo("hello"),
                echo("Grüße, 日本, 😀"),
                echo(&long),
                call("echo__mirror", everything.clone()),
                call("echo__fail", json!({ "message": "no luck" })),
                call("echo__add", json!({ "a": "one", "c": 3 })),
            ],
        )
        .unwrap();
    is_the_list(sdk, &list);
    for (result, expected) in [
        (hello, "hello"),
        (many, "Grüße, 日本, 😀"),
        (much, long.as_str()),
    ] {
        assert_eq!(text(&result), expected);
        assert!(!is_error(&result));
    }

    // A value of every type comes back as it went; the SDK itself has checked it
    // against the output schema.
    assert!(!is_error(&mirrored), "{mirrored}");
    assert_eq!(mirrored["structuredContent"], everything);
    let in_text: Value = serde_json::from_str(text(&mirrored)).unwrap();
    assert_eq!(in_text, everything);

    assert!(is_error(&failed));
    assert!(text(&failed).contains("no luck"), "{failed}");

    // All problems are told at once, each with its place, and what would be right.
    assert!(is_error(&refused));
    for part in ["/a", "`b`", "`c`", "add(a: integer, b: integer)"] {
        assert!(text(&refused).contains(part), "no {part} in {refused}");
    }
}

fn is_the_list(sdk: Sdk, list: &Value) {
    if sdk.asks_who_it_is() {
        assert_eq!(list["server"], "dormouse");
    }
    let tools = &list["tools"];
    assert_eq!(
        names(tools),
        [
            "echo__echo",
            "echo__mirror",
            "echo__add",
            "echo__fail",
            "spin__spin"
        ]
    );
    let echo = &tools[0];
    assert_eq!(echo["description"], "Gives a text back.");
    assert_eq!(echo["title"], "Echo");
    assert_eq!(echo["annotations"]["readOnlyHint"], true);
    assert_eq!(echo["inputSchema"]["required"], json!(["text"]));
    assert_eq!(tools[1]["outputSchema"]["type"], "object");
    if sdk.tells_protocol() {
        let version = list["protocol"].as_str().unwrap();
        assert_eq!(version >= "2026", sdk.is_modern(), "spoke {version}");
    }
}

fn everything() -> Value {
    json!({
        "flag": true,
        "signed8": -128,
        "signed16": -32768,
        "signed32": -2147483648,
        // What JavaScript can hold, too.
        "signed64": -9007199254740991_i64,
        "unsigned8": 255,
        "unsigned16": 65535,
        "unsigned32": 4294967295_u32,
        "unsigned64": 9007199254740991_u64,
        "single": 0.5,
        "double": -1.25,
        "letter": "😀",
        "text": "Grüße",
        "bytes": "AAEC/w==",
        "points": [{ "x": 1, "y": -1 }],
        "pair": ["two", 2],
        "maybe": "something",
        "corner": "south_west",
        "rights": ["may_read", "may_run"],
        "shape": { "tag": "rectangle", "value": [1.5, 2.5] },
        "outcome": { "err": "none" }
    })
}

/// The client is told of the change and sees the new tools, in the session that it has.
pub(crate) fn are_replaced(sdk: Sdk) {
    let home = home(&[]);
    let file = home.plugin_file("swap.wasm", &guest("counter")).unwrap();
    home.server("swap", &file).unwrap();
    let by = home.plugin_file("by.wasm", &guest("echo")).unwrap();
    let answer = sdk
        .step(
            &home,
            json!({
                "do": "replace", "file": file, "by": by,
                "tool": "swap__echo", "arguments": { "text": "new" }
            }),
        )
        .unwrap();
    assert_eq!(answer["before"], json!(["swap__count"]));
    assert_eq!(answer["after"][0], "swap__echo");
    assert_eq!(text(&answer["result"]), "new");
}

fn guest(name: &str) -> Vec<u8> {
    artifacts::read(Path::new(&artifacts::guest(name).unwrap())).unwrap()
}
