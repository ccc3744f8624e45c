//! Differences of the eras of the protocol, and clients that know both of them.

use std::time::{Duration, Instant};

use dormouse_tests::http::{Answer, Request, Server};
use dormouse_tests::wire::{self, LEGACY, MODERN, Wire, stateless};
use dormouse_tests::{Home, client};
use serde_json::{Value, json};

const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

fn home() -> Home {
    let home = Home::new().unwrap();
    home.guests(&["asker", "echo", "library"]).unwrap();
    home
}

fn serve(home: &Home) -> Wire {
    Wire::spawn(&mut home.command(&["serve"])).unwrap()
}

fn initialized() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
}

/// Sends a request of the stateless era, and returns the whole answer.
fn posted(host: &Server, method: &str, params: Value) -> Value {
    let name = params.get("name").or_else(|| params.get("uri")).cloned();
    let params = stateless(params, able());
    let request = Request::post(wire::request(1, method, params).to_string())
        .header("mcp-protocol-version", MODERN)
        .header("mcp-method", method);
    let request = match name {
        Some(name) => request.header("mcp-name", name.as_str().unwrap()),
        None => request,
    };
    host.ask(&request).unwrap().messages().unwrap().remove(0)
}

fn able() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} } })
}

/// Returns the requests that have an answer of their own in the stateless era.
fn asked() -> Vec<(&'static str, Value)> {
    let page = json!({ "url": "https://example.com/x" });
    let greet = json!({ "type": "ref/prompt", "name": "enable" });
    vec![
        ("server/discover", json!({})),
        ("tools/list", json!({})),
        ("prompts/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        (
            "tools/call",
            json!({ "name": "echo__echo", "arguments": { "text": "x" } }),
        ),
        ("tools/call", json!({ "name": "echo__echo" })),
        ("tools/call", json!({ "name": "asker__greet" })),
        (
            "tools/call",
            json!({ "name": "asker__show_page", "arguments": page }),
        ),
        ("prompts/get", json!({ "name": "servers" })),
        ("resources/read", json!({ "uri": "dormouse://status" })),
        ("resources/read", json!({ "uri": "library://today" })),
        (
            "completion/complete",
            json!({ "ref": greet, "argument": { "name": "server", "value": "" } }),
        ),
    ]
}

#[test]
fn every_result_of_the_stateless_era_says_who_has_answered() {
    let home = home();
    let host = home.serve_http(&[]).unwrap();
    let mut modern = serve(&home);
    let mut legacy = serve(&home);
    legacy.initialize().unwrap();
    for (id, (method, params)) in (1..).zip(asked()) {
        let over_stdio = modern.request(id, method, stateless(params.clone(), able()));
        let over_http = posted(&host, method, params.clone())["result"].clone();
        for result in [over_stdio.unwrap(), over_http] {
            let server = &result["_meta"][SERVER_INFO];
            assert_eq!(server["name"], "dormouse", "{method} {params}: {result}");
            assert!(result["resultType"].is_string(), "{method}: {result}");
            // A page is asked for again, and needs no name for that.
            let text = result["inputRequests"].to_string();
            assert!(!text.contains("elicitationId"), "{text}");
        }
        if method != "server/discover" {
            let result = legacy.request(id, method, params).unwrap();
            assert_eq!(result.get("_meta"), None, "{method}: {result}");
        }
    }
}

#[test]
fn levels_that_are_none_are_refused_over_http_too() {
    let home = home();
    let host = home.serve_http(&[]).unwrap();
    for (method, mut params) in asked() {
        params["_meta"] = json!({ "io.modelcontextprotocol/logLevel": "loud" });
        let refused = posted(&host, method, params);
        assert_eq!(refused["error"]["code"], -32602, "{method}: {refused}");
        let why = refused["error"]["message"].as_str().unwrap();
        assert!(why.contains("`\"loud\"`"), "{why}");
    }
}

#[test]
fn a_client_that_gives_up_its_probe_can_shake_hands() {
    let home = home();
    let mut wire = serve(&home);
    let probe = wire::request(1, "server/discover", stateless(json!({}), json!({})));
    let enough = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": 1, "reason": "timeout" }
    });
    let hello = wire::request(2, "initialize", wire::initialize(json!({})));
    let all = format!("{probe}\n{enough}\n{hello}\n");
    wire.send_raw(all.as_bytes()).unwrap();
    let answers = [wire.receive().unwrap(), wire.receive().unwrap()];
    assert_eq!(answers[1]["result"]["protocolVersion"], LEGACY);
    wire.send(&initialized()).unwrap();
    let echo = json!({ "name": "echo__echo", "arguments": { "text": "well" } });
    let said = wire.request(3, "tools/call", echo).unwrap();
    assert_eq!(client::text(&said), Some("well"));
    wire.close();
    assert!(wire.wait(Duration::from_secs(5)).unwrap().success());
}

#[test]
fn a_client_may_begin_in_one_era_and_go_on_in_the_other() {
    let home = home();
    let mut wire = serve(&home);
    let echo = |text: &str| json!({ "name": "echo__echo", "arguments": { "text": text } });
    let modern = |text: &str| stateless(echo(text), json!({}));
    let said = wire.request(1, "tools/call", modern("one")).unwrap();
    assert_eq!(client::text(&said), Some("one"));
    wire.initialize().unwrap();
    let said = wire.request(2, "tools/call", echo("two")).unwrap();
    assert_eq!(client::text(&said), Some("two"));
    assert_eq!(said.get("resultType"), None, "{said}");
    let said = wire.request(3, "tools/call", modern("three")).unwrap();
    assert_eq!(client::text(&said), Some("three"));
    assert_eq!(said["resultType"], "complete", "{said}");
    wire.close();
    assert!(wire.wait(Duration::from_secs(5)).unwrap().success());
}

#[test]
fn nobody_is_asked_before_they_are_ready() {
    let home = home();
    let greet = json!({ "name": "asker__greet" });
    let hello = || wire::request(0, "initialize", wire::initialize(able()));
    let mut wire = serve(&home);
    wire.send(&hello()).unwrap();
    wire.receive().unwrap();
    wire.send(&wire::request(1, "tools/call", greet.clone()))
        .unwrap();
    // It is called, and would have asked.
    while home.server_status("asker").unwrap()["instances"] == 0 {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(200));
    wire.send(&wire::request(2, "ping", json!({}))).unwrap();
    assert_eq!(wire.receive().unwrap()["id"], 2);
    wire.send(&initialized()).unwrap();
    let question = wire.receive().unwrap();
    assert_eq!(question["method"], "elicitation/create", "{question}");

    // Some never say that they are, and are asked all the same.
    let mut wire = serve(&home);
    wire.send(&hello()).unwrap();
    wire.receive().unwrap();
    let called = Instant::now();
    wire.send(&wire::request(1, "tools/call", greet)).unwrap();
    let question = wire.receive().unwrap();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    assert!(called.elapsed() > Duration::from_secs(4));
}

/// Returns the parameters of `initialize` of a client of a version.
fn hello(version: &str) -> Value {
    let mut hello = wire::initialize(json!({}));
    hello["protocolVersion"] = json!(version);
    hello
}

/// Begins a session of a version over HTTP. Returns the function that sends messages in it.
fn session(server: &Server, version: &str) -> impl Fn(&Value) -> Answer {
    let begin = wire::request(1, "initialize", hello(version));
    let begun = server.ask(&Request::post(begin.to_string())).unwrap();
    let session = begun.header("mcp-session-id").unwrap().to_owned();
    move |message: &Value| {
        let request = Request::post(message.to_string()).header("mcp-session-id", &session);
        server.ask(&request).unwrap()
    }
}

/// Clients refuse all of a result that has content of a kind which they do not know.
#[test]
fn content_is_of_the_kinds_of_its_version() {
    let home = Home::new().unwrap();
    home.guests(&["painter"]).unwrap();
    let server = home.serve_http(&[]).unwrap();
    let call = json!({ "name": "painter__try_to_paint", "arguments": { "spill": false } });
    for (version, kind) in [
        ("2024-11-05", "text"),
        ("2025-03-26", "text"),
        ("2025-06-18", "resource_link"),
        (LEGACY, "resource_link"),
    ] {
        let mut client = serve(&home);
        let agreed = client.request(1, "initialize", hello(version)).unwrap();
        assert_eq!(agreed["protocolVersion"], version);
        client.send(&initialized()).unwrap();
        let over_stdio = client.request(2, "tools/call", call.clone()).unwrap();

        let ask = session(&server, version);
        assert_eq!(ask(&initialized()).status, 202);
        let mut called = ask(&wire::request(2, "tools/call", call.clone()));
        let over_http = called.result().unwrap();

        assert_eq!(over_stdio, over_http, "{version}");
        let block = &over_http["content"][0];
        assert_eq!(block["type"], kind, "{version}");
        if kind == "text" {
            assert_eq!(block["text"], "The first one: paint://1");
        }
    }
}

/// Returns the answers of a batch: in an array, or each in an event.
fn answers(mut answer: Answer) -> Vec<Value> {
    assert_eq!(answer.status, 200);
    let mut all = answer.messages().unwrap();
    if let [Value::Array(together)] = &all[..] {
        all = together.clone();
    }
    all.sort_by_key(|answer| answer["id"].as_u64());
    all
}

/// One revision has batches, and says that a server must take them.
#[test]
fn batches_are_answered_together_where_there_are_any() {
    let home = Home::new().unwrap();
    home.guests(&["echo", "huge", "sleep"]).unwrap();
    let server = home.serve_http(&[]).unwrap();
    let ask = session(&server, "2025-03-26");
    // The first thing in a session may be one.
    let first = ask(&json!([initialized(), wire::request(1, "ping", json!({}))]));
    assert_eq!(answers(first)[0]["result"], json!({}));
    let call = |id: u64, tool: &str, arguments: Value| {
        wire::request(
            id,
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )
    };
    let echo = |id: u64| call(id, "echo__echo", json!({ "text": "hi" }));
    let text = |answer: &Value| answer["result"]["content"][0]["text"].clone();

    let list = |id: u64| wire::request(id, "tools/list", json!({}));
    let quick = ask(&json!([list(2), list(3)]));
    assert_eq!(quick.header("content-type"), Some("application/json"));
    let quick = answers(quick);
    assert!(quick[1]["result"]["tools"].is_array(), "{quick:?}");

    // Whatever is wrong with one, the others are answered.
    let sleep = call(6, "sleep__sleep", json!({ "milliseconds": 300 }));
    let hello = wire::request(7, "initialize", hello("2025-03-26"));
    let odd = json!([
        7, echo(4), wire::request(5, "no/such", json!({})), sleep, hello, initialized(),
        echo(8), { "jsonrpc": "2.0", "id": 9, "method": "ping" }, [],
    ]);
    let odd = answers(ask(&odd));
    let ids: Vec<_> = odd.iter().map(|answer| answer["id"].as_u64()).collect();
    let expected = [
        None,
        None,
        Some(4),
        Some(5),
        Some(6),
        Some(7),
        Some(8),
        Some(9),
    ];
    assert_eq!(ids, expected, "{odd:?}");
    let codes = odd.iter().map(|answer| answer["error"]["code"].as_i64());
    let bad = Some(-32600);
    let expected = [bad, bad, None, Some(-32601), None, bad, None, None];
    assert_eq!(codes.collect::<Vec<_>>(), expected, "{odd:?}");
    assert_eq!(text(&odd[6]), "hi");

    // Nobody can come back for two streams by one id.
    let sleep = |id: u64, milliseconds: u64| {
        call(id, "sleep__sleep", json!({ "milliseconds": milliseconds }))
    };
    let mut slow = ask(&json!([sleep(20, 300), sleep(21, 200)]));
    while let Some((id, _)) = slow.event().unwrap() {
        assert_eq!(id, "");
    }

    // Of two that have one id, one is answered.
    let sleep = call(10, "sleep__sleep", json!({ "milliseconds": 200 }));
    let twice = answers(ask(&json!([sleep, sleep])));
    let refused = twice
        .iter()
        .filter(|answer| answer["error"]["code"] == -32600);
    assert_eq!((twice.len(), refused.count()), (2, 1), "{twice:?}");

    assert_eq!(ask(&json!([initialized(), initialized()])).status, 202);
    // Many are many, and not too many at once.
    let many: Vec<_> = (100..1100).map(echo).collect();
    let many = answers(ask(&json!(many)));
    assert_eq!(many.len(), 1000);
    assert!(many.iter().all(|answer| text(answer) == "hi"));

    // What is too much for one array is refused, each under its id; what takes so long
    // that it comes in a stream is not.
    let huge = |id: u64| call(id, "huge__huge", json!({ "bytes": 3_000_000 }));
    let huge: Vec<_> = (30..44).map(huge).collect();
    let huge = answers(ask(&json!(huge)));
    assert_eq!(huge.len(), 14);
    let (short, long): (Vec<_>, Vec<_>) =
        huge.iter().partition(|answer| answer["error"].is_object());
    assert!(long.len() > 8, "{}", long.len());
    for refused in short {
        let why = refused["error"]["message"].as_str().unwrap();
        assert!(why.contains("too long for one batch"), "{refused}");
    }

    let too_many: Vec<_> = (0..1001).map(echo).collect();
    for (version, batch) in [
        ("2025-03-26", json!([])),
        ("2025-03-26", json!(too_many)),
        (LEGACY, json!([echo(2)])),
    ] {
        let mut refused = session(&server, version)(&batch);
        assert_eq!(refused.status, 400, "{version}");
        assert_eq!(refused.messages().unwrap()[0]["error"]["code"], -32600);
    }
    let gone = Request::post(json!([echo(2)]).to_string()).header("mcp-session-id", "gone");
    assert_eq!(server.ask(&gone).unwrap().status, 404);
}
