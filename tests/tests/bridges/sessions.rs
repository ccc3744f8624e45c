//! Messages between a server and an agent over HTTP outside of calls.

use anyhow::ensure;
use dormouse_tests::http::{Answer, Request, Server, Session};
use dormouse_tests::{Home, upstream, wait, wire};
use serde_json::{Value, json};

use crate::mirror;

/// Waits for the next message of that method on the stream of unasked messages.
fn next(news: &mut Answer, method: &str) -> Value {
    loop {
        let event = news.event().unwrap();
        let (_, message) = event.unwrap_or_else(|| panic!("there is no `{method}` any more"));
        if message["method"] == method {
            return message;
        }
    }
}

/// Waits for the question for roots, and answers with so many.
fn tells_roots(server: &Server, session: &Session, news: &mut Answer, many: usize) {
    let asked = next(news, "roots/list");
    let roots: Vec<_> = (0..many)
        .map(|number| json!({ "uri": format!("file:///root/{number}") }))
        .collect();
    let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "roots": roots } });
    let taken = server.ask(&session.message(&answer)).unwrap();
    assert_eq!(taken.status, 202);
    // The server says at `info` what it has been told.
    let log = next(news, "notifications/message");
    let data = log["params"]["data"].as_str().unwrap();
    assert!(data.contains(&format!("{many} root(s)")), "{log}");
}

/// This server asks for roots a moment after its start and whenever they have changed:
/// between calls, over the one stream that a session has for that.
#[test]
fn between_calls_a_session_is_told_and_asked() {
    let home = Home::new().unwrap();
    let everything = upstream::everything().unwrap();
    home.upstream("everything", &everything, "").unwrap();
    home.synced("everything").unwrap();
    let server = home.serve_http(&[]).unwrap();
    let roots = json!({ "roots": { "listChanged": true } });
    let session = Session::open_able(&server, roots).unwrap();
    let mut news = server.ask(&session.news()).unwrap();
    let call = json!({ "name": "everything__echo", "arguments": { "message": "awake" } });
    let called = server.ask(&session.request(1, "tools/call", call));
    called.unwrap().result().unwrap();
    tells_roots(&server, &session, &mut news, 1);
    let changed = "notifications/roots/list_changed";
    session.notify(&server, changed, json!({})).unwrap();
    tells_roots(&server, &session, &mut news, 2);
}

/// An agent that has named no level hears all that a server tells such an agent; one that has named
/// a level hears no more than that, also of a server that does not hold back the rest.
#[test]
fn between_calls_a_session_hears_what_it_wants_to() {
    let home = mirror(true);
    let server = home.serve_http(&[]).unwrap();
    let session = Session::open(&server).unwrap();
    let mut news = server.ask(&session.news()).unwrap();
    let mut number = 0;
    let mut ask = |method: &str, params: Value| {
        number += 1;
        let request = session.request(number, method, params);
        server.ask(&request).unwrap().result().unwrap()
    };
    let mut heard = || {
        let log = next(&mut news, "notifications/message");
        log["params"]["data"].as_str().unwrap().to_owned()
    };
    ask("tools/call", json!({ "name": "mirror__level" }));
    // Whoever subscribes makes the server log twice, first the less severe.
    let subscribe = |uri: &str| json!({ "uri": uri });
    ask("resources/subscribe", subscribe("mirror://meta"));
    assert_eq!(heard(), "debug of mirror://meta");
    assert_eq!(heard(), "error of mirror://meta");
    ask("logging/setLevel", json!({ "level": "error" }));
    ask("resources/subscribe", subscribe("mirror://other"));
    assert_eq!(heard(), "error of mirror://other");
}

/// In the stateless era a log belongs to a request; one of none goes into the host's own log.
#[test]
fn between_stateless_requests_nobody_is_told() {
    let home = mirror(true);
    let server = home.serve_http(&["-v"]).unwrap();
    server.text("mirror__level", json!({})).unwrap();
    let wanted = json!({ "notifications": { "resourceSubscriptions": ["mirror://meta"] } });
    let request = Request::stateless(1, "subscriptions/listen", wanted);
    let mut listening = server.ask(&request).unwrap();
    let (_, established) = listening.event().unwrap().unwrap();
    let method = "notifications/subscriptions/acknowledged";
    assert_eq!(established["method"], method, "{established}");
    wait::until("the log", || {
        let said = server.said();
        ensure!(said.contains("error of mirror://meta"), "{said}");
        Ok(())
    })
    .unwrap();
}

/// Over HTTP a stateless request belongs to no connection: were each of them a session, each would
/// start its server anew and find nothing of the state before.
#[test]
fn stateless_requests_meet_the_same_server() {
    for legacy in [true, false] {
        meets_the_same(legacy);
    }
}

fn meets_the_same(legacy: bool) {
    let home = mirror(legacy);
    let server = home.serve_http(&[]).unwrap();
    let pids = || home.server_status("mirror").unwrap()["pids"].clone();
    let connected = || {
        server.text("mirror__level", json!({})).unwrap();
        pids()
    };
    let first = connected();
    assert_eq!(first.as_array().map(Vec::len), Some(1), "{first}");
    assert_eq!(connected(), first);
    // One whose client can be asked something has one for itself where what is asked does not
    // say of whom, and the next one goes on with that.
    let able = json!({ "elicitation": {} });
    let params = wire::stateless(json!({ "name": "mirror__pid", "arguments": {} }), able);
    let request = Request::post(wire::request(1, "tools/call", params).to_string())
        .header("mcp-protocol-version", wire::MODERN)
        .header("mcp-method", "tools/call")
        .header("mcp-name", "mirror__pid");
    let ask = || server.ask(&request).unwrap().result().unwrap();
    let told = ask();
    let (shared, own) = (first[0].to_string(), &told["content"][0]["text"]);
    assert_eq!(own.as_str() == Some(&shared), !legacy, "{told}");
    assert_eq!(ask()["content"][0]["text"], *own);
    let before = pids().as_array().map_or(0, Vec::len);
    // So has a session, as over stdio.
    let session = Session::open(&server).unwrap();
    let call = session.request(1, "tools/call", json!({ "name": "mirror__level" }));
    server.ask(&call).unwrap().result().unwrap();
    let both = connected();
    assert_eq!(both.as_array().map(Vec::len), Some(before + 1), "{both}");
}
