//! Messages that make no sense over stdio, answered as the specification of its era says.

use std::time::Duration;

use dormouse_tests::wire::{self, Wire, stateless};
use dormouse_tests::{Client, Home, client};
use serde_json::{Value, json};

fn home() -> Home {
    let home = Home::new().unwrap();
    home.guests(&["echo", "sleep", "library"]).unwrap();
    home
}

/// Agent of one of the eras.
struct Agent {
    client: Client,
    modern: bool,
    _home: Home,
}

impl Agent {
    fn both() -> [Self; 2] {
        [false, true].map(|modern| {
            let home = home();
            let client = if modern {
                Client::spawn(&mut home.command(&["serve"])).unwrap()
            } else {
                home.serve().unwrap()
            };
            Self {
                client,
                modern,
                _home: home,
            }
        })
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let params = match params {
            params @ Value::Object(_) if self.modern => stateless(params, json!({})),
            params => params,
        };
        let id = self.client.send(method, params).unwrap();
        self.client.answer(id).unwrap()
    }
}

#[test]
fn each_kind_of_nonsense_has_its_code() {
    const METHOD: i64 = -32601;
    const PARAMS: i64 = -32602;
    let table = [
        ("tools/kill", json!({}), METHOD),
        ("", json!({}), METHOD),
        ("raw:tools/list", json!({}), METHOD),
        ("tools/call", json!({}), PARAMS),
        ("tools/call", json!({ "name": 1 }), PARAMS),
        ("tools/call", json!({ "name": "nobody__knows" }), PARAMS),
        (
            "tools/call",
            json!({ "name": "echo__echo", "arguments": [] }),
            PARAMS,
        ),
        (
            "tools/call",
            json!({ "name": "echo__echo", "arguments": "{}" }),
            PARAMS,
        ),
        ("tools/list", json!({ "cursor": "no such page" }), PARAMS),
        ("prompts/get", json!({}), PARAMS),
        ("prompts/get", json!({ "name": "nothing" }), PARAMS),
        ("prompts/list", json!({ "cursor": "x" }), PARAMS),
        ("resources/list", json!({ "cursor": "x" }), PARAMS),
        ("resources/templates/list", json!({ "cursor": "x" }), PARAMS),
        ("resources/read", json!({}), PARAMS),
        ("completion/complete", json!({}), PARAMS),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/else" } }),
            PARAMS,
        ),
    ];
    for mut agent in Agent::both() {
        let modern = agent.modern;
        for (method, params, code) in &table {
            let answer = agent.ask(method, params.clone());
            assert_eq!(
                answer["error"]["code"], *code,
                "{modern} {method} {params}: {answer}"
            );
        }
        let unknown = agent.ask("resources/read", json!({ "uri": "nobody://here" }));
        let code = if modern { PARAMS } else { -32002 };
        assert_eq!(unknown["error"]["code"], code, "{unknown}");
        assert_eq!(unknown["error"]["data"]["uri"], "nobody://here");
        let level = agent.ask("logging/setLevel", json!({ "level": 7 }));
        let code = if modern { METHOD } else { PARAMS };
        assert_eq!(level["error"]["code"], code, "{level}");
        // What the eras do not share.
        for (method, params) in [
            ("ping", json!({})),
            ("logging/setLevel", json!({ "level": "info" })),
            ("resources/subscribe", json!({ "uri": "library://today" })),
            ("resources/unsubscribe", json!({ "uri": "library://today" })),
        ] {
            let answer = agent.ask(method, params);
            let expected = if modern { json!(METHOD) } else { Value::Null };
            assert_eq!(
                answer["error"]["code"], expected,
                "{modern} {method}: {answer}"
            );
        }
        // And what is wrong with a tool's arguments is the tool's error.
        let wrong = agent.ask(
            "tools/call",
            json!({ "name": "echo__echo", "arguments": {} }),
        );
        assert_eq!(wrong["result"]["isError"], true, "{wrong}");
        let good = agent.ask(
            "tools/call",
            json!({ "name": "echo__echo", "arguments": { "text": "well" } }),
        );
        assert_eq!(client::text(&good["result"]), Some("well"));
    }
}

#[test]
fn what_is_no_message_is_told_and_the_next_is_heard() {
    let home = home();
    let mut wire = Wire::spawn(&mut home.command(&["serve"])).unwrap();
    wire.initialize().unwrap();
    for (line, id, code) in [
        ("{", Value::Null, -32700),
        ("hello", Value::Null, -32700),
        ("[]", Value::Null, -32600),
        (
            r#"[{"jsonrpc":"2.0","id":7,"method":"ping"}]"#,
            Value::Null,
            -32600,
        ),
        (
            r#"{"jsonrpc":"1.0","id":8,"method":"ping"}"#,
            json!(8),
            -32600,
        ),
        (r#"{"id":9,"method":"ping"}"#, json!(9), -32600),
        (
            r#"{"jsonrpc":"2.0","id":"x","method":5}"#,
            json!("x"),
            -32600,
        ),
        ("5", Value::Null, -32600),
    ] {
        wire.send_raw(format!("{line}\n").as_bytes()).unwrap();
        let answer = wire.receive().unwrap();
        let told = answer.get("id").cloned().unwrap_or_default();
        assert_eq!(
            (&told, &answer["error"]["code"]),
            (&id, &json!(code)),
            "{line}: {answer}"
        );
    }
    assert_eq!(wire.request(10, "ping", json!({})).unwrap(), json!({}));
}

#[test]
fn an_id_in_use_is_refused_and_free_again_afterwards() {
    let home = home();
    let mut wire = Wire::spawn(&mut home.command(&["serve"])).unwrap();
    wire.initialize().unwrap();
    let sleep = |milliseconds: u64| {
        let arguments = json!({ "milliseconds": milliseconds });
        let params = json!({ "name": "sleep__sleep", "arguments": arguments });
        wire::request(7, "tools/call", params)
    };
    wire.send(&sleep(300)).unwrap();
    wire.send(&sleep(10)).unwrap();
    let refused = wire.receive().unwrap();
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!(7), &json!(-32600))
    );
    let first = wire.receive().unwrap();
    assert_eq!(
        client::text(&first["result"]),
        Some("slept 300 ms"),
        "{first}"
    );
    wire.send(&sleep(10)).unwrap();
    let again = wire.receive().unwrap();
    assert_eq!(
        client::text(&again["result"]),
        Some("slept 10 ms"),
        "{again}"
    );

    // A cancelled request has no answer, and its id is free at once.
    wire.send(&sleep(60_000)).unwrap();
    let cancelled = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 }
    });
    wire.send(&cancelled).unwrap();
    wire.send(&wire::request(8, "ping", json!({}))).unwrap();
    assert_eq!(wire.receive().unwrap()["id"], 8);
    wire.send(&wire::request(7, "ping", json!({}))).unwrap();
    assert_eq!(wire.receive().unwrap()["id"], 7);
    wire.close();
    assert!(wire.wait(Duration::from_secs(5)).unwrap().success());
}
