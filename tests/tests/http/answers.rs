//! Requests of both eras, and what comes before their answers.

use std::io::{Read as _, Write as _};
use std::time::Instant;

use dormouse_tests::http::{Request, Session};
use serde_json::{Value, json};

use crate::{SECOND, call, home, wait_for};

#[test]
fn both_eras_list_and_call_at_one_address() {
    let home = home(&["echo", "bench"]);
    let server = home.serve_http(&[]).unwrap();
    let stdio = home.serve().unwrap().tools().unwrap();

    let list = server.stateless("tools/list", json!({})).unwrap();
    assert_eq!(list["tools"], Value::Array(stdio.clone()));
    assert_eq!(list["resultType"], "complete");
    assert_eq!(list["cacheScope"], "private");
    let result = server.stateless("tools/call", call("echo__echo", json!({ "text": "ä" })));
    let discovered = server.stateless("server/discover", json!({})).unwrap();
    let ours = &discovered["_meta"];
    assert_eq!(
        ours["io.modelcontextprotocol/serverInfo"]["name"],
        "dormouse"
    );
    assert_eq!(
        result.unwrap(),
        json!({
            "resultType": "complete", "content": [{ "type": "text", "text": "ä" }],
            "isError": false, "_meta": ours
        })
    );

    let session = Session::open(&server).unwrap();
    let mut answer = server
        .ask(&session.request(1, "tools/list", json!({})))
        .unwrap();
    assert_eq!(answer.result().unwrap(), json!({ "tools": stdio }));
    let request = session.request(
        2,
        "tools/call",
        call("echo__add", json!({ "a": 1, "b": 2 })),
    );
    let result = server.ask(&request).unwrap().result().unwrap();
    assert_eq!(result["structuredContent"], json!({ "result": 3 }));
    assert!(result.get("resultType").is_none(), "{result}");
    // What a tool says of its own failure is a result in both eras.
    let failing = call("echo__fail", json!({ "message": "no" }));
    let request = session.request(3, "tools/call", failing.clone());
    assert_eq!(
        server.ask(&request).unwrap().result().unwrap()["isError"],
        true
    );
    assert_eq!(
        server.stateless("tools/call", failing).unwrap()["isError"],
        true
    );
}

#[test]
fn progress_and_logs_come_before_the_answer_in_both_eras() {
    let home = home(&["reporter"]);
    let server = home.serve_http(&[]).unwrap();
    let mut params = call("reporter__work", json!({ "steps": 3 }));
    params["_meta"] = json!({ "progressToken": "p", "io.modelcontextprotocol/logLevel": "info" });
    let request = Request::stateless(1, "tools/call", params.clone());
    let messages = server.ask(&request).unwrap().messages().unwrap();
    let of = |messages: &[Value], method: &str| {
        messages
            .iter()
            .filter(|message| message["method"] == method)
            .count()
    };
    assert_eq!(of(&messages, "notifications/progress"), 3, "{messages:?}");
    assert_eq!(of(&messages, "notifications/message"), 3, "{messages:?}");
    assert_eq!(
        messages.last().unwrap()["result"]["content"][0]["text"],
        "did 3 steps"
    );

    // Nor need a client with a session listen to anything but the answer.
    let session = Session::open(&server).unwrap();
    let request = session.request(7, "tools/call", params);
    let messages = server.ask(&request).unwrap().messages().unwrap();
    assert_eq!(of(&messages, "notifications/progress"), 3, "{messages:?}");
    assert_eq!(messages[0]["params"]["progressToken"], "p");
    assert_eq!(messages.last().unwrap()["id"], 7);
    assert_eq!(of(&messages, "notifications/message"), 3, "{messages:?}");
}

fn next_news(news: &mut dormouse_tests::http::Answer) -> Value {
    loop {
        let (_, message) = news.event().unwrap().unwrap();
        if !message.is_null() {
            return message;
        }
    }
}

#[test]
fn what_takes_long_in_a_session_becomes_a_stream() {
    let home = home(&["echo", "sleep"]);
    let server = home.serve_http(&[]).unwrap();
    let session = Session::open(&server).unwrap();
    let kind = |id, tool: &str, arguments| {
        let request = session.request(id, "tools/call", call(tool, arguments));
        let mut answer = server.ask(&request).unwrap();
        let kind = answer.header("content-type").unwrap().to_owned();
        let messages = answer.messages().unwrap();
        assert_eq!(messages.len(), 1, "{messages:?}");
        assert_eq!(messages[0]["id"], id);
        assert_eq!(messages[0]["result"]["isError"], false, "{messages:?}");
        kind
    };
    // As soon as the host knows that the handshake is over.
    wait_for("an answer is one message", || {
        kind(1, "echo__echo", json!({ "text": "x" })) == "application/json"
    });
    assert_eq!(
        kind(2, "sleep__sleep", json!({ "milliseconds": 500 })),
        "text/event-stream"
    );
    // Without a session nobody can come back, whatever it takes.
    let sleep = call("sleep__sleep", json!({ "milliseconds": 500 }));
    let answer = server.ask(&Request::stateless(3, "tools/call", sleep));
    assert_eq!(
        answer.unwrap().header("content-type"),
        Some("application/json")
    );
}

#[test]
fn a_changed_list_is_told_in_both_eras() {
    let home = home(&["echo"]);
    let server = home.serve_http(&[]).unwrap();
    let session = Session::open(&server).unwrap();
    let mut news = server.ask(&session.news()).unwrap();
    let wanted = json!({ "notifications": { "toolsListChanged": true } });
    let mut listening = server
        .ask(&Request::stateless(9, "subscriptions/listen", wanted))
        .unwrap();
    let established = listening.event().unwrap().unwrap().1;
    assert_eq!(
        established["method"], "notifications/subscriptions/acknowledged",
        "{established}"
    );
    home.guests(&["bench"]).unwrap();
    for stream in [&mut news, &mut listening] {
        assert_eq!(
            next_news(stream)["method"],
            "notifications/tools/list_changed"
        );
    }
}

#[test]
fn each_session_has_its_own_instance() {
    let home = home(&["keeper"]);
    let server = home.serve_http(&["--session-idle", "400ms"]).unwrap();
    let sessions = [
        Session::open(&server).unwrap(),
        Session::open(&server).unwrap(),
    ];
    let count = |session: &Session, id| {
        let request = session.request(id, "tools/call", call("keeper__count", json!({})));
        server.ask(&request).unwrap().result().unwrap()["structuredContent"]["result"].clone()
    };
    assert_eq!(
        [
            count(&sessions[0], 1),
            count(&sessions[0], 2),
            count(&sessions[1], 1)
        ],
        [json!(1), json!(2), json!(1)]
    );
    // Without a session nothing is kept.
    for _ in 0..2 {
        let result = server
            .stateless("tools/call", call("keeper__count", json!({})))
            .unwrap();
        assert_eq!(result["structuredContent"]["result"], 1);
    }
    wait_for("the instances of requests are let go of", || {
        home.server_status("keeper").unwrap()["instances"] == 2
    });
    let gone = server.ask(&sessions[0].delete()).unwrap();
    assert_eq!(gone.status, 204);
    let mut news = server.ask(&sessions[1].news()).unwrap();
    wait_for("the instance of a session ends with it", || {
        home.server_status("keeper").unwrap()["instances"] == 1
    });
    let request = sessions[0].request(3, "tools/list", json!({}));
    assert_eq!(server.ask(&request).unwrap().status, 404);
    // Who listens is not idle.
    std::thread::sleep(SECOND);
    assert_eq!(count(&sessions[1], 2), json!(2));
    assert!(news.event().unwrap().is_some());
    drop(news);
    wait_for("an idle session ends", || {
        home.status().unwrap()["sessions"] == 0
    });
    wait_for("its instance too", || {
        home.server_status("keeper").unwrap()["instances"] == 0
    });
    let request = sessions[1].request(3, "tools/list", json!({}));
    assert_eq!(server.ask(&request).unwrap().status, 404);
}

#[test]
fn many_requests_share_a_connection_without_delay() {
    let home = home(&["echo"]);
    let server = home.serve_http(&[]).unwrap();
    server.text("echo__echo", json!({ "text": "" })).unwrap();
    let mut stream = server.connect().unwrap();
    let request = Request::stateless(
        1,
        "tools/call",
        call("echo__echo", json!({ "text": "mark" })),
    );
    let bytes = request.bytes(&server);
    let start = Instant::now();
    let mut buffer = vec![0; 64 << 10];
    for _ in 0..50 {
        stream.write_all(&bytes).unwrap();
        let mut answer = String::new();
        while !answer.contains("\"isError\":false") {
            let read = stream.read(&mut buffer).unwrap();
            answer.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
        }
    }
    // Nagle's algorithm would make each of them wait for 40 ms.
    assert!(start.elapsed() < SECOND, "{:?}", start.elapsed());
}
