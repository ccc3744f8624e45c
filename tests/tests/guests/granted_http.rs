//! Requests of HTTP that are granted reach their hosts, and no others do: canaries beside them
//! receive no byte.

use dormouse_tests::recording_host::{RecordingHost, http};

use super::*;

fn with_grants(grants: &[String], more: &str) -> Host {
    let grants = json!(grants);
    Host::with_more(
        "http",
        &format!("[servers.http.grants]\nhttp = {grants}\n{more}"),
    )
}

fn request(method: &str, authority: &str, path: &str, headers: &[&str], body: &str) -> Value {
    json!({
        "method": method, "scheme": "http", "authority": authority, "path": path,
        "headers": headers, "body": body,
    })
}

fn get(authority: &str, path: &str) -> Value {
    request("GET", authority, path, &[], "")
}

#[test]
fn a_granted_host_gets_the_request_and_the_guest_its_response() {
    let host = RecordingHost::answering("it is well").unwrap();
    let authority = host.authority();
    let mut guest = with_grants(&[format!("http://{authority}")], "");
    let long = "long".repeat(50_000);
    for (method, headers, body) in [
        (
            "GET",
            &["accept: text/html", "authorization: Bearer mine"][..],
            "",
        ),
        ("POST", &["content-type: text/plain"], "said"),
        ("POST", &["content-length: 200000"], long.as_str()),
        ("PROPFIND", &[], ""),
    ] {
        let sent = request(method, &authority, "/a/b?c=d%20e", headers, body);
        let text = guest.client.text("http__send", sent).unwrap();
        assert!(text.starts_with("200\n"), "{text}");
        assert!(text.contains("content-type: text/plain\n"), "{text}");
        assert!(text.ends_with("\n\nit is well\n10"), "{text}");
        let got = host.received().pop().unwrap().to_lowercase();
        let line = format!("{method} /a/b?c=d%20e http/1.1\r\n").to_lowercase();
        assert!(got.starts_with(&line), "{got}");
        assert_eq!(got.matches("\r\nhost: ").count(), 1, "{got}");
        assert!(got.contains(&format!("\r\nhost: {authority}\r\n")), "{got}");
        for header in headers {
            assert!(
                got.contains(&format!("\r\n{}\r\n", header.to_lowercase())),
                "{got}"
            );
        }
        match body {
            // What has no body says nothing of one.
            "" if method == "GET" => assert!(got.ends_with("\r\n\r\n"), "{got}"),
            "" => {}
            body => assert!(got.contains(body), "{got}"),
        }
    }
    assert_eq!(host.received().len(), 4);
    guest.stays_well();
}

/// Ways in which a guest may try to reach what it is not granted.
#[test]
fn what_is_not_granted_receives_no_byte() {
    let granted = RecordingHost::start(|request| match request.contains("GET /v1/away") {
        true => {
            let canary = request.rsplit("to=").next().unwrap_or_default();
            let canary = canary.split(' ').next().unwrap_or_default();
            http("302 Found", &format!("location: http://{canary}/\r\n"), "")
        }
        false => http("200 OK", "", "fine"),
    })
    .unwrap();
    let canary = RecordingHost::answering("the canary has heard you").unwrap();
    let (good, port) = (granted.authority(), canary.port());
    let mut guest = with_grants(
        &[format!("GET http://{good}/v1"), format!("http://*:{port}")],
        "",
    );
    let at = |host: &str| format!("{host}:{port}");
    for authority in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f.0.0.1",
        "017700000001",
        "0.0.0.0",
        "0",
        "localhost",
        "LOCALHOST.",
        "x.localhost",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "169.254.169.254",
        "10.0.0.1",
        "192.168.0.1",
        "100.64.0.1",
        "[fe80::1]",
        "[fd00::1]",
    ] {
        let error = guest.client.error("http__send", get(&at(authority), "/"));
        let error = error.unwrap();
        assert!(error.contains("was refused: "), "{authority}: {error}");
    }
    for (what, sent) in [
        ("another method", request("POST", &good, "/v1/x", &[], "")),
        ("another path", get(&good, "/v2")),
        ("a path that leads up", get(&good, "/v1/../v2")),
        ("an escaped one", get(&good, "/v1/%2e%2e/v2")),
        ("an escaped slash", get(&good, "/v1/..%2fv2")),
        ("a parameter of a segment", get(&good, "/v1/..;/v2")),
        ("a user name", get(&format!("me:secret@{good}"), "/v1")),
        (
            "a host behind one",
            get(&format!("{good}@127.0.0.1:{port}"), "/v1"),
        ),
        (
            "another host in the path",
            get(&good, &format!("http://127.0.0.1:{port}/v1")),
        ),
        (
            "another line in the path",
            get(&good, "/v1 HTTP/1.1\r\nx: y"),
        ),
        (
            "another line in a header",
            request("GET", &good, "/v1", &["x: y\r\nz: z"], ""),
        ),
        (
            "another host",
            request("GET", &good, "/v1", &["host: other.example"], ""),
        ),
        (
            "a connection's header",
            request("GET", &good, "/v1", &["connection: upgrade"], ""),
        ),
        (
            "a second length",
            request("GET", &good, "/v1", &["transfer-encoding: chunked"], ""),
        ),
        (
            "two lengths",
            request(
                "GET",
                &good,
                "/v1",
                &["content-length: 1", "content-length: 2"],
                "x",
            ),
        ),
        (
            "a wrong length",
            request("GET", &good, "/v1", &["content-length: 5"], "xx"),
        ),
        (
            "a proxy's header",
            request("GET", &good, "/v1", &["proxy-authorization: Basic x"], ""),
        ),
        ("a tunnel", request("CONNECT", &good, "/v1", &[], "")),
        (
            "a method with a line",
            request("GET / HTTP/1.1\r\nx", &good, "/v1", &[], ""),
        ),
        ("another scheme", {
            let mut sent = get(&good, "/v1");
            sent["scheme"] = json!("ftp");
            sent
        }),
        ("another port", get(&format!("127.0.0.1:{}", port ^ 1), "/")),
        (
            "a huge URL",
            get(&good, &format!("/v1/{}", "x".repeat(40_000))),
        ),
    ] {
        let error = guest.client.error("http__send", sent);
        assert!(error.is_ok(), "{what} was not refused");
    }
    assert_eq!(canary.received(), [""; 0]);
    let heard = granted.received();
    assert!(
        heard
            .iter()
            .all(|got| got.is_empty() || got.contains("content-length: 5")),
        "{heard:?}"
    );
    // A redirect is told, and followed by nobody but the guest.
    let away = format!("/v1/away?to=127.0.0.1:{port}");
    let told = guest.client.text("http__send", get(&good, &away)).unwrap();
    assert!(told.starts_with("302\n"), "{told}");
    assert_eq!(canary.received(), [""; 0]);
    let fine = guest
        .client
        .text("http__send", get(&good, "/v1/x"))
        .unwrap();
    assert!(fine.ends_with("\n\nfine\n4"), "{fine}");
    guest.stays_well();
}

#[test]
fn a_refusal_says_which_command_would_allow_it() {
    let canary = RecordingHost::answering("heard").unwrap();
    let mut guest = Host::with("http");
    let authority = canary.authority();
    let refused = guest.client.error("http__send", get(&authority, "/"));
    let refused = refused.unwrap();
    let command = format!("dormouse grant http --grant-http http://{authority}");
    assert!(refused.contains(&command), "{refused}");
    assert_eq!(canary.received(), [""; 0]);
    guest.stays_well();
}

#[test]
fn responses_have_limits() {
    let endless = RecordingHost::start(|request| {
        let many = |line: &str| line.repeat((1 << 20) / line.len());
        match request {
            _ if request.starts_with("GET /body") => http("200 OK", "", &many("x")),
            _ if request.starts_with("GET /zip") => {
                http("200 OK", "content-encoding: gzip\r\n", &many("x"))
            }
            _ if request.starts_with("GET /head") => http("200 OK", &many("x: yyyyyyyyy\r\n"), ""),
            _ if request.starts_with("GET /short") => http("200 OK", "", "short"),
            _ => b"this is no HTTP\r\n\r\n".to_vec(),
        }
    });
    let endless = endless.unwrap();
    let authority = endless.authority();
    let limits = "[servers.http.limits]\nhttp_bytes = \"100KiB\"\nhttp_requests = 3";
    let mut guest = with_grants(&[format!("http://{authority}")], limits);
    let before = processes::memory(guest.client.pid()).unwrap();
    for (path, expected) in [
        (
            "/body",
            "`http_bytes` in `[servers.http.limits]` allows more",
        ),
        (
            "/zip",
            "`http_bytes` in `[servers.http.limits]` allows more",
        ),
        ("/head", ""),
        ("/none", "has failed"),
    ] {
        let error = guest.client.error("http__send", get(&authority, path));
        let error = error.unwrap();
        assert!(error.contains(expected), "{path}: {error}");
    }
    let short = guest.client.text("http__send", get(&authority, "/short"));
    assert!(short.unwrap().ends_with("\n\nshort\n5"));
    processes::gives_back(guest.client.pid(), before + (16 << 10)).unwrap();
    guest.stays_well();
}

/// Plugins with the HTTP clients that authors use work as they are.
#[test]
fn clients_of_http_that_authors_use_reach_what_is_granted() {
    let host = RecordingHost::answering("it is well").unwrap();
    let url = format!("http://{}/x?y=z", host.authority());
    for guest in ["wstd", "waki"] {
        let grants = format!(
            "[servers.{guest}.grants]\nhttp = [\"http://{}\"]",
            host.authority()
        );
        let mut started = Host::with_more(guest, &grants);
        for body in ["said", &"long".repeat(50_000)] {
            let fetch = json!({ "url": url, "body": body });
            let answered = started.client.text(&format!("{guest}__fetch"), fetch);
            assert_eq!(answered.unwrap(), "it is well", "{guest}");
            let got = host.received().pop().unwrap();
            assert!(
                got.starts_with("POST /x?y=z HTTP/1.1\r\n"),
                "{guest}: {got}"
            );
        }
        started.stays_well();
    }
}
