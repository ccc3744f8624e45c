use super::*;

const LOCAL: [u8; 4] = [192, 168, 1, 7];

fn guard() -> RequestGuard {
    RequestGuard {
        hosts: vec![
            "mcp.example".parse().unwrap(),
            "b.example:8443".parse().unwrap(),
        ],
        origins: vec![
            "https://app.example".parse().unwrap(),
            "vscode-webview://abc".parse().unwrap(),
        ],
        token: None,
    }
}

fn check(
    guard: &RequestGuard,
    uri: &str,
    lines: &[(&'static str, &str)],
) -> Result<(), RequestRefusal> {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        headers.append(*name, value.parse().unwrap());
    }
    guard
        .place(LOCAL.into(), &uri.parse().unwrap(), &headers)
        .and_then(|()| guard.token(LOCAL.into(), &uri.parse().unwrap(), &headers))
}

#[test]
fn hosts() {
    for (host, served) in [
        ("localhost", true),
        ("LOCALHOST:1", true),
        ("127.0.0.1:8080", true),
        ("127.9.9.9", true),
        ("[::1]:80", true),
        ("[::ffff:127.0.0.1]", true),
        ("192.168.1.7:80", true),
        ("192.168.1.8:80", false),
        ("0.0.0.0:80", true),
        ("[::]:80", true),
        ("mcp.example", true),
        ("MCP.example:9", true),
        ("b.example:8443", true),
        ("b.example", false),
        ("b.example:80", false),
        ("x.mcp.example", false),
        ("localhost.evil.example", false),
        ("evil.example", false),
        ("localhost@evil.example", false),
        ("evil@localhost", false),
        ("localhost:808B", false),
        ("localhost:99999", false),
        ("localhost:+80", false),
        ("localhost:", false),
        ("[::1]", true),
        ("", false),
        ("a b", false),
    ] {
        let outcome = check(&guard(), "/mcp", &[("host", host)]);
        assert_eq!(outcome.is_ok(), served, "{host}: {outcome:?}");
    }
    assert!(check(&guard(), "/mcp", &[]).is_err());
    assert!(
        check(
            &guard(),
            "/mcp",
            &[("host", "localhost"), ("host", "evil.example")]
        )
        .is_err()
    );
    assert!(
        check(
            &guard(),
            "http://evil.example/mcp",
            &[("host", "localhost")]
        )
        .is_err()
    );
    assert!(check(&guard(), "http://localhost/mcp", &[("host", "localhost")]).is_ok());
}

#[test]
fn origins() {
    for (host, origin, served) in [
        ("localhost:80", "http://localhost", true),
        ("localhost:1", "http://localhost:1", true),
        ("127.0.0.1:1", "http://127.0.0.1:1", true),
        ("[::1]:1", "http://[::1]:1", true),
        // Another page of this machine is another page.
        ("localhost:1", "http://localhost:2", false),
        ("localhost:1", "http://127.0.0.1:1", false),
        ("mcp.example", "https://mcp.example", false),
        ("mcp.example", "https://app.example", true),
        ("mcp.example", "https://app.example:443", true),
        ("mcp.example", "https://APP.example", true),
        ("mcp.example", "http://app.example", false),
        ("mcp.example", "https://app.example:444", false),
        ("mcp.example", "https://app.example.evil", false),
        ("localhost", "vscode-webview://abc", true),
        ("localhost", "null", false),
        ("localhost", "http://localhost", true),
        ("localhost", "tauri://localhost", false),
        ("localhost", "http://localhost:", false),
        ("localhost", "http://localhost:99999", false),
        ("localhost:8080", "h*atp://localhost:8080", false),
        ("0.0.0.0:1", "http://0.0.0.0:1", false),
        ("localhost", "", false),
        ("localhost", "http://evil.example", false),
        ("localhost", "http://evil@localhost", false),
    ] {
        let outcome = check(&guard(), "/mcp", &[("host", host), ("origin", origin)]);
        assert_eq!(outcome.is_ok(), served, "{origin} to {host}: {outcome:?}");
    }
}

#[test]
fn what_is_no_origin_is_not_said_to_be_one_that_could_be_allowed() {
    for (origin, could_be) in [
        ("https://evil.example", true),
        ("null", false),
        ("?", false),
    ] {
        let told = RequestRefusal::Origin(origin.to_owned()).to_string();
        assert_eq!(told.contains("--allow-origin"), could_be, "{told}");
    }
}

/// Whoever writes the header would otherwise have its reader run something else.
#[test]
fn what_is_suggested_of_a_header_is_a_word_to_a_shell() {
    for (said, hint) in [
        ("evil.example", Some("--allow-host evil.example`")),
        ("evil.example:80", Some("--allow-host evil.example:80`")),
        ("$(reboot)", Some("--allow-host '$(reboot)'`")),
        ("x;reboot", Some("--allow-host 'x;reboot'`")),
        ("$(touch /tmp/x)", None),
        ("a@b", None),
        ("`reboot`", None),
        ("?", None),
        ("", None),
    ] {
        let told = RequestRefusal::Host(said.to_owned()).to_string();
        assert!(told.contains(&format!("host `{said}`")), "{told}");
        match hint {
            Some(hint) => assert!(told.contains(hint), "{told}"),
            None => assert!(!told.contains("--allow-host"), "{told}"),
        }
    }
    let told = RequestRefusal::Origin("https://$(reboot)".to_owned()).to_string();
    assert!(
        told.contains("--allow-origin 'https://$(reboot)'`"),
        "{told}"
    );
}

#[test]
fn tokens() {
    let guard = RequestGuard {
        token: Some(Token::for_test("s3cret")),
        ..RequestGuard::default()
    };
    let ask = |token: &[(&'static str, &str)]| {
        let mut lines = vec![("host", "localhost")];
        lines.extend_from_slice(token);
        check(&guard, "/mcp", &lines)
    };
    assert_eq!(ask(&[]), Err(RequestRefusal::NoToken(None)));
    assert_eq!(
        ask(&[("authorization", "Basic s3cret")]),
        Err(RequestRefusal::NoToken(None))
    );
    for wrong in ["Bearer s3cre", "Bearer s3cret2", "Bearer S3cret", "Bearer "] {
        assert!(ask(&[("authorization", wrong)]).is_err(), "{wrong}");
    }
    assert_eq!(ask(&[("authorization", "Bearer s3cret")]), Ok(()));
    assert_eq!(ask(&[("authorization", "bearer  s3cret")]), Ok(()));
    let twice = [
        ("authorization", "Bearer x"),
        ("authorization", "Bearer s3cret"),
    ];
    assert_eq!(ask(&twice), Err(RequestRefusal::WrongToken(None)));
    // A foreign page is told so, and not how to guess the token.
    let foreign = check(&guard, "/mcp", &[("host", "evil.example")]);
    assert_eq!(foreign, Err(RequestRefusal::Host("evil.example".into())));
}

#[test]
fn a_refusal_says_what_to_send_and_where_it_is() {
    let guard = RequestGuard {
        token: Some(Token::for_test("s3cret")),
        ..RequestGuard::default()
    };
    const LOOPBACK: [u8; 4] = [127, 0, 0, 1];
    let refusal = |local: [u8; 4], lines: &[(&'static str, &str)]| {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        let uri = "/mcp".parse().unwrap();
        guard.token(local.into(), &uri, &headers).unwrap_err()
    };
    let here = ("host", "localhost:1");
    for (local, lines, told) in [
        (LOOPBACK, &[here][..], true),
        (LOOPBACK, &[("host", "[::1]:1")], true),
        (LOCAL, &[here], false),
        // A proxy or a tunnel on this machine, and whoever is behind it.
        (LOOPBACK, &[], false),
        (LOOPBACK, &[("host", "tools.example.com")], false),
        (LOOPBACK, &[here, ("forwarded", "for=1.1.1.1")], false),
        (LOOPBACK, &[here, ("x-forwarded-for", "1.1.1.1")], false),
        (LOOPBACK, &[here, ("x-forwarded-anything", "")], false),
        (LOOPBACK, &[here, ("x-real-ip", "1.1.1.1")], false),
        (LOOPBACK, &[here, ("via", "1.1 proxy")], false),
    ] {
        let refusal = refusal(local, lines);
        let challenge = refusal.challenge().unwrap();
        let challenge = challenge.to_str().unwrap();
        let text = refusal.to_string();
        assert!(text.contains("`Authorization: Bearer TOKEN`"), "{text}");
        assert!(
            challenge.starts_with("Bearer realm=\"dormouse\""),
            "{challenge}"
        );
        assert!(!challenge.contains("resource_metadata"), "{challenge}");
        for said in [challenge, &text] {
            assert_eq!(said.contains("/data/http-token"), told, "{said}");
            assert!(!said.contains("s3cret"), "{said}");
        }
    }
    let odd = RequestRefusal::WrongToken(Some("/a\"b\\c\u{7}ä".into()));
    let challenge = odd.challenge().unwrap();
    assert!(
        challenge.to_str().unwrap().ends_with("/a?b?c??\""),
        "{challenge:?}"
    );
}
