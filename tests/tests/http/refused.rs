//! Requests that are refused.

use dormouse_tests::http::{Request, Session, write_token};
use serde_json::json;

use crate::{call, home, refusal};

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
        (Request::get("/health").header("host", "evil.example"), 403),
        (Request::get("/health").header("origin", "null"), 403),
        (Request::get("/health").header("host", "localhost"), 200),
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
