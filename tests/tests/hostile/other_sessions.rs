//! A client over HTTP that has a session of its own and reaches for that of another.

use dormouse_tests::http::Answer;

use super::*;

/// Reads the next event: its id, and its message.
fn next(answer: &mut Answer) -> (String, Value) {
    answer.event().unwrap().unwrap()
}

/// Returns all bytes that come within half a second, as text.
fn heard(server: &Server, request: &Request) -> String {
    let mut stream = server.connect().unwrap();
    stream.write_all(&request.bytes(server)).unwrap();
    stream.set_read_timeout(Some(SECOND / 2)).unwrap();
    let mut all = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        all.extend_from_slice(&buffer[..read]);
    }
    String::from_utf8_lossy(&all).into_owned()
}

#[test]
fn nothing_of_another_session_is_reached() {
    let home = home(&["asker", "reporter", "spin", "echo"]);
    let server = home.serve_http(&[]).unwrap();
    let call = |tool: &str, arguments: Value| json!({ "name": tool, "arguments": arguments });

    // Somebody is asked for a name, has had logs, and has a call that runs.
    let able = json!({ "elicitation": {} });
    let own = Session::open_able(&server, able.clone()).unwrap();
    let mut news = server.ask(&own.news()).unwrap();
    let mut ids = vec![next(&mut news).0];
    let request = own.request(1, "tools/call", call("asker__greet", json!({})));
    let mut greeting = server.ask(&request).unwrap();
    // An id to come back with is first, where the question is not there by then.
    let question = loop {
        let (id, message) = next(&mut greeting);
        ids.push(id);
        if !message.is_null() {
            break message;
        }
    };
    assert_eq!(question["method"], "elicitation/create");
    let work = call("reporter__work", json!({ "steps": 3 }));
    let mut working = server.ask(&own.request(2, "tools/call", work)).unwrap();
    loop {
        let (id, message) = next(&mut working);
        ids.push(id);
        if message.get("result").is_some() {
            break;
        }
    }
    let spin = own.request(3, "tools/call", call("spin__spin", json!({})));
    let mut spinning = server.begin(&spin).unwrap().answer().unwrap();
    ids.push(next(&mut spinning).0);
    let is_running = |what: &str| {
        let status = home.server_status("spin").unwrap();
        assert_eq!(status["running"], 1, "after {what}");
    };
    is_running("nothing");

    // Events: by the ids that they have in the other session, and by such as nobody has.
    let other = Session::open_able(&server, able).unwrap();
    let odd = [
        "0/0",
        "1/0",
        "2/1",
        "-1/0",
        "18446744073709551615/0",
        "18446744073709551615/1",
        "0/18446744073709551615",
        "*",
        "0/0,1/0",
    ];
    let ids = ids.iter().map(String::as_str).chain(odd);
    for id in ids {
        let told = heard(&server, &other.news().header("last-event-id", id));
        for part in [
            "elicitation/create",
            "What is your name",
            "notifications/message",
            "step",
        ] {
            assert!(!told.contains(part), "{id}: {told}");
        }
        is_running(id);
    }

    // Calls: the ids of requests are a session's own.
    for id in [
        json!(1),
        json!(2),
        json!(3),
        json!("3"),
        question["id"].clone(),
    ] {
        let cancel = json!({ "requestId": id, "reason": "no reason" });
        other
            .notify(&server, "notifications/cancelled", cancel.clone())
            .unwrap();
        let message = json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": dormouse_tests::wire::stateless(cancel, json!({}))
        });
        let stateless = Request::post(message.to_string())
            .header("mcp-protocol-version", dormouse_tests::wire::MODERN)
            .header("mcp-method", "notifications/cancelled");
        server.ask(&stateless).unwrap();
        is_running("a cancel");
    }
    // Answers: only who was asked gives one.
    let accept = |name: &str| {
        json!({ "jsonrpc": "2.0", "id": question["id"],
            "result": { "action": "accept", "content": { "name": name } } })
    };
    server.ask(&other.message(&accept("Eve"))).unwrap();

    // Sessions: an id is whole, or nobody's.
    let id = own.id.clone();
    let swapped: String = id
        .chars()
        .map(|one| match one.is_ascii_lowercase() {
            true => one.to_ascii_uppercase(),
            false => one.to_ascii_lowercase(),
        })
        .collect();
    let (most, _) = id.split_at(id.len() - 1);
    for wrong in [
        swapped,
        most.to_owned(),
        format!("{id}0"),
        format!("{id},{}", other.id),
        format!("{},{id}", other.id),
        format!("\"{id}\""),
        "*".to_owned(),
        "0".to_owned(),
    ] {
        if wrong == id {
            continue;
        }
        let stranger = Session { id: wrong };
        for request in [
            stranger.news(),
            stranger.delete(),
            stranger.message(&accept("Eve")),
        ] {
            let status = server.ask(&request).unwrap().status;
            assert!([400, 404].contains(&status), "{request:?}: {status}");
        }
    }
    // Two ids are no id.
    let mut both = String::from_utf8(other.delete().bytes(&server)).unwrap();
    both = both.replacen("\r\n\r\n", &format!("\r\nmcp-session-id: {id}\r\n\r\n"), 1);
    let mut stream = server.connect().unwrap();
    stream.write_all(both.as_bytes()).unwrap();
    let mut start = [0; 12];
    stream.read_exact(&mut start).unwrap();
    assert_eq!(&start, b"HTTP/1.1 400");
    // And the end of one session is that of its own calls.
    assert_eq!(server.ask(&other.delete()).unwrap().status, 204);
    is_running("the end of the other session");

    // All of it is there for whose it is.
    let taken = server.ask(&own.message(&accept("Zoe"))).unwrap();
    assert_eq!(taken.status, 202);
    let (_, answer) = next(&mut greeting);
    assert_eq!(answer["result"]["content"][0]["text"], "Hello, Zoe!");
    own.notify(
        &server,
        "notifications/cancelled",
        json!({ "requestId": 3 }),
    )
    .unwrap();
    let start = Instant::now();
    while home.server_status("spin").unwrap()["running"] != 0 {
        assert!(start.elapsed() < 20 * SECOND, "it cannot cancel its own");
        std::thread::sleep(SECOND / 20);
    }
}
