//! One client that opens sessions, or leaves questions open, without end.

use dormouse_tests::http::{Answer, Request, Session};
use dormouse_tests::wire;
use serde_json::Value;

use super::*;

/// Memory that calls may have that wait for their clients' answers, in KiB.
const QUESTIONS_KIB: u64 = 128 << 10;

/// Opens a session as a client of that name. Returns the session's id.
fn open(server: &dormouse_tests::http::Server, name: &str) -> String {
    let mut params = wire::initialize(json!({}));
    params["clientInfo"]["name"] = json!(name);
    let request = wire::request(0, "initialize", params);
    let answer = server.ask(&Request::post(request.to_string())).unwrap();
    answer.header("mcp-session-id").unwrap().to_owned()
}

/// Checks that the host answers another client, and has given back the memory that it took.
fn stays_well(server: &dormouse_tests::http::Server, tool: &str, before: u64) {
    let id = open(server, "good");
    assert!(lists_tools(server, &id));
    let session = Session { id };
    let call = session.request(2, "tools/call", json!({ "name": tool, "arguments": {} }));
    assert_eq!(server.ask(&call).unwrap().status, 200);
    server.ask(&session.delete()).unwrap();
    processes::gives_back(server.pid(), before).unwrap();
}

fn lists_tools(server: &dormouse_tests::http::Server, id: &str) -> bool {
    let session = Session { id: id.to_owned() };
    let request = session.request(1, "tools/list", json!({}));
    server.ask(&request).unwrap().status == 200
}

#[test]
fn sessions_of_one_client_do_not_end_those_of_others() {
    let home = Home::new().unwrap();
    home.guests(&["echo"]).unwrap();
    let server = home.serve_http(&["--max-sessions", "8"]).unwrap();
    let victim = open(&server, "victim");
    assert!(lists_tools(&server, &victim));
    let before = server.memory().unwrap();
    for _ in 0..30 {
        let id = open(&server, "greedy");
        assert!(lists_tools(&server, &id));
    }
    assert!(lists_tools(&server, &victim), "the session was ended");
    stays_well(&server, "echo__echo", before);
}

/// A client whose calls hang has no more than its part of the sessions, and ends none of others.
#[test]
fn busy_sessions_of_one_client_leave_room_to_others() {
    let home = Home::new().unwrap();
    home.guests(&["echo", "sleep"]).unwrap();
    let server = home.serve_http(&["--max-sessions", "8"]).unwrap();
    let victim = open(&server, "victim");
    assert!(lists_tools(&server, &victim));
    let mut calls = Vec::new();
    let mut refused = 0;
    for _ in 0..10 {
        let mut params = wire::initialize(json!({}));
        params["clientInfo"]["name"] = json!("greedy");
        let request = wire::request(0, "initialize", params);
        let answer = server.ask(&Request::post(request.to_string())).unwrap();
        let Some(id) = answer.header("mcp-session-id") else {
            assert_eq!(answer.status, 503);
            refused += 1;
            continue;
        };
        let session = Session { id: id.to_owned() };
        let arguments = json!({ "milliseconds": 60_000 });
        let params = json!({ "name": "sleep__sleep", "arguments": arguments });
        let call = session.request(1, "tools/call", params);
        calls.push(server.begin(&call).unwrap());
    }
    assert_eq!((calls.len(), refused), (6, 4));
    assert!(lists_tools(&server, &victim), "the session was ended");
    let other = open(&server, "other");
    assert!(lists_tools(&server, &other));
}

/// The same holds for a client of the same name, which only opens sessions.
#[test]
fn sessions_that_nobody_uses_do_not_end_those_that_are_used() {
    let home = Home::new().unwrap();
    home.guests(&["echo"]).unwrap();
    let server = home.serve_http(&["--max-sessions", "8"]).unwrap();
    let victim = open(&server, "same");
    assert!(lists_tools(&server, &victim));
    let before = server.memory().unwrap();
    for _ in 0..30 {
        open(&server, "same");
    }
    assert!(lists_tools(&server, &victim), "the session was ended");
    stays_well(&server, "echo__echo", before);
}

/// Makes a request of the stateless era by a client of that name, which can be asked.
fn greet(name: &str, more: &Value) -> Request {
    let mut params = json!({ "name": "asker__greet", "arguments": {} });
    for (key, value) in more.as_object().unwrap() {
        params[key] = value.clone();
    }
    let mut params = wire::stateless(params, json!({ "elicitation": { "form": {} } }));
    params["_meta"]["io.modelcontextprotocol/clientInfo"]["name"] = json!(name);
    let message = wire::request(1, "tools/call", params.clone());
    let version = &params["_meta"]["io.modelcontextprotocol/protocolVersion"];
    Request::post(message.to_string())
        .header("mcp-protocol-version", version.as_str().unwrap())
        .header("mcp-method", "tools/call")
        .header("mcp-name", "asker__greet")
}

/// The limit on calls that wait for one client's answers is one for each client.
#[test]
fn questions_to_one_client_keep_no_other_from_being_asked() {
    let home = Home::new().unwrap();
    home.server("asker", &artifacts::guest("asker").unwrap())
        .unwrap();
    let server = home.serve_http(&[]).unwrap();
    let asked = |name: &str| {
        let mut answer = server.ask(&greet(name, &json!({}))).unwrap();
        answer.result().unwrap()
    };
    assert_eq!(asked("first")["resultType"], "input_required");
    let before = server.memory().unwrap();
    for _ in 0..16 {
        assert_eq!(asked("greedy")["resultType"], "input_required");
    }
    let refused = asked("greedy");
    let why = refused["content"][0]["text"].as_str().unwrap();
    assert!(
        refused["isError"] == true && why.contains("`questions` in `[servers.asker.limits]`"),
        "{refused}"
    );
    assert_eq!(asked("other")["resultType"], "input_required");
    // Those that wait keep their instances.
    processes::gives_back(server.pid(), before + QUESTIONS_KIB).unwrap();
}

/// Each session is a client of its own: none of its requests says the client's name.
#[test]
fn questions_to_one_session_keep_no_other_from_being_asked() {
    let home = Home::new().unwrap();
    let asker = artifacts::guest("asker").unwrap();
    home.server_with("asker", &asker, "[servers.asker.limits]\nquestions = 2")
        .unwrap();
    let server = home.serve_http(&[]).unwrap();
    let able = json!({ "elicitation": { "form": {} } });
    let [greedy, other] = [(); 2].map(|()| Session::open_able(&server, able.clone()).unwrap());
    let greet = |session: &Session, id| {
        let call = json!({ "name": "asker__greet", "arguments": {} });
        let call = session.request(id, "tools/call", call);
        server.ask(&call).unwrap()
    };
    let is_asked = |answer: &mut Answer| {
        let first = std::iter::from_fn(|| answer.event().unwrap());
        let mut messages = first.map(|(_, message)| message);
        messages.any(|message| message["method"] == "elicitation/create")
    };
    let mut waiting: Vec<_> = (1..=2).map(|id| greet(&greedy, id)).collect();
    assert!(waiting.iter_mut().all(is_asked));
    let refused = greet(&greedy, 3).result().unwrap();
    let why = refused["content"][0]["text"].as_str().unwrap();
    assert!(
        why.contains("`questions` in `[servers.asker.limits]`"),
        "{refused}"
    );
    let mut asked = greet(&other, 1);
    assert!(is_asked(&mut asked));
}

#[test]
fn questions_of_one_client_do_not_end_calls_of_others() {
    let home = Home::new().unwrap();
    // More than wait here: what is tried is which of them are ended.
    let asker = artifacts::guest("asker").unwrap();
    home.server_with("asker", &asker, "[servers.asker.limits]\nquestions = 1000")
        .unwrap();
    let server = home.serve_http(&[]).unwrap();
    let asked = |name: &str| {
        let mut answer = server.ask(&greet(name, &json!({}))).unwrap();
        let result = answer.result().unwrap();
        assert_eq!(result["resultType"], "input_required", "{result}");
        result
    };
    let victim = asked("victim");
    let before = server.memory().unwrap();
    for _ in 0..80 {
        asked("greedy");
    }
    let question = victim["inputRequests"].as_object().unwrap();
    let id = question.keys().next().unwrap();
    let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
    let more = json!({
        "inputResponses": { id: answer },
        "requestState": victim["requestState"]
    });
    let mut answer = server.ask(&greet("victim", &more)).unwrap();
    let result = answer.result().unwrap();
    assert_eq!(result["content"][0]["text"], "Hello, Ada!", "{result}");
    processes::gives_back(server.pid(), before + QUESTIONS_KIB).unwrap();
}
