//! MCP over HTTP, byte by byte: both eras side by side, authorization, refusals, and the end of a
//! host.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use dormouse_tests::Home;
use dormouse_tests::http::{Request, Server, Session, write_token};
use serde_json::{Value, json};

const SECOND: Duration = Duration::from_secs(1);

fn home(guests: &[&str]) -> Home {
    let home = Home::new().unwrap();
    home.guests(guests).unwrap();
    home
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

/// Returns the status of the answer, and the code of the JSON-RPC error that it is.
fn refusal(server: &Server, request: &Request) -> (u16, Value) {
    let mut answer = server.ask(request).unwrap();
    let status = answer.status;
    let messages = answer.messages().unwrap();
    (status, messages.last().unwrap()["error"]["code"].clone())
}

fn wait_for(what: &str, mut is: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is() {
        assert!(start.elapsed() < 20 * SECOND, "{what}: it never came");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn running(home: &Home, server: &str) -> u64 {
    let status = home.server_status(server).unwrap();
    status["running"].as_u64().unwrap()
}

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
fn a_stateless_client_that_goes_cancels_its_call() {
    let home = home(&["spin", "echo"]);
    let server = home.serve_http(&[]).unwrap();
    let request = Request::stateless(1, "tools/call", call("spin__spin", json!({})));
    let gone = server.begin(&request).unwrap();
    wait_for("the call runs", || running(&home, "spin") == 1);
    assert_eq!(
        server
            .text("echo__echo", json!({ "text": "beside it" }))
            .unwrap(),
        "beside it"
    );
    drop(gone);
    let start = Instant::now();
    wait_for("it is cancelled", || running(&home, "spin") == 0);
    assert!(start.elapsed() < SECOND, "{:?}", start.elapsed());
    assert_eq!(
        server
            .text("echo__echo", json!({ "text": "after it" }))
            .unwrap(),
        "after it"
    );
}

#[test]
fn a_legacy_client_that_goes_and_stays_away_cancels_its_call() {
    let home = home(&["spin", "sleep", "echo"]);
    let server = home.serve_http(&[]).unwrap();
    let session = Session::open(&server).unwrap();
    let mut gone = server
        .ask(&session.request(1, "tools/call", call("spin__spin", json!({}))))
        .unwrap();
    let back = session.request(
        2,
        "tools/call",
        call("sleep__sleep", json!({ "milliseconds": 4000 })),
    );
    let mut back = server.ask(&back).unwrap();
    wait_for("the calls run", || {
        running(&home, "spin") + running(&home, "sleep") == 2
    });
    let (first, _) = gone.event().unwrap().unwrap();
    let (second, _) = back.event().unwrap().unwrap();
    assert_ne!(first, second);
    drop((gone, back));
    // One that comes back gets its answer; the other is over.
    std::thread::sleep(SECOND);
    let resume = session.news().header("last-event-id", &second);
    let mut resumed = server.ask(&resume).unwrap();
    wait_for("the abandoned call is cancelled", || {
        running(&home, "spin") == 0
    });
    assert_eq!(running(&home, "sleep"), 1);
    let request = session.request(3, "tools/call", call("echo__echo", json!({ "text": "x" })));
    server.ask(&request).unwrap().result().unwrap();
    let messages = resumed.messages().unwrap();
    assert_eq!(messages[0]["id"], 2, "{messages:?}");
    assert_eq!(messages[0]["result"]["content"][0]["text"], "slept 4000 ms");
}

#[test]
fn a_legacy_client_cancels_by_saying_so() {
    let home = home(&["spin"]);
    let server = home.serve_http(&[]).unwrap();
    let session = Session::open(&server).unwrap();
    let request = session.request(1, "tools/call", call("spin__spin", json!({})));
    let mut answer = server.ask(&request).unwrap();
    wait_for("the call runs", || running(&home, "spin") == 1);
    // An id can be used again, but not while it is in use.
    assert_eq!(refusal(&server, &request), (400, json!(-32600)));
    session
        .notify(
            &server,
            "notifications/cancelled",
            json!({ "requestId": 1 }),
        )
        .unwrap();
    wait_for("it is cancelled", || running(&home, "spin") == 0);
    // Nobody waits for that. But for a stream that ends without an answer clients come back.
    let messages = answer.messages().unwrap();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0]["error"].is_object(), "{messages:?}");
    let again = session.request(1, "ping", json!({}));
    assert_eq!(server.ask(&again).unwrap().result().unwrap(), json!({}));
}

#[test]
fn foreign_pages_and_names_are_refused() {
    let home = home(&["echo"]);
    let options = [
        "--allow-host",
        "mcp.example",
        "--allow-origin",
        "https://app.example",
    ];
    let server = home.serve_http(&options).unwrap();
    let list = || Request::stateless(1, "tools/list", json!({}));
    let own = format!("http://{}", server.address());
    for (request, status) in [
        (list(), 200),
        (list().header("host", "localhost"), 200),
        (list().header("host", "mcp.example"), 200),
        (list().header("host", "evil.example"), 403),
        (list().header("host", ""), 403),
        (list().header("host", "localhost.evil.example"), 403),
        (list().header("host", "127.0.0.1.evil.example"), 403),
        (list().header("host", "evil.example:127.0.0.1"), 403),
        (list().header("host", "localhost@evil.example"), 403),
        (list().header("host", "evil.example/localhost"), 403),
        // Browsers write them as 127.0.0.1.
        (list().header("host", "2130706433"), 403),
        (list().header("host", "0x7f000001"), 403),
        (list().header("host", "127.1"), 403),
        (list().header("host", "0"), 403),
        (list().header("origin", &own), 200),
        (list().header("origin", "https://app.example"), 200),
        (list().header("origin", "http://app.example"), 403),
        (list().header("origin", "https://evil.example"), 403),
        (list().header("origin", "null"), 403),
        (Request::get("/ready").header("host", "evil.example"), 403),
        (Request::get("/health").header("host", "evil.example"), 200),
    ] {
        let answer = server.ask(&request).unwrap();
        assert_eq!(answer.status, status, "{request:?}");
    }
    let mut answer = server.ask(&list().header("host", "evil.example")).unwrap();
    let text = String::from_utf8(answer.body().unwrap()).unwrap();
    assert!(
        text.contains("`evil.example`") && text.contains("--allow-host"),
        "{text}"
    );
}

#[test]
fn who_does_not_know_the_token_is_sent_away() {
    let home = home(&["echo"]);
    let file = write_token(home.path(), "s3cret\n").unwrap();
    let server = home
        .serve_http(&["--token-file", &file.display().to_string()])
        .unwrap();
    let list = || Request::stateless(1, "tools/list", json!({}));
    for (token, status) in [
        ("", 401),
        ("Bearer wrong", 401),
        ("Basic s3cret", 401),
        ("Bearer s3cret", 200),
    ] {
        let answer = server.ask(&list().header("authorization", token)).unwrap();
        assert_eq!(answer.status, status, "{token}");
        let challenged = answer
            .header("www-authenticate")
            .is_some_and(|c| c.starts_with("Bearer"));
        assert_eq!(challenged, status == 401, "{token}");
    }
    // Whoever watches it knows no token.
    for path in ["/ready", "/health"] {
        let open = Request::get(path).header("authorization", "");
        assert_eq!(server.ask(&open).unwrap().status, 200, "{path}");
    }
    // The answer does not wait for a body that nobody will read.
    let mut long = list().header("content-length", "1000000");
    long = long.header("authorization", "Bearer wrong");
    long.body.clear();
    assert_eq!(server.ask(&long).unwrap().status, 401);

    std::fs::write(&file, " \n").unwrap();
    let file = file.display().to_string();
    let output = home.run(&["serve", "--http", "127.0.0.1:0", "--token-file", &file]);
    let said = String::from_utf8(output.unwrap().stderr).unwrap();
    assert!(said.contains("empty"), "{said}");
}

#[test]
fn a_token_is_made_where_none_is_given() {
    let home = home(&["echo"]);
    let server = home.serve_http(&[]).unwrap();
    let token = server.token().unwrap().to_owned();
    assert_eq!(token.len(), 64, "256 bits");
    let list = || Request::stateless(1, "tools/list", json!({}));
    assert_eq!(server.ask(&list()).unwrap().status, 200);
    let mut refused = server.ask(&list().header("authorization", "")).unwrap();
    assert_eq!(refused.status, 401);
    // What to send, and where it is; and no way to log in.
    let challenge = refused.header("www-authenticate").unwrap().to_owned();
    let text = String::from_utf8(refused.body().unwrap()).unwrap();
    let file = home.path().join("cache/data/dormouse/http-token");
    assert!(text.contains("`Authorization: Bearer TOKEN`"), "{text}");
    assert!(text.contains(file.to_str().unwrap()), "{text}");
    for said in [&challenge, &text] {
        assert!(!said.contains("resource_metadata"), "{said}");
        assert!(!said.contains(&token), "{said}");
    }
    // Another way to write the path, or another place for the token, is no way in.
    let elsewhere = [
        "//mcp",
        "/MCP",
        "/mcp/",
        "/./mcp",
        "/x/../mcp",
        "/%6dcp",
        "/mcp;x",
        "/mcp%00",
    ];
    let elsewhere = elsewhere.map(str::to_owned).into_iter();
    let queries = ["token", "access_token", "authorization", "key"];
    let queries = queries.map(|name| format!("/mcp?{name}={token}"));
    for path in elsewhere.chain(queries) {
        let mut request = list().header("authorization", "");
        request.line = format!("POST {path}");
        let status = server.ask(&request).unwrap().status;
        assert!([400, 401, 404].contains(&status), "{path}: {status}");
    }
    for path in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
        "/register",
        "/authorize",
        "/token",
    ] {
        let nothing = Request::get(path).header("authorization", "");
        assert_eq!(server.ask(&nothing).unwrap().status, 404, "{path}");
    }
    // Not on a terminal, its file is named and it is not shown.
    assert!(server.said().contains(file.to_str().unwrap()));
    assert!(!server.said().contains(&token), "{}", server.said());
    // Another host of the same user has the same one.
    let other = home.serve_http(&[]).unwrap();
    assert_eq!(other.token(), Some(token.as_str()));
}

/// A user at a terminal is shown the token itself.
#[cfg(unix)]
#[test]
fn a_token_is_shown_to_a_person_at_a_terminal() {
    let home = home(&["echo"]);
    let script = dormouse_tests::artifacts::workspace().join("tests/clients/python/terminal.py");
    // Control and C end it.
    let steps = json!([["listening on ", "\u{3}"]]);
    let serve = home.command(&["serve", "--http", "127.0.0.1:0"]);
    let mut command = std::process::Command::new("python3");
    command.arg(script).arg(steps.to_string());
    command.arg(serve.get_program()).args(serve.get_args());
    command.envs(home.environment()).current_dir(home.path());
    let output = command.output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let file = home.path().join("cache/data/dormouse/http-token");
    let token = std::fs::read_to_string(&file).unwrap();
    let line = format!("Authorization: Bearer {}", token.trim());
    assert!(shown.contains(&line), "{shown}");
    assert!(shown.contains(&format!("`{}`", file.display())), "{shown}");
    assert!(output.status.success(), "{shown}");
}

#[test]
fn another_token_is_made_where_somebody_may_know_it() {
    let home = home(&["echo"]);
    let old = home.serve_http(&[]).unwrap();
    let known = old.token().unwrap().to_owned();
    let address = old.address().to_string();
    let serve = |more: &[&str]| {
        let words = [&["serve", "--http", &address][..], more].concat();
        let output = home.run(&words).unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    // Whoever has the port is sent the token by all clients that were told of it.
    let taken = serve(&[]);
    assert!(taken.contains("may have been sent the token"), "{taken}");
    assert!(
        taken.contains(&format!("dormouse serve --http {address} --new-token")),
        "{taken}"
    );
    // No new one, for as long as a host of the user's own may have that port.
    serve(&["--new-token"]);
    let file = home.path().join("cache/data/dormouse/http-token");
    let kept = || std::fs::read_to_string(&file).unwrap().trim().to_owned();
    assert_eq!(kept(), known);

    let http = ["--http", "127.0.0.1:8137"];
    let install = || {
        let words = [&["install", "cursor", "--no-sync"][..], &http].concat();
        assert!(home.run(&words).unwrap().status.success());
        std::fs::read_to_string(home.path().join(".cursor/mcp.json")).unwrap()
    };
    assert!(install().contains(&known));
    let new = home.serve_http(&["--new-token"]).unwrap();
    let token = new.token().unwrap().to_owned();
    assert_eq!(token.len(), 64);
    assert_ne!(token, known);
    assert_eq!(kept(), token);
    let list = || Request::stateless(1, "tools/list", json!({}));
    let with = |token: &str| list().header("authorization", &format!("Bearer {token}"));
    assert_eq!(new.ask(&with(&known)).unwrap().status, 401);
    assert_eq!(new.ask(&with(&token)).unwrap().status, 200);
    let text = install();
    assert!(text.contains(&token) && !text.contains(&known), "{text}");

    // It would make one that nobody asks for.
    let mut command = home.command(&["serve", "--http", "127.0.0.1:0", "--new-token"]);
    let output = command
        .env("DORMOUSE_TOKEN", "x".repeat(64))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("`DORMOUSE_TOKEN`"), "{told}");
}

#[test]
fn without_a_token_it_serves_this_machine_alone() {
    let home = home(&["echo"]);
    let server = home.serve_http(&["--no-token"]).unwrap();
    assert_eq!(server.token(), None);
    let list = Request::stateless(1, "tools/list", json!({}));
    assert_eq!(server.ask(&list).unwrap().status, 200);
    let said = server.said();
    assert!(
        said.contains("warning: without a token, every program"),
        "{said}"
    );
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "[::ffff:0.0.0.0]:0"] {
        let output = home
            .run(&["serve", "--http", address, "--no-token"])
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{address}: {said}");
        assert!(said.contains("leave out `--no-token`"), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn a_token_file_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = home(&[]);
    let file = write_token(home.path(), "s3cret").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let name = file.display().to_string();
    let output = home.run(&["serve", "--http", "127.0.0.1:0", "--token-file", &name]);
    let said = String::from_utf8(output.unwrap().stderr).unwrap();
    assert!(
        said.contains("`644`") && said.contains("chmod 600"),
        "{said}"
    );
}

#[test]
fn a_token_is_taken_from_the_environment() {
    let home = home(&["echo"]);
    let mut command = home.command(&["serve", "--http", "127.0.0.1:0"]);
    command.env("DORMOUSE_TOKEN", "s3cret-of-mine");
    let server = Server::start(&mut command).unwrap();
    let list = || Request::stateless(1, "tools/list", json!({}));
    for (token, status) in [("Bearer wrong", 401), ("Bearer s3cret-of-mine", 200)] {
        let answer = server.ask(&list().header("authorization", token)).unwrap();
        assert_eq!(answer.status, status, "{token}");
    }
    assert!(!home.path().join("cache/data/dormouse/http-token").exists());
}

#[test]
fn what_is_no_message_is_refused_as_the_specification_says() {
    let home = home(&["echo"]);
    let server = home.serve_http(&["--max-body", "1KiB"]).unwrap();
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"a":{}{}}}}}"#,
        "[".repeat(300),
        "]".repeat(300)
    );
    for (body, code) in [
        ("{", -32700),
        ("", -32700),
        ("\u{0}", -32700),
        ("[]", -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
        ("7", -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
            -32600,
        ),
        (&deep, -32600),
    ] {
        assert_eq!(
            refusal(&server, &Request::post(body)),
            (400, json!(code)),
            "{body}"
        );
    }
    let status = |request: &Request| server.ask(request).unwrap().status;
    assert_eq!(
        status(&Request::post("{}").header("content-type", "text/plain")),
        415
    );
    let list = Request::stateless(1, "tools/list", json!({}));
    assert_eq!(
        status(&list.clone().header("accept", "application/json")),
        406
    );
    assert_eq!(status(&Request::post(vec![b' '; 2000])), 413);
    let chunked = Request::post(format!("7d0\r\n{}\r\n0\r\n\r\n", " ".repeat(2000)))
        .header("content-length", "")
        .header("transfer-encoding", "chunked");
    assert_eq!(status(&chunked), 413);
    assert_eq!(status(&Request::get("/")), 404);
    // A legacy request belongs to a session, and to one that there is.
    for params in [
        json!({}),
        json!({ "protocolVersion": 5 }),
        json!({ "_meta": [] }),
    ] {
        let begin = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let refused = refusal(&server, &Request::post(begin.to_string()));
        assert_eq!(refused, (400, json!(-32602)), "{params}");
    }
    let ping = Request::post(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    assert_eq!(status(&ping), 400);
    assert_eq!(status(&ping.header("mcp-session-id", "none")), 404);
    let session = Session::open(&server).unwrap();
    let unordered = session.request(1, "tools/list", json!({ "_meta": [] }));
    assert_eq!(refusal(&server, &unordered), (400, json!(-32602)));
    // It ends once.
    assert_eq!(status(&session.delete()), 204);
    assert_eq!(status(&session.delete()), 404);
    // After all that it is as it was.
    assert_eq!(
        server
            .text("echo__echo", json!({ "text": "well" }))
            .unwrap(),
        "well"
    );
}

#[test]
fn what_makes_no_sense_is_answered_by_the_rules_of_its_era() {
    let home = home(&["echo"]);
    let server = home.serve_http(&[]).unwrap();
    let stateless = |method: &str, params| Request::stateless(1, method, params);
    let echo = || stateless("tools/call", call("echo__echo", json!({ "text": "x" })));
    let mut bare = stateless("tools/list", json!({}));
    bare.body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#.into();
    // Of a member that is there twice nobody knows which counts.
    let mut twice = stateless("tools/list", json!({ "cursor": null }));
    let text = String::from_utf8(twice.body).unwrap();
    twice.body = text
        .replace(r#""cursor":null"#, r#""cursor":null,"cursor":null"#)
        .into();
    for (request, expected) in [
        (stateless("no/such", json!({})), (404, -32601)),
        // What there was, or may be in another version.
        (stateless("ping", json!({})), (404, -32601)),
        (
            stateless("resources/subscribe", json!({ "uri": "a://b" })),
            (404, -32601),
        ),
        (
            stateless("tasks/get", json!({ "taskId": "1" })),
            (404, -32601),
        ),
        (twice, (400, -32602)),
        (stateless("raw:tools/list", json!({})), (404, -32601)),
        (
            stateless("logging/setLevel", json!({ "level": "info" })),
            (404, -32601),
        ),
        (
            stateless("tools/call", call("no_such", json!({}))),
            (200, -32602),
        ),
        (stateless("tools/call", json!({})), (200, -32602)),
        (stateless("tools/call", json!({ "name": 1 })), (200, -32602)),
        (
            stateless("tools/list", json!({ "cursor": "x" })),
            (200, -32602),
        ),
        // Headers that do not say what the body says.
        (echo().header("mcp-method", "tools/list"), (400, -32020)),
        (echo().header("mcp-method", ""), (400, -32020)),
        (echo().header("mcp-name", "echo__add"), (400, -32020)),
        (echo().header("mcp-name", ""), (400, -32020)),
        (
            echo().header("mcp-protocol-version", "2025-11-25"),
            (400, -32020),
        ),
        (bare, (400, -32602)),
    ] {
        let (status, code) = refusal(&server, &request);
        assert_eq!(
            (status, code),
            (expected.0, json!(expected.1)),
            "{request:?}"
        );
    }
    let encoded = echo().header("mcp-name", "=?base64?ZWNob19fZWNobw==?=");
    assert!(server.ask(&encoded).unwrap().result().is_ok());

    let session = Session::open(&server).unwrap();
    for (method, params, code) in [
        ("no/such", json!({}), -32601),
        ("raw:tools/list", json!({}), -32601),
        ("tools/call", call("no_such", json!({})), -32602),
        ("tools/call", json!({}), -32602),
        ("tools/list", json!({ "cursor": "x" }), -32602),
    ] {
        let request = session.request(1, method, params);
        assert_eq!(refusal(&server, &request), (200, json!(code)), "{method}");
    }
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

#[test]
fn it_stops_when_what_runs_is_done() {
    let home = home(&["sleep"]);
    let mut server = home.serve_http(&[]).unwrap();
    let status = |server: &Server, path| server.ask(&Request::get(path)).unwrap().status;
    assert_eq!(
        (status(&server, "/health"), status(&server, "/ready")),
        (200, 200)
    );
    let session = Session::open(&server).unwrap();
    let news = server.ask(&session.news()).unwrap();
    let sleep = call("sleep__sleep", json!({ "milliseconds": 1500 }));
    let legacy = server
        .begin(&session.request(1, "tools/call", sleep.clone()))
        .unwrap();
    let stateless = server
        .begin(&Request::stateless(2, "tools/call", sleep))
        .unwrap();
    wait_for("the calls run", || running(&home, "sleep") == 2);

    server.signal("TERM").unwrap();
    wait_for("it says that it stops", || status(&server, "/ready") == 503);
    assert_eq!(status(&server, "/health"), 200);
    let late = Request::stateless(3, "tools/list", json!({}));
    assert_eq!(server.ask(&late).unwrap().status, 503);
    // What was running is finished.
    for running in [legacy, stateless] {
        let result = running.answer().unwrap().result().unwrap();
        assert_eq!(result["content"][0]["text"], "slept 1500 ms");
    }
    drop(news);
    let exit = server.wait(3 * SECOND).unwrap();
    assert!(exit.success(), "{exit}: {}", server.said());
}

#[test]
fn what_takes_too_long_is_cancelled_at_the_stop() {
    let home = home(&["spin"]);
    let mut server = home.serve_http(&["--stop-timeout", "300ms"]).unwrap();
    let session = Session::open(&server).unwrap();
    let spin = call("spin__spin", json!({}));
    let stateless = server
        .begin(&Request::stateless(1, "tools/call", spin.clone()))
        .unwrap();
    let legacy = server
        .begin(&session.request(1, "tools/call", spin))
        .unwrap();
    wait_for("the calls run", || running(&home, "spin") == 2);
    let start = Instant::now();
    server.signal("INT").unwrap();
    // The clients hear of it.
    for cancelled in [stateless, legacy] {
        let result = cancelled.answer().unwrap().result().unwrap();
        assert_eq!(result["isError"], true, "{result}");
    }
    assert!(server.wait(3 * SECOND).unwrap().success());
    assert!(start.elapsed() >= Duration::from_millis(300));
    assert!(start.elapsed() < 2 * SECOND, "{:?}", start.elapsed());
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let home = home(&["spin"]);
    let mut server = home.serve_http(&["--stop-timeout", "1m"]).unwrap();
    let _call = server
        .begin(&Request::stateless(
            1,
            "tools/call",
            call("spin__spin", json!({})),
        ))
        .unwrap();
    wait_for("the call runs", || running(&home, "spin") == 1);
    server.signal("TERM").unwrap();
    assert!(server.wait(SECOND).is_err(), "it did not wait for the call");
    server.signal("TERM").unwrap();
    assert!(!server.wait(SECOND).unwrap().success());
}

#[test]
fn an_address_that_is_taken_is_said() {
    let home = home(&[]);
    let server = home.serve_http(&[]).unwrap();
    let address = server.address().to_string();
    let output = home.run(&["serve", "--http", &address]).unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(&format!("`{address}`")), "{said}");
    let output = home.run(&["serve", "--http", "localhost"]).unwrap();
    assert_eq!(output.status.code(), Some(2));
    let output = home.run(&["serve", "--max-sessions", "3"]).unwrap();
    assert_eq!(output.status.code(), Some(2), "limits of HTTP without HTTP");
}

/// A page that is allowed can read its answers; no other is told anything.
#[test]
fn browsers_are_told_which_pages_may_ask() {
    let home = home(&["echo"]);
    let file = write_token(home.path(), "s3cret").unwrap();
    let file = file.display().to_string();
    let page = "https://app.example";
    let server = home
        .serve_http(&["--allow-origin", page, "--token-file", &file])
        .unwrap();
    let mut preflight = Request::get("/mcp")
        .header("origin", page)
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "mcp-method,authorization");
    preflight.line = "OPTIONS /mcp".into();
    let answer = server.ask(&preflight).unwrap();
    assert_eq!(answer.status, 204);
    let header = |name: &str| answer.header(name).map(str::to_owned);
    assert_eq!(header("access-control-allow-origin").as_deref(), Some(page));
    assert_eq!(
        header("access-control-allow-headers").as_deref(),
        Some("mcp-method,authorization")
    );
    let foreign = server.ask(&preflight.header("origin", "https://evil.example"));
    let foreign = foreign.unwrap();
    assert_eq!(foreign.status, 403);
    assert_eq!(foreign.header("access-control-allow-origin"), None);

    let list = Request::stateless(1, "tools/list", json!({})).header("origin", page);
    let list = list.header("authorization", "");
    let answer = server.ask(&list).unwrap();
    assert_eq!(answer.status, 401);
    assert_eq!(answer.header("access-control-allow-origin"), Some(page));
    let list = list.header("authorization", "Bearer s3cret");
    let answer = server.ask(&list).unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("access-control-allow-origin"), Some(page));
}
