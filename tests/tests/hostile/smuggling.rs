//! Requests whose end different readers may see at different places: no second request in one of
//! them is answered, and heads have sizes.

use super::*;

/// Text of a hidden tool call: an answer with it shows that the call was taken for a request.
const SMUGGLED: &str = "SMUGGLED";

/// Way to frame a body: its name, lines of the head, what follows the head, and allowed statuses.
type Framing = (&'static str, &'static str, &'static str, &'static [u16]);

const REFUSED: &[u16] = &[400];
const ONCE: &[u16] = &[200];

/// Ways to frame a body before a second request: `~` is the end of a line, `LENGTH` and `HEX` are
/// the length of `BODY`, and `LONGER` is that with the second request. At the end are the statuses
/// with which the first one may be answered.
#[rustfmt::skip]
const FRAMINGS: &[Framing] = &[
    ("CL.TE", "content-length: LONGER~transfer-encoding: chunked", "0~~", REFUSED),
    ("two lengths", "content-length: LENGTH~content-length: LONGER", "BODY", REFUSED),
    ("two lengths, the longer first", "content-length: LONGER~content-length: LENGTH", "BODY", REFUSED),
    ("a list of lengths", "content-length: LENGTH, LONGER", "BODY", REFUSED),
    ("a length with a sign", "content-length: +LENGTH", "BODY", REFUSED),
    ("a negative length", "content-length: -1", "BODY", REFUSED),
    ("a hexadecimal length", "content-length: 0xHEX", "BODY", REFUSED),
    ("a length with an exponent", "content-length: 1e3", "BODY", REFUSED),
    ("a length with a fraction", "content-length: LENGTH.0", "BODY", REFUSED),
    ("a length with a parameter", "content-length: LENGTH;x=1", "BODY", REFUSED),
    ("a length above 64 bits", "content-length: 1844674407370955LENGTH", "BODY", &[400, 413]),
    ("an empty length", "content-length:", "BODY", REFUSED),
    ("a length that is split", "content-length: LENGTH LENGTH", "BODY", REFUSED),
    ("two codings", "transfer-encoding: chunked, identity", "HEX~BODY~0~~", REFUSED),
    ("an unknown coding", "transfer-encoding: xchunked", "HEX~BODY~0~~", REFUSED),
    ("a coding in quotes", "transfer-encoding: \"chunked\"", "HEX~BODY~0~~", REFUSED),
    ("a coding with a parameter", "transfer-encoding: chunked;q=1", "HEX~BODY~0~~", REFUSED),
    ("a coding behind a vertical tab", "transfer-encoding: \u{b}chunked", "HEX~BODY~0~~", REFUSED),
    ("two lines of codings", "transfer-encoding: chunked~transfer-encoding: identity", "HEX~BODY~0~~", REFUSED),
    ("a space before a colon", "content-length : LENGTH", "BODY", REFUSED),
    ("a coding with a space before its colon", "transfer-encoding : chunked~content-length: LONGER", "0~~", REFUSED),
    ("a folded coding", "transfer-encoding:~ chunked", "HEX~BODY~0~~", REFUSED),
    ("a folded length", "content-length:~ LENGTH", "BODY", REFUSED),
    ("a bare CR in a value", "x: a\rcontent-length: LONGER~content-length: LENGTH", "BODY", REFUSED),
    ("a NUL in a value", "x: a\0~content-length: LENGTH", "BODY", REFUSED),
    ("a NUL in a name", "x\0: a~content-length: LENGTH", "BODY", REFUSED),
    ("a line without a colon", "x~content-length: LENGTH", "BODY", REFUSED),
    ("a chunk's size with a sign", "transfer-encoding: chunked", "+HEX~BODY~0~~", REFUSED),
    ("a chunk's size in C's way", "transfer-encoding: chunked", "0xHEX~BODY~0~~", REFUSED),
    ("a chunk's size above 64 bits", "transfer-encoding: chunked", "1000000000000000HEX~BODY~0~~", REFUSED),
    ("a chunk that is longer than it says", "transfer-encoding: chunked", "1~BODY~0~~", REFUSED),
    ("a chunk without its end", "transfer-encoding: chunked", "HEX~BODY0~~", REFUSED),
    ("a chunk whose lines end with a bare LF", "transfer-encoding: chunked", "HEX\nBODY\n0\n\n", REFUSED),
    ("no size of a chunk", "transfer-encoding: chunked", "~BODY~0~~", REFUSED),
    // What RFC 9112 allows.
    ("TE.CL, which RFC 9112 has closed after its answer", "transfer-encoding: chunked~content-length: LENGTH", "HEX~BODY~0~~", ONCE),
    ("a chunk's extension", "transfer-encoding: chunked~connection: close", "HEX;a=b~BODY~0~~", ONCE),
    ("capitals", "Transfer-Encoding: Chunked~connection: close", "HEX~BODY~0~~", ONCE),
    ("a length in a trailer", "transfer-encoding: chunked~connection: close", "HEX~BODY~0~content-length: 5~~", ONCE),
    ("a length that is the connection's", "content-length: LENGTH~connection: close, content-length", "BODY", ONCE),
    ("an upgrade", "content-length: LENGTH~upgrade: h2c~connection: upgrade, close", "BODY", ONCE),
];

/// Returns the bytes of a good call of `echo` with that text.
fn call(server: &Server, text: &str) -> Vec<u8> {
    let params = json!({ "name": "echo__echo", "arguments": { "text": text } });
    Request::stateless(1, "tools/call", params).bytes(server)
}

/// Returns a call's head without the line for the length of its body, and its body.
fn parts(server: &Server) -> (String, String) {
    let text = String::from_utf8(call(server, "FIRST")).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let kept = head.split("\r\n");
    let kept: Vec<_> = kept
        .filter(|line| !line.starts_with("content-length"))
        .collect();
    (kept.join("\r\n"), body.to_owned())
}

/// Returns the answers of a server to these bytes until it closes the connection or falls silent,
/// and whether it has closed it.
fn said(server: &Server, bytes: &[u8]) -> (String, bool) {
    let mut stream = server.connect().unwrap();
    stream.set_read_timeout(Some(SECOND)).unwrap();
    // Whoever is refused need not be read to the end.
    let _ = stream.write_all(bytes);
    let mut all = Vec::new();
    let mut buffer = [0; 4096];
    let closed = loop {
        match stream.read(&mut buffer) {
            Ok(0) => break true,
            Ok(read) => all.extend_from_slice(&buffer[..read]),
            Err(error) => {
                use std::io::ErrorKind::{TimedOut, WouldBlock};
                break !matches!(error.kind(), TimedOut | WouldBlock);
            }
        }
    };
    (String::from_utf8_lossy(&all).into_owned(), closed)
}

/// Returns the statuses of all answers in a text.
fn statuses(said: &str) -> Vec<u16> {
    let answers = said.split("HTTP/1.1 ").skip(1);
    let answers = answers.chain(said.split("HTTP/1.0 ").skip(1));
    answers
        .map(|answer| answer.get(..3).and_then(|code| code.parse().ok()).unwrap())
        .collect()
}

#[test]
fn no_request_hides_in_the_body_of_another() {
    let home = home(&["echo"]);
    let server = home.serve_http(&[]).unwrap();
    let hidden = String::from_utf8(call(&server, SMUGGLED)).unwrap();
    let (head, body) = parts(&server);
    let length = body.len();
    let longer = length + hidden.len();

    // The control: what is a request of its own is answered as one.
    let both = format!("{head}\r\ncontent-length: {length}\r\n\r\n{body}{hidden}");
    let (told, _) = said(&server, both.as_bytes());
    assert_eq!(statuses(&told), [200, 200], "{told}");
    assert!(told.contains(SMUGGLED), "{told}");

    let mut wrong = Vec::new();
    for (what, framing, after, allowed) in FRAMINGS {
        let filled = |text: &str| {
            text.replace('~', "\r\n")
                .replace("LONGER", &longer.to_string())
                .replace("LENGTH", &length.to_string())
                .replace("HEX", &format!("{length:x}"))
                .replace("BODY", &body)
        };
        let (framing, after) = (filled(framing), filled(after));
        let bytes = format!("{head}\r\n{framing}\r\n\r\n{after}{hidden}");
        let (told, closed) = said(&server, bytes.as_bytes());
        let told_shown: String = told.chars().take(300).collect();
        let found = statuses(&told);
        let is_one = found.len() == 1 && allowed.contains(&found[0]);
        if !is_one || !closed || told.contains(SMUGGLED) {
            wrong.push(format!("{what}: {found:?}, closed: {closed}, {told_shown}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(
        server
            .text("echo__echo", json!({ "text": "well" }))
            .unwrap(),
        "well"
    );
}

/// First lines of requests that are odd, and headers that are there twice.
#[test]
fn odd_first_lines_and_doubled_headers_are_refused() {
    let home = home(&["echo"]);
    let server = home.serve_http(&[]).unwrap();
    let hidden = String::from_utf8(call(&server, SMUGGLED)).unwrap();
    let (head, body) = parts(&server);
    let (_, lines) = head.split_once("\r\n").unwrap();
    let framed = format!("{lines}\r\ncontent-length: {}", body.len());
    let host = format!("host: {}", server.address());
    let token = format!("authorization: Bearer {}", server.token().unwrap());
    let mut wrong = Vec::new();
    for (what, first, headers, allowed) in [
        ("HTTP/0.9", "POST /mcp", framed.clone(), &[400][..]),
        (
            "another version",
            "POST /mcp HTTP/3.7",
            framed.clone(),
            &[400, 505],
        ),
        (
            "two versions",
            "POST /mcp HTTP/1.1 HTTP/1.1",
            framed.clone(),
            &[400],
        ),
        ("HTTP/2", "PRI * HTTP/2.0", framed.clone(), &[400, 505]),
        ("a tab", "POST\t/mcp\tHTTP/1.1", framed.clone(), &[400]),
        (
            "a method with a colon",
            "PO:ST /mcp HTTP/1.1",
            framed.clone(),
            &[400, 405],
        ),
        ("no method", " /mcp HTTP/1.1", framed.clone(), &[400]),
        (
            "CONNECT",
            "CONNECT 127.0.0.1:1 HTTP/1.1",
            framed.clone(),
            &[400, 403, 404, 405],
        ),
        (
            "another authority",
            "POST http://evil.example/mcp HTTP/1.1",
            framed.clone(),
            &[400, 403],
        ),
        (
            "two hosts",
            "POST /mcp HTTP/1.1",
            format!("{host}\r\n{framed}"),
            &[400, 403],
        ),
        (
            "another host first",
            "POST /mcp HTTP/1.1",
            format!("host: evil.example\r\n{framed}"),
            &[400, 403],
        ),
        (
            "another host last",
            "POST /mcp HTTP/1.1",
            format!("{framed}\r\nhost: evil.example"),
            &[400, 403],
        ),
        (
            "no host",
            "POST /mcp HTTP/1.1",
            framed.replace(&host, "x: y"),
            &[400, 403],
        ),
        (
            "two tokens",
            "POST /mcp HTTP/1.1",
            format!("{framed}\r\n{token}"),
            &[400, 401],
        ),
        (
            "a wrong token too",
            "POST /mcp HTTP/1.1",
            format!("authorization: Bearer x\r\n{framed}"),
            &[400, 401],
        ),
        (
            "two types",
            "POST /mcp HTTP/1.1",
            format!("{framed}\r\ncontent-type: text/plain"),
            &[400],
        ),
        (
            "two versions of MCP",
            "POST /mcp HTTP/1.1",
            format!("{framed}\r\nmcp-protocol-version: 2025-11-25"),
            &[400],
        ),
        (
            "two methods of MCP",
            "POST /mcp HTTP/1.1",
            format!("{framed}\r\nmcp-method: tools/list"),
            &[400],
        ),
        (
            "two names",
            "POST /mcp HTTP/1.1",
            format!("{framed}\r\nmcp-name: another"),
            &[400],
        ),
    ] {
        let bytes = format!("{first}\r\n{headers}\r\n\r\n{body}{hidden}");
        let (told, _) = said(&server, bytes.as_bytes());
        let told: String = told.chars().take(400).collect();
        let found = statuses(&told);
        let is_refused = found.first().is_none_or(|status| allowed.contains(status));
        if !is_refused || told.contains("FIRST") {
            wrong.push(format!("{what}: {found:?} {told}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(
        server
            .text("echo__echo", json!({ "text": "well" }))
            .unwrap(),
        "well"
    );
}

#[test]
fn heads_have_a_size() {
    let home = home(&["echo"]);
    let server = home.serve_http(&[]).unwrap();
    let (head, body) = parts(&server);
    let framed = format!("{head}\r\ncontent-length: {}", body.len());
    let first = |path: &str| framed.replacen("/mcp", path, 1);
    let many = |count: usize, length: usize| {
        let value = "v".repeat(length);
        let lines = (0..count).map(|number| format!("\r\nx-{number}: {value}"));
        format!("{framed}{}", lines.collect::<String>())
    };
    beside_a_good_client(&server, || {
        let before = server.memory().unwrap();
        for (what, head, allowed) in [
            ("a long header", many(1, 1 << 20), &[431][..]),
            ("a very long header", many(1, 64 << 20), &[431]),
            ("many headers", many(1000, 10), &[431]),
            ("many long headers", many(1000, 10_000), &[431]),
            (
                "a long name",
                format!("{framed}\r\n{}: 1", "n".repeat(1 << 20)),
                &[400, 431],
            ),
            (
                "a long path",
                first(&format!("/{}", "p".repeat(1 << 20))),
                &[414, 431],
            ),
            (
                "a long query",
                first(&format!("/mcp?{}", "q".repeat(100_000))),
                &[414, 431],
            ),
            (
                "a long method",
                framed.replacen("POST", &"P".repeat(1 << 20), 1),
                &[400, 414, 431],
            ),
        ] {
            let (told, closed) = said(&server, format!("{head}\r\n\r\n{body}").as_bytes());
            let told: String = told.chars().take(300).collect();
            let found = statuses(&told);
            // Whoever sends on meanwhile may lose the answer with the connection.
            assert!(
                found.first().is_none_or(|status| allowed.contains(status)),
                "{what}: {found:?} {told}"
            );
            assert!(closed, "{what}: {told}");
        }
        let after = server.memory().unwrap();
        assert!(
            after < before + (64 << 10),
            "{before} KiB became {after} KiB"
        );
    });
}

/// A web page can send some types without asking the host first, and others are not JSON: only JSON
/// is taken.
#[test]
fn only_json_is_taken() {
    let home = home(&["echo"]);
    let server = home.serve_http(&[]).unwrap();
    let params = json!({ "name": "echo__echo", "arguments": { "text": "FIRST" } });
    let request = || Request::stateless(1, "tools/call", params.clone());
    for (kind, status) in [
        ("application/json", 200),
        ("Application/JSON", 200),
        ("application/json; charset=utf-8", 200),
        ("application/json;charset=UTF-8", 200),
        ("", 415),
        ("text/plain", 415),
        ("text/plain; application/json", 415),
        ("text/plain;charset=application/json", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=application/json", 415),
        ("application/jsonx", 415),
        ("application/json-seq", 415),
        ("xapplication/json", 415),
        ("text/json", 415),
        ("application/*", 415),
        ("*/*", 415),
        ("text/plain, application/json", 415),
        ("application/json, text/plain", 415),
    ] {
        let mut answer = server.ask(&request().header("content-type", kind)).unwrap();
        assert_eq!(answer.status, status, "{kind}");
        let text = String::from_utf8(answer.body().unwrap()).unwrap();
        assert_eq!(text.contains("FIRST"), status == 200, "{kind}: {text}");
    }
}
