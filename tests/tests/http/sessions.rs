//! Sessions over HTTP whose clients lose their connections, or do not read: all messages are there
//! when they come back, once, and no other client waits for them.

use std::collections::HashSet;
use std::time::Duration;

use dormouse_tests::http::{Answer, Server, Session};
use dormouse_tests::proxy::{Break, Proxy};
use dormouse_tests::{Home, Sdk, artifacts};
use serde_json::{Value, json};

const CLIENTS: [Sdk; 4] = [
    Sdk::new("python", "legacy"),
    Sdk::new("fastmcp", "legacy"),
    Sdk::new("v1", "legacy"),
    Sdk::new("v2", "legacy"),
];

fn home(guests: &[&str]) -> Home {
    let home = Home::new().unwrap();
    home.guests(guests).unwrap();
    home
}

fn guest(name: &str) -> Vec<u8> {
    artifacts::read(&artifacts::guest(name).unwrap()).unwrap()
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

/// Makes each client take a step in sessions of which a connection breaks, and come back: all at
/// once, for they mostly wait. Returns the outcomes.
fn broken(home: &Home, clients: &[Sdk], nexts: &[Break], step: &Value) -> Vec<Value> {
    let server = home.serve_http(&[]).unwrap();
    let outcome = |client: &Sdk, next: Break| {
        let proxy = Proxy::start(server.address(), next).unwrap();
        let [outcome] = client
            .run_with_token(
                home,
                &[proxy.url()],
                server.token(),
                std::array::from_ref(step),
            )
            .unwrap();
        assert!(proxy.has_broken(), "{client:?}");
        assert_eq!(proxy.resumed().len(), 1, "{client:?} {outcome}");
        outcome
    };
    // The process of a client is its thread's, and takes all of its sessions.
    let in_turn = |client| nexts.iter().map(|next| outcome(client, *next)).collect();
    std::thread::scope(|scope| {
        let clients = clients.iter().map(|client| scope.spawn(|| in_turn(client)));
        let clients: Vec<_> = clients.collect();
        let outcomes = clients
            .into_iter()
            .flat_map(|client| -> Vec<Value> { client.join().unwrap() });
        outcomes.collect()
    })
}

#[test]
fn an_answer_that_came_meanwhile_is_there() {
    let home = home(&["sleep"]);
    // Clients that take no large events wait longer for a stream.
    let [python @ .., v1, v2] = CLIENTS;
    for (clients, milliseconds) in [(&[v1, v2], 300), (&python, 11_000)] {
        let sleep = json!({ "do": "call", "tool": "sleep__sleep",
            "arguments": { "milliseconds": milliseconds } });
        let nexts = [true, false].map(|noticed| Break {
            asked: "sleep__sleep",
            answered: "id: 0/",
            noticed,
        });
        let outcomes = broken(&home, clients, &nexts, &sleep);
        assert_eq!(outcomes.len(), nexts.len() * clients.len());
        for outcome in outcomes {
            let slept = format!("slept {milliseconds} ms");
            assert_eq!(outcome["content"][0]["text"], slept, "{outcome}");
        }
    }
}

/// A server whose answer takes a while, and is larger than the events that Python's SDK takes.
const LARGE: &str = r#"
import json, sys, time

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        continue
    method, result = message["method"], {}
    if method == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"],
                  "capabilities": {"tools": {}}, "serverInfo": {"name": "l", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "page", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        time.sleep(1)
        result = {"content": [{"type": "text", "text": "x" * (3 << 20)}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

#[test]
fn a_large_answer_that_takes_a_while_reaches_each_client() {
    let home = Home::new().unwrap();
    let script = home.path().join("large.py");
    std::fs::write(&script, LARGE).unwrap();
    let command = format!("command = {}", json!(["python3", script]));
    home.table("large", &command).unwrap();
    home.synced("large").unwrap();
    let server = home.serve_http(&[]).unwrap();
    let page = json!({ "do": "call", "tool": "large__page", "arguments": {} });
    for client in CLIENTS {
        // The second call finds the server awake.
        let pages = client
            .run_with_token(
                &home,
                &[server.url()],
                server.token(),
                &[page.clone(), page.clone()],
            )
            .unwrap();
        for page in pages {
            let text = page["content"][0]["text"].as_str();
            let said = page.to_string();
            let end = said.floor_char_boundary(300);
            assert_eq!(
                text.map(str::len),
                Some(3 << 20),
                "{client:?} {}",
                &said[..end]
            );
        }
    }
}

#[test]
fn a_question_is_asked_once() {
    let home = home(&["asker"]);
    let greet = json!({ "do": "call", "tool": "asker__greet", "arguments": {},
        "answers": { "elicit": [{ "action": "accept", "content": { "name": "Zoe" } }] } });
    let next = Break {
        asked: "asker__greet",
        answered: "elicitation/create",
        noticed: true,
    };
    for outcome in broken(&home, &CLIENTS, &[next], &greet) {
        assert_eq!(outcome["content"][0]["text"], "Hello, Zoe!", "{outcome}");
        assert_eq!(outcome["asked"].as_array().unwrap().len(), 1, "{outcome}");
    }
}

/// Clients do not come back for a call that they have cancelled, and their stream of news stays.
#[test]
fn a_cancelled_call_is_over_for_good() {
    let home = home(&["spin", "echo", "sleep"]);
    let server = home.serve_http(&[]).unwrap();
    let steps = [
        json!({ "do": "cancel", "tool": "spin__spin", "arguments": {},
            "other": "echo__echo", "while_running": 1 }),
        json!({ "do": "call", "tool": "sleep__sleep", "arguments": { "milliseconds": 4000 } }),
    ];
    let never = Break {
        asked: "nobody asks for this",
        answered: "",
        noticed: false,
    };
    for client in CLIENTS {
        let proxy = Proxy::start(server.address(), never).unwrap();
        let [cancelled, slept] = client
            .run_with_token(&home, &[proxy.url()], server.token(), &steps)
            .unwrap();
        assert_eq!(cancelled["ended"], "cancelled", "{client:?}");
        assert_eq!(slept["content"][0]["text"], "slept 4000 ms", "{client:?}");
        // TypeScript's first version takes no error for an answer, and asks once.
        let resumed = proxy.resumed();
        assert!(resumed.len() <= 1, "{client:?} {resumed:?}");
        assert_eq!(proxy.listened(), 1, "{client:?}");
    }
}

/// A proxy may forget a connection: the server still has it when the client comes back over another
/// one.
#[test]
fn news_come_to_who_came_last() {
    let next = Break {
        asked: "GET /mcp",
        answered: "id: ",
        noticed: false,
    };
    for client in CLIENTS {
        let home = home(&["sleep"]);
        let file = home.plugin_file("swap.wasm", &guest("counter")).unwrap();
        home.server("swap", &file).unwrap();
        let by = home.plugin_file("by.wasm", &guest("echo")).unwrap();
        let server = home.serve_http(&[]).unwrap();
        let proxy = Proxy::start(server.address(), next).unwrap();
        // Meanwhile the client comes back.
        let sleep = json!({ "do": "call", "tool": "sleep__sleep",
            "arguments": { "milliseconds": 3000 } });
        let replace = json!({ "do": "replace", "file": file, "by": by, "tool": "swap__echo",
            "arguments": { "text": "new" } });
        let [slept, replaced] = client
            .run_with_token(&home, &[proxy.url()], server.token(), &[sleep, replace])
            .unwrap();
        assert_eq!(slept["isError"], false, "{client:?} {slept}");
        assert_eq!(replaced["after"][1], "swap__echo", "{client:?} {replaced}");
        assert!(proxy.has_broken() && !proxy.resumed().is_empty());
    }
}

fn able(server: &Server) -> Session {
    Session::open_able(server, json!({ "elicitation": {} })).unwrap()
}

/// Reads the next event: its id, and its message.
fn next(answer: &mut Answer) -> (String, Value) {
    answer.event().unwrap().unwrap()
}

#[test]
fn only_what_came_after_an_event_comes_again() {
    // An answer that takes as long as compiling does begins with an event of its own.
    let home = Home::with_empty_cache().unwrap();
    home.guests(&["asker"]).unwrap();
    let server = home.serve_http(&[]).unwrap();
    let session = able(&server);
    let mut news = server.ask(&session.news()).unwrap();
    let mut ids = HashSet::new();
    let mut is_new = |id: &str| ids.insert(id.to_owned());
    assert!(is_new(&next(&mut news).0));

    let request = session.request(1, "tools/call", call("asker__greet", json!({})));
    let mut greeting = server.ask(&request).unwrap();
    let (priming, nothing) = next(&mut greeting);
    assert!(nothing.is_null() && is_new(&priming));
    let (asked, question) = next(&mut greeting);
    assert_eq!(question["method"], "elicitation/create");
    assert!(is_new(&asked));
    drop(greeting);
    // What was had is not sent again, and what was not is.
    let resume = |after: &str| {
        let request = session.news().header("last-event-id", after);
        server.ask(&request).unwrap()
    };
    assert_eq!(
        next(&mut resume(&priming)),
        (asked.clone(), question.clone())
    );
    let mut resumed = resume(&asked);
    let (again, nothing) = next(&mut resumed);
    assert!(nothing.is_null() && is_new(&again));
    let accept = json!({ "jsonrpc": "2.0", "id": question["id"],
        "result": { "action": "accept", "content": { "name": "Zoe" } } });
    let taken = server.ask(&session.message(&accept)).unwrap();
    assert_eq!(taken.status, 202);
    let (answered, answer) = next(&mut resumed);
    assert_eq!(answer["result"]["content"][0]["text"], "Hello, Zoe!");
    assert!(is_new(&answered));
    assert_eq!(resumed.event().unwrap(), None);
    // Nobody knows whether the client got it.
    assert_eq!(next(&mut resume(&asked)), (answered.clone(), answer));
    assert_eq!(resume(&answered).status, 405);

    // The same with what belongs to no request.
    let changed = ["echo", "bench", "huge"].map(|guest| {
        home.guests(&[guest]).unwrap();
        next(&mut news)
    });
    assert!(changed.iter().all(|(id, _)| is_new(id)), "{changed:?}");
    let mut resumed = resume(&changed[0].0);
    assert_eq!([next(&mut resumed), next(&mut resumed)], changed[1..]);
    // Whoever came before is sent away.
    assert_eq!(news.event().unwrap(), None);
    // One that says nothing of what it has had, hears what is new.
    let mut news = server.ask(&session.news()).unwrap();
    assert!(next(&mut news).1.is_null());
    // What is the id of no event is that of no stream either.
    for odd in ["x", "0", "9/9", "99/0"] {
        assert_eq!(resume(odd).status, 405, "{odd}");
    }
}

/// Of several requests with the same id one is answered at a time, and all are answered.
#[test]
fn an_id_is_taken_once_at_a_time() {
    let home = home(&["echo"]);
    let server = home.serve_http(&[]).unwrap();
    let session = Session::open(&server).unwrap();
    let ask = || {
        let mut answer = server.ask(&session.request(7, "ping", json!({}))).unwrap();
        let messages = answer.messages().unwrap();
        assert_eq!(messages.len(), 1, "{messages:?}");
        if answer.status == 200 {
            assert!(messages[0]["result"].is_object(), "{messages:?}");
            return;
        }
        let refused = (answer.status, &messages[0]["error"]["code"]);
        assert_eq!(refused, (400, &json!(-32600)));
    };
    for _ in 0..60 {
        std::thread::scope(|scope| (0..6).for_each(|_| drop(scope.spawn(ask))));
    }
}

/// A client that comes back when nothing is kept any more is told so, and does not come back again
/// and again.
#[test]
fn who_comes_back_too_late_is_told_so() {
    let home = home(&["spin"]);
    let server = home.serve_http(&[]).unwrap();
    let session = Session::open(&server).unwrap();
    let request = session.request(5, "tools/call", call("spin__spin", json!({})));
    let mut gone = server.ask(&request).unwrap();
    let (priming, _) = next(&mut gone);
    drop(gone);
    std::thread::sleep(Duration::from_millis(3000));
    let mut resumed = server
        .ask(&session.news().header("last-event-id", &priming))
        .unwrap();
    let (_, error) = next(&mut resumed);
    assert_eq!(
        (&error["id"], &error["error"]["code"]),
        (&json!(5), &json!(-32603))
    );
    let why = error["error"]["message"].as_str().unwrap();
    assert!(why.contains("away"), "{why}");
    assert_eq!(resumed.event().unwrap(), None);
}

/// A call is dispatched once: what changes before it needs a stream is nothing to it.
#[test]
fn a_call_goes_on_where_its_tool_vanishes_before_it_has_a_stream() {
    let home = home(&["echo"]);
    let plugin = home.plugin_file("sleep.wasm", &guest("sleep")).unwrap();
    home.server("sleep", &plugin).unwrap();
    let server = home.serve_http(&[]).unwrap();
    let session = Session::open(&server).unwrap();
    let mut news = server.ask(&session.news()).unwrap();
    let arguments = json!({ "milliseconds": 10_500 });
    // Such clients get a stream after ten seconds only.
    let request = session
        .request(1, "tools/call", call("sleep__sleep", arguments))
        .header("user-agent", "python-httpx2/2.0");
    let running = server.begin(&request).unwrap();
    let is_running = || home.server_status("sleep").unwrap()["running"] == 1;
    let start = std::time::Instant::now();
    while !is_running() {
        assert!(start.elapsed() < Duration::from_secs(8), "it does not run");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::fs::remove_file(&plugin).unwrap();
    let changed = loop {
        let (_, message) = news.event().unwrap().unwrap();
        if !message.is_null() {
            break message;
        }
    };
    assert_eq!(changed["method"], "notifications/tools/list_changed");
    let mut answer = running.answer().unwrap();
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let result = answer.result().unwrap();
    assert_eq!(result["content"][0]["text"], "slept 10500 ms", "{result}");
}
