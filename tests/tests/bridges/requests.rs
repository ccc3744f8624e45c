//! Metadata of a request: its `_meta`, and the logs that it wants.

use dormouse_tests::http::{Request, Server, Session};
use dormouse_tests::{Client, upstream};
use serde_json::{Map, Value, json};

use crate::mirror;
use crate::pair::Pair;

/// Returns keys that are for whichever server answers, and some that are the connection's.
fn meta() -> Value {
    json!({
        "progressToken": "theirs",
        "io.modelcontextprotocol/logLevel": "error",
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "com.example/nested": { "b": [1, 2.5, null, "Grüße 😀"], "a": {} },
        "io.modelcontextprotocol/of-tomorrow": true,
    })
}

/// Returns the requests of a server, with the place of the text in their answers.
fn requests(prefix: &str) -> [(&'static str, Value, &'static str); 4] {
    let name = format!("{prefix}meta");
    let of = json!({ "type": "ref/prompt", "name": name });
    let argument = json!({ "name": "what", "value": "" });
    [
        ("tools/call", json!({ "name": name }), "/content/0/text"),
        (
            "prompts/get",
            json!({ "name": name }),
            "/messages/0/content/text",
        ),
        (
            "resources/read",
            json!({ "uri": "mirror://meta" }),
            "/contents/0/text",
        ),
        (
            "completion/complete",
            json!({ "ref": of, "argument": argument }),
            "/completion/values/0",
        ),
    ]
}

/// Makes all requests, and looks at what the server has got of their `_meta`.
fn is_passed_on(prefix: &str, modern: bool, mut ask: impl FnMut(&str, Value) -> Value) {
    for (method, mut params, place) in requests(prefix) {
        params["_meta"] = meta();
        let answer = ask(method, params);
        let told = answer.pointer(place).and_then(Value::as_str);
        let told = told.unwrap_or_else(|| panic!("{method}: {answer}"));
        let mut told: Map<String, Value> = serde_json::from_str(told).unwrap();
        // The host's own, whatever the agent has there.
        assert!(told["progressToken"].is_u64(), "{method}: {told:?}");
        told.remove("progressToken");
        let client = told.remove("io.modelcontextprotocol/clientInfo");
        let client = client.map(|client| client["name"].clone());
        assert_eq!(client, modern.then(|| json!("dormouse")), "{method}");
        for name in ["protocolVersion", "clientCapabilities", "logLevel"] {
            told.remove(&format!("io.modelcontextprotocol/{name}"));
        }
        let mut sent = meta();
        let members = sent.as_object_mut().unwrap();
        members.remove("progressToken");
        members.remove("io.modelcontextprotocol/logLevel");
        assert_eq!(json!(told), sent, "{method}");
    }
}

#[test]
fn what_it_says_of_itself_reaches_the_server() {
    for legacy in [true, false] {
        let home = mirror(legacy);
        let mut client = home.serve().unwrap();
        // It is spoken to as this client would, whatever else it knows.
        is_passed_on("mirror__", false, |method, params| {
            client.request(method, params).unwrap()
        });
    }
}

#[test]
fn what_it_says_of_itself_reaches_the_server_over_http() {
    for legacy in [true, false] {
        let home = mirror(legacy);
        let server = home.serve_http(&[]).unwrap();
        is_passed_on("mirror__", !legacy, |method, params| {
            server.stateless(method, params).unwrap()
        });
        let session = Session::open(&server).unwrap();
        is_passed_on("mirror__", false, |method, params| {
            let request = session.request(1, method, params);
            server.ask(&request).unwrap().result().unwrap()
        });
    }
}

/// The server itself gets the same, but for the progress token, of which there may be any.
#[test]
fn what_it_says_of_itself_is_the_same_directly() {
    let mut command = upstream::mirror(true).unwrap().command();
    let mut direct = Client::start(&mut command).unwrap();
    let home = mirror(true);
    let mut through = home.serve().unwrap();
    let [direct, through] =
        [(&mut direct, ""), (&mut through, "mirror__")].map(|(client, prefix)| {
            requests(prefix).map(|(method, mut params, place)| {
                let mut meta = meta();
                let members = meta.as_object_mut().unwrap();
                members.remove("progressToken");
                members.remove("io.modelcontextprotocol/logLevel");
                params["_meta"] = meta;
                let answer = client.request(method, params).unwrap();
                let told = answer.pointer(place).unwrap().as_str().unwrap();
                let mut told: Value = serde_json::from_str(told).unwrap();
                told.as_object_mut().unwrap().remove("progressToken");
                told
            })
        });
    assert_eq!(through, direct);
}

/// Returns the levels of the logs that have come: those of a call do before its answer.
fn heard(client: &mut Client) -> Vec<String> {
    let heard = std::mem::take(&mut client.notifications).into_iter();
    let heard = heard.filter(|message| message["method"] == "notifications/message");
    heard
        .map(|message| message["params"]["level"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_level_that_is_set_is_the_servers() {
    for legacy in [true, false] {
        let mut pair = Pair::start("mirror", |_| {}, |_| upstream::mirror(legacy));
        // The first is set while the server sleeps behind Dormouse.
        for level in ["warning", "debug", "alert"] {
            pair.same("logging/setLevel", json!({ "level": level }));
            let told = pair.same_call("level", json!({}));
            assert_eq!(told, format!("\"{level}\""));
            pair.same_call("log", json!({}));
            let [direct, through] =
                [&mut pair.direct, &mut pair.through].map(|side| heard(&mut side.client));
            assert_eq!(through, direct, "{level}");
            assert_eq!(through[0], level);
        }
    }
}

/// For a client that sets no level, none is set: it hears what the server tells such clients.
#[test]
fn a_level_that_nobody_has_set_is_the_servers_own() {
    for legacy in [true, false] {
        let mut pair = Pair::start("mirror", |_| {}, |_| upstream::mirror(legacy));
        assert_eq!(pair.same_call("level", json!({})), "null");
        pair.same_call("log", json!({}));
        let [direct, through] =
            [&mut pair.direct, &mut pair.through].map(|side| heard(&mut side.client));
        assert_eq!(through, direct);
        assert_eq!((direct.len(), direct[0].as_str()), (8, "debug"));
    }
}

#[test]
fn the_level_of_a_stateless_request_goes_with_it() {
    let home = mirror(false);
    let server = home.serve_http(&[]).unwrap();
    for level in [Some("notice"), None, Some("critical")] {
        let meta = level.map_or(
            json!({}),
            |level| json!({ "io.modelcontextprotocol/logLevel": level }),
        );
        let mut params = json!({ "name": "mirror__level", "_meta": meta });
        let answer = server.stateless("tools/call", params.clone()).unwrap();
        let told = answer["content"][0]["text"].as_str().unwrap();
        assert_eq!(told, json!(level).to_string());
        params["name"] = json!("mirror__log");
        let logged = logs(&server, params);
        assert_eq!(logged.first().map(String::as_str), level, "{logged:?}");
    }
}

/// Returns the levels of the logs before the answer to a stateless call.
fn logs(server: &Server, params: Value) -> Vec<String> {
    let request = Request::stateless(1, "tools/call", params);
    let messages = server.ask(&request).unwrap().messages().unwrap();
    let logs = messages.iter();
    let logs = logs.filter(|message| message["method"] == "notifications/message");
    logs.map(|message| message["params"]["level"].as_str().unwrap().to_owned())
        .collect()
}
