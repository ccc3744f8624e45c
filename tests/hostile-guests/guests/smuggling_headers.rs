//! Writes headers that say where a request ends, that are a connection's own, or that stand for the host, the
//! method or the path.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::Request;

dormouse_hostile_guests::guest!(attempt);

/// A second request, for whoever takes the body of the first one to end before it.
const SECOND: &[u8] = b"0\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: x\r\n\r\n";

fn attempt(granted: &str, _: &str) -> Vec<Outcome> {
    let post = || Request::get(granted, "/").with_body("POST", SECOND);
    let mut outcomes = Vec::new();
    for (name, value) in [
        ("transfer-encoding", "chunked"),
        ("Transfer-Encoding", "identity"),
        ("transfer-encoding ", "chunked"),
        ("content-length", "0"),
        ("content-length", "5"),
        ("content-length", "+5"),
        ("content-length", "5, 5"),
        ("content-length", "4294967296"),
        ("Content-Length", "-1"),
        ("content-length", ""),
        ("host", "other.example"),
        ("HOST", "other.example"),
        (":authority", "other.example"),
        (":path", "/smuggled"),
        ("connection", "upgrade"),
        ("connection", "authorization"),
        ("upgrade", "h2c"),
        ("http2-settings", "AAMAAABkAAQAAP__"),
        ("keep-alive", "timeout=5"),
        ("proxy-connection", "keep-alive"),
        ("proxy-authorization", "Basic x"),
        ("proxy-authenticate", "Basic"),
        ("te", "trailers"),
        ("trailer", "authorization"),
        ("expect", "100-continue"),
        ("forwarded", "host=other.example"),
        ("x-forwarded-host", "other.example"),
        ("x_forwarded_host", "other.example"),
        ("x-forwarded-prefix", "/elsewhere"),
        ("x-forwarded-uri", "/elsewhere"),
        ("x-forwarded-method", "DELETE"),
        ("x-host", "other.example"),
        ("x-original-host", "other.example"),
        ("x-original-url", "/elsewhere"),
        ("x-rewrite-url", "/elsewhere"),
        ("x-original-method", "DELETE"),
        ("x-http-method", "DELETE"),
        ("X-HTTP-Method-Override", "DELETE"),
        ("x-method-override", "DELETE"),
    ] {
        let request = post().header(name, value.as_bytes());
        outcomes.push(request.outcome(&format!("{name}: {value}")));
    }
    let two = post()
        .header("content-length", b"5")
        .header("content-length", b"45");
    outcomes.push(two.outcome("two lengths"));
    let both = post()
        .header("content-length", b"5")
        .header("transfer-encoding", b"chunked");
    outcomes.push(both.outcome("a length and chunks"));
    for method in ["CONNECT", "TRACE", "connect", "get", "G ET", "", "PRI"] {
        let request = Request::get(granted, "/").with_body(method, &[]);
        outcomes.push(request.outcome(&format!("method {method}")));
    }
    outcomes
}
