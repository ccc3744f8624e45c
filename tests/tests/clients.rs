//! The same features, as the official SDKs have them: Python in both eras of the
//! protocol, TypeScript's first and second major version, the latter in both; each
//! over stdio and over HTTP.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

use std::path::Path;
use std::process::{Command, Stdio};

use dormouse_tests::{Home, artifacts};
use serde_json::{Value, json};

/// A client: an SDK and the era that it speaks.
#[derive(Debug, Clone, Copy)]
struct Sdk {
    name: &'static str,
    mode: &'static str,
    /// Whether it reaches the host over HTTP.
    http: bool,
}

const PYTHON: Sdk = Sdk {
    name: "python",
    mode: "auto",
    http: false,
};
const PYTHON_LEGACY: Sdk = Sdk {
    name: "python",
    mode: "legacy",
    http: false,
};
const TYPESCRIPT_1: Sdk = Sdk {
    name: "v1",
    mode: "legacy",
    http: false,
};
const TYPESCRIPT_2: Sdk = Sdk {
    name: "v2",
    mode: "auto",
    http: false,
};
const TYPESCRIPT_2_LEGACY: Sdk = Sdk {
    name: "v2",
    mode: "legacy",
    http: false,
};

impl Sdk {
    const fn over_http(mut self) -> Self {
        self.http = true;
        self
    }

    /// Runs one feature in a session of its own with `dormouse serve` there.
    fn run(self, home: &Home, feature: &str, arguments: &Value) -> Value {
        let scripts = artifacts::workspace().join("tests/clients");
        let mut client = if self.name == "python" {
            let mut python = Command::new(artifacts::python("clients", "python").unwrap());
            python.arg(scripts.join("python/features.py"));
            python
        } else {
            let mut node = Command::new(artifacts::node().unwrap());
            node.arg(scripts.join("ts/features.mjs")).arg(self.name);
            node
        };
        let server = self.http.then(|| home.serve_http(&[]).unwrap());
        let place = match &server {
            Some(server) => vec![format!("http://{}/mcp", server.address())],
            None => home.launch(),
        };
        let output = client
            .args([self.mode, feature, &arguments.to_string()])
            .args(place)
            .envs(home.environment())
            .env("DORMOUSE_TEST_NPM", artifacts::npm())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{self:?} {feature}: {stderr}");
        let answer = serde_json::from_slice(&output.stdout);
        answer
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stdout)))
    }

    fn is_modern(self) -> bool {
        self.mode == "auto"
    }
}

/// What is in the result besides the content is the business of each era.
fn text(result: &Value) -> &str {
    dormouse_tests::client::text(result).unwrap_or_else(|| panic!("no text in {result}"))
}

fn is_error(result: &Value) -> bool {
    result["isError"] == json!(true)
}

fn home(guests: &[&str]) -> Home {
    let home = Home::new().unwrap();
    home.guests(guests).unwrap();
    home
}

fn names(tools: &Value) -> Vec<&str> {
    tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

fn lists(sdk: Sdk) {
    let home = home(&["echo", "spin"]);
    let answer = sdk.run(&home, "list", &json!({}));
    assert_eq!(answer["server"], "dormouse");
    assert_eq!(
        names(&answer["tools"]),
        [
            "echo__echo",
            "echo__mirror",
            "echo__add",
            "echo__fail",
            "spin__spin"
        ]
    );
    let echo = &answer["tools"][0];
    assert_eq!(echo["description"], "Gives a text back.");
    assert_eq!(echo["title"], "Echo");
    assert_eq!(echo["annotations"]["readOnlyHint"], true);
    assert_eq!(echo["inputSchema"]["required"], json!(["text"]));
    assert_eq!(answer["tools"][1]["outputSchema"]["type"], "object");
    if sdk.name != "v1" {
        let version = answer["protocol"].as_str().unwrap();
        assert_eq!(version >= "2026", sdk.is_modern(), "spoke {version}");
    }
}

fn calls(sdk: Sdk) {
    let home = home(&["echo"]);
    for text_ in ["hello", "Grüße, 日本, 😀", &"x".repeat(100_000)] {
        let result = sdk.run(
            &home,
            "call",
            &json!({ "tool": "echo__echo", "arguments": { "text": text_ } }),
        );
        assert_eq!(text(&result), text_);
        assert!(!is_error(&result));
    }
}

/// A value of every type comes back as it went; the SDK itself has checked it
/// against the output schema.
fn calls_with_structure(sdk: Sdk) {
    let home = home(&["echo"]);
    let everything = everything();
    let arguments = json!({ "tool": "echo__mirror", "arguments": everything });
    let result = sdk.run(&home, "call", &arguments);
    assert!(!is_error(&result), "{result}");
    assert_eq!(result["structuredContent"], everything);
    assert_eq!(
        serde_json::from_str::<Value>(text(&result)).unwrap(),
        everything
    );
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

fn hears_of_failure(sdk: Sdk) {
    let home = home(&["echo"]);
    let result = sdk.run(
        &home,
        "call",
        &json!({ "tool": "echo__fail", "arguments": { "message": "no luck" } }),
    );
    assert!(is_error(&result));
    assert!(text(&result).contains("no luck"), "{result}");
}

/// All problems are told at once, each with its place, and what would be right.
fn hears_of_bad_arguments(sdk: Sdk) {
    let home = home(&["echo"]);
    let arguments = json!({ "tool": "echo__add", "arguments": { "a": "one", "c": 3 } });
    let result = sdk.run(&home, "call", &arguments);
    assert!(is_error(&result));
    for part in ["/a", "`b`", "`c`", "add(a: integer, b: integer)"] {
        assert!(text(&result).contains(part), "no {part} in {result}");
    }
}

fn hears_of_progress(sdk: Sdk) {
    let home = home(&["reporter"]);
    let answer = sdk.run(
        &home,
        "progress",
        &json!({ "tool": "reporter__work", "arguments": { "steps": 3 } }),
    );
    // Compiling, which comes first, may have been told of as well.
    let heard = answer["heard"].as_array().unwrap();
    let steps: Vec<_> = heard
        .iter()
        .filter(|one| one[2].as_str().unwrap_or("").starts_with("step "))
        .collect();
    assert_eq!(steps.len(), 3, "{answer}");
    let grows = heard
        .windows(2)
        .all(|two| two[0][0].as_f64() < two[1][0].as_f64());
    assert!(grows, "progress has to grow: {answer}");
    assert_eq!(text(&answer["result"]), "did 3 steps");
}

fn cancels(sdk: Sdk) {
    let home = home(&["spin", "echo"]);
    let arguments =
        json!({ "tool": "spin__spin", "arguments": {}, "other": "echo__echo", "while_running": 5 });
    let answer = sdk.run(&home, "cancel", &arguments);
    assert_eq!(answer["ended"], "cancelled");
    assert_eq!(answer["others"], json!(["0", "1", "2", "3", "4", "after"]));
    assert!(
        answer["milliseconds"].as_f64().unwrap() < 1000.0,
        "{answer}"
    );
}

fn sees_a_plugin_replaced(sdk: Sdk) {
    let home = home(&[]);
    let file = home.plugin_file("swap.wasm", &guest("counter")).unwrap();
    home.server("swap", &file).unwrap();
    let by = home.plugin_file("by.wasm", &guest("echo")).unwrap();
    let arguments =
        json!({ "file": file, "by": by, "tool": "swap__echo", "arguments": { "text": "new" } });
    let answer = sdk.run(&home, "replace", &arguments);
    assert_eq!(answer["before"], json!(["swap__count"]));
    assert_eq!(answer["after"][0], "swap__echo");
    assert_eq!(text(&answer["result"]), "new");
}

fn guest(name: &str) -> Vec<u8> {
    artifacts::read(Path::new(&artifacts::guest(name).unwrap())).unwrap()
}

macro_rules! clients {
    ($($sdk:ident as $module:ident),*) => {
        $(mod $module {
            use super::$sdk as SDK;
            clients!(features lists calls calls_with_structure hears_of_failure
                hears_of_bad_arguments hears_of_progress cancels sees_a_plugin_replaced);

            mod over_http {
                const SDK: super::super::Sdk = super::SDK.over_http();
                clients!(features lists calls calls_with_structure hears_of_failure
                    hears_of_bad_arguments hears_of_progress cancels sees_a_plugin_replaced);
            }
        })*
    };
    (features $($feature:ident)*) => {
        $(#[test]
        fn $feature() {
            crate::$feature(SDK);
        })*
    };
}

clients!(
    PYTHON as python,
    PYTHON_LEGACY as python_legacy,
    TYPESCRIPT_1 as typescript_1,
    TYPESCRIPT_2 as typescript_2,
    TYPESCRIPT_2_LEGACY as typescript_2_legacy
);
