//! Guests that write requests which one reader takes for something else than another, or that are or
//! bring more than a call may.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use dormouse_tests::processes;
use serde_json::json;

use super::canary::Canaries;
use super::{Hostile, Outcome, all_refused, good_host};

/// Most memory that the host may keep of what it has refused, in KiB.
const KEPT_KIB: u64 = 32 << 10;

/// Lets a guest try its requests at a granted host, beside a canary. Returns what came of them, and
/// what the granted host has received before a good request.
fn tried(guest: &str) -> (Vec<Outcome>, Vec<String>) {
    let good = good_host("127.0.0.1:0");
    let canaries = Canaries::start(&["127.0.0.1"], 0);
    let granted = good.authority();
    let mut guest = Hostile::granted(guest, &[&format!("http://{granted}")]);
    let outcomes = guest.attempt(&granted, &canaries.authority());
    let received = good.received();
    canaries.heard_nothing();
    guest.ends_well(&granted);
    (outcomes, received)
}

/// Checks that each request that a host has received is one, for itself and nobody else.
fn are_whole(received: &[String]) {
    for request in received.iter().filter(|request| !request.is_empty()) {
        let (head, _) = request.split_once("\r\n\r\n").unwrap();
        let mut lines = head.lines();
        let line = lines.next().unwrap();
        assert!(line.ends_with(" HTTP/1.1"), "{request}");
        assert_eq!(line.split(' ').count(), 3, "{request}");
        assert!(
            line.split(' ').nth(1).unwrap().starts_with('/'),
            "{request}"
        );
        let hosts = lines
            .clone()
            .filter(|line| line.to_lowercase().starts_with("host:"));
        assert_eq!(hosts.count(), 1, "{request}");
        for name in [
            "proxy-",
            "upgrade",
            "te:",
            "keep-alive",
            "http2-",
            "trailer",
        ] {
            let mut lines = lines.clone();
            assert!(
                !lines.any(|line| line.to_lowercase().starts_with(name)),
                "{request}"
            );
        }
        let lengths = lines.filter(|line| {
            let line = line.to_lowercase();
            line.starts_with("content-length:") || line.starts_with("transfer-encoding:")
        });
        assert!(lengths.count() <= 1, "{request}");
    }
}

#[test]
pub(super) fn credentials_in_urls() {
    let (outcomes, received) = tried("credentials_in_urls");
    for Outcome { tried, came } in outcomes {
        // A name that is empty is none.
        assert!(
            came.is_err() || tried.starts_with(":@"),
            "{tried}: {came:?}"
        );
        let error = came.err().unwrap_or_default();
        assert!(!error.contains("password"), "{tried}: {error}");
    }
    are_whole(&received);
    assert!(
        !received.concat().to_lowercase().contains("authorization"),
        "{received:?}"
    );
}

#[test]
pub(super) fn absolute_form_paths() {
    let (outcomes, received) = tried("absolute_form_paths");
    assert!(!outcomes.is_empty());
    // What is a path, whatever it looks like, is one of the granted host.
    are_whole(&received);
}

#[test]
pub(super) fn line_breaks() {
    let (outcomes, received) = tried("line_breaks");
    assert!(!outcomes.is_empty());
    are_whole(&received);
    for request in &received {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        assert!(
            !head.contains("\nGET ") && !head.contains("\nx: y"),
            "{request}"
        );
        assert!(!body.contains("smuggled"), "{request}");
    }
    for Outcome { tried, came } in outcomes {
        let is_end = ["\\r", "\\n", "\\0"].iter().any(|end| tried.contains(end));
        assert!(
            came.is_err() || !is_end || tried.starts_with("query"),
            "{tried}: {came:?}"
        );
    }
}

#[test]
pub(super) fn smuggling_headers() {
    let (outcomes, received) = tried("smuggling_headers");
    assert!(!outcomes.is_empty());
    are_whole(&received);
    for request in &received {
        let line = request.lines().next().unwrap_or_default();
        assert!(!line.contains("smuggled"), "{request}");
        for elsewhere in ["other.example", "/elsewhere", "DELETE"] {
            assert!(!request.contains(elsewhere), "{request}");
        }
    }
}

#[test]
pub(super) fn huge_urls() {
    let (outcomes, received) = tried("huge_urls");
    for Outcome { tried, came } in outcomes {
        // A path that only leads up is `/`.
        let is_short = tried == "a path that leads up";
        assert!(came.is_err() || is_short, "{tried}: {came:?}");
        let said = came.unwrap_or_else(|error| error);
        assert!(said.len() < 2048, "{tried}: {} bytes", said.len());
    }
    are_whole(&received);
}

#[test]
pub(super) fn huge_headers() {
    let good = good_host("127.0.0.1:0");
    let granted = good.authority();
    let mut guest = Hostile::granted("huge_headers", &[&format!("http://{granted}")]);
    for way in ["a long name", "a long value", "many headers"] {
        let arguments = json!({ "granted": granted, "other": way });
        let result = guest.client.call("guest__attempt", arguments).unwrap();
        // Its call ends, or it is told why.
        let said = result.to_string();
        assert!(
            said.contains("exceeds limit") || said.contains("err"),
            "{way}: {said}"
        );
        assert!(said.len() < 2048, "{way}: {} bytes", said.len());
        assert_eq!(good.received(), [""; 0], "{way}");
    }
    guest.ends_well(&granted);
}

/// Starts a host that goes on and on with each answer, but for a good request.
fn endless_host() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let authority = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                let read = stream.read(&mut buffer).unwrap_or_default();
                let request = String::from_utf8_lossy(&buffer[..read]).into_owned();
                let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                let ok = "HTTP/1.1 200 OK\r\n";
                let chunked = format!("{ok}transfer-encoding: chunked\r\n\r\n");
                let (first, again) = match path.as_str() {
                    "/endless" => (format!("{ok}\r\n"), "x".repeat(4096)),
                    "/chunks" => (chunked, "1;extension=x\r\nx\r\n".repeat(100)),
                    "/zipped" => (
                        format!("{ok}content-encoding: gzip\r\n\r\n"),
                        "\0".repeat(4096),
                    ),
                    "/head" => (ok.to_owned(), "x: yyyyyyyyyyyyyyyy\r\n".repeat(100)),
                    "/trailers" => (
                        format!("{chunked}1\r\nx\r\n0\r\n"),
                        "x: yyyyyyyyyyyyyyyy\r\n".repeat(100),
                    ),
                    "/informational" => (String::new(), "HTTP/1.1 103 Early Hints\r\n\r\n".into()),
                    _ => (
                        format!("{ok}content-length: 10\r\nconnection: close\r\n\r\nit is well"),
                        String::new(),
                    ),
                };
                let mut written = stream.write_all(first.as_bytes());
                while written.is_ok() && !again.is_empty() {
                    written = stream.write_all(again.as_bytes());
                }
            });
        }
    });
    authority
}

#[test]
pub(super) fn endless_responses() {
    let granted = endless_host();
    let more = format!(
        "grants.http = ['http://{granted}']\n\
         limits.http_bytes = '1MiB'\nlimits.timeout = '3s'\n"
    );
    let mut guest = Hostile::start("endless_responses", &more);
    let before = processes::memory(guest.client.pid()).unwrap();
    for (path, expected) in [
        (
            "/endless",
            "`http_bytes` in `[servers.guest.limits]` allows more",
        ),
        ("/chunks", "incomplete HTTP response"),
        (
            "/zipped",
            "`http_bytes` in `[servers.guest.limits]` allows more",
        ),
        ("/head", "has failed"),
        ("/trailers", "incomplete HTTP response"),
        // Each of them is no answer yet.
        ("/informational", "timeout"),
    ] {
        let arguments = json!({ "granted": granted, "other": path });
        let result = guest.client.call("guest__attempt", arguments).unwrap();
        let said = result.to_string();
        assert!(said.contains(expected), "{path}: {said}");
    }
    processes::gives_back(guest.client.pid(), before + KEPT_KIB).unwrap();
    guest.ends_well(&granted);
}

#[test]
pub(super) fn endless_request() {
    let good = good_host("127.0.0.1:0");
    let granted = good.authority();
    let more = format!("grants.http = ['http://{granted}']\nlimits.http_bytes = '1MiB'\n");
    let mut guest = Hostile::start("endless_request", &more);
    for Outcome { tried, came } in guest.attempt(&granted, "") {
        assert!(came.is_err(), "{tried}: {came:?}");
    }
    let most = good
        .received()
        .iter()
        .map(String::len)
        .max()
        .unwrap_or_default();
    assert!(most <= (1 << 20) + 4096, "{most}");
    guest.ends_well(&granted);
}

/// The words of [`all_refused`] are looked for in what the guests of this file are told, too.
#[test]
fn a_refused_request_says_so() {
    let mut guest = Hostile::start("other_plugins_connections", "");
    all_refused(&guest.attempt("127.0.0.1:1", ""));
}
