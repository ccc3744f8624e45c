//! Secrets of launches, and launches as they are shown.

use super::*;

fn redacted(launch: &Launch, said: &str) -> String {
    let mut hidden = HiddenTextsBuilder::default();
    launch.add_secrets(&mut hidden);
    hidden.build().redact(said)
}

#[test]
fn what_was_filled_in_and_what_is_written_out_is_hidden() {
    let http = Http {
        url: "https://user:pass-word@e.com/mcp/filled-in/x?key=a-value&flag&mode=http".into(),
        written: Some(
            "https://user:pass-word@e.com/mcp/${TOKEN}/x?key=${KEY}&flag&mode=http".into(),
        ),
        filled_in: vec![Secret::new("filled-in"), Secret::new("a-value")],
        headers: [("X-Key".to_owned(), Secret::new("Bearer in-a-header"))].into(),
        ..Http::default()
    };
    let said = "user pass-word filled-in a-value flag http in-a-header mcp";
    let launch = Launch::Http(http.clone());
    assert_eq!(redacted(&launch, said), "user … … … flag http … mcp");
    assert_eq!(
        http.shown(),
        "https://…@e.com/mcp/${TOKEN}/x?key=${KEY}&…&mode=…"
    );
    assert!(!format!("{http:?}").contains("filled-in"));

    let stdio = Launch::Stdio(Stdio {
        command: "/opt/bin/run".into(),
        args: ["--token", "in-an-argument", "--mode", "fast"]
            .map(str::to_owned)
            .into(),
        env: [
            ("DATABASE", "postgres://me:in-a-url@db/x"),
            ("OTHER", "in-a-variable"),
            ("NODE_ENV", "production"),
            ("API_KEY", "shortsecret"),
        ]
        .map(|(name, value)| (name.to_owned(), Secret::new(value)))
        .into(),
        filled_in: vec![Secret::new("was-filled-in")],
        ..Stdio::default()
    });
    let said = "in-an-argument in-a-url in-a-variable production shortsecret was-filled-in";
    assert_eq!(redacted(&stdio, said), "… … … production … …");
    assert_eq!(stdio.to_string(), "/opt/bin/run --token … --mode fast");
    assert_eq!(stdio.without_arguments(), "run");
    let words = Launch::Stdio(Stdio {
        command: "sh".into(),
        args: ["-c", "echo it's \"so\"", ""].map(String::from).into(),
        ..Stdio::default()
    });
    assert_eq!(words.to_string(), r#"sh -c 'echo it'\''s "so"' ''"#);
    // What a variable with a proxy without a scheme was filled in as.
    for (name, value) in [
        ("HTTPS_PROXY", "me:in-a-proxy@h:1"),
        ("ALL_PROXY", "//me:in-a-proxy@h"),
    ] {
        let secret = environment::secret_in(name, value).unwrap();
        let launch = Launch::Http(Http {
            url: "https://e.com/".into(),
            filled_in: vec![Secret::new(secret)],
            ..Http::default()
        });
        assert_eq!(redacted(&launch, "me in-a-proxy"), "me …", "{name}");
    }
    let line = Launch::Stdio(Stdio {
        command: "npx mcp-remote https://e.com/mcp --api-key in-the-line".into(),
        ..Stdio::default()
    });
    let expected = "npx mcp-remote https://e.com/mcp --api-key …";
    assert_eq!(line.to_string(), expected);
    assert_eq!(redacted(&line, "in-the-line"), "…");
    assert_eq!(line.without_arguments(), "npx");
    assert_eq!(Launch::Http(http).without_arguments(), "e.com");
    assert!(!format!("{stdio:?}").contains("in-an-argument"));
}

#[test]
fn parts_of_a_path_with_digits_are_not_shown() {
    for (url, shown) in [
        ("https://e.com/s/hunter2hunter/mcp", "https://e.com/s/…/mcp"),
        ("https://e.com/k3j4h5g6f7d8s9a0/", "https://e.com/…/"),
        ("https://e.com/v2beta1/mcp", "https://e.com/v2beta1/mcp"),
        (
            "https://e.com/2025-11-25/mcp",
            "https://e.com/2025-11-25/mcp",
        ),
        ("https://e.com/projects/mcp", "https://e.com/projects/mcp"),
    ] {
        let http = Http {
            url: url.into(),
            ..Http::default()
        };
        let launch = Launch::Http(http);
        let said = redacted(&launch, &format!("`{url}` cannot be reached"));
        assert_eq!(said, format!("`{shown}` cannot be reached"));
    }
}

#[test]
fn values_are_judged_by_their_names_first() {
    for (url, said, shown) in [
        ("http://e.com/?api_key=123456789012", "123456789012", "…"),
        ("http://e.com/?token=hunterhunter", "hunterhunter", "…"),
        ("http://e.com/?key=SECRETPW", "SECRETPW", "…"),
        ("http://e.com/?key=/abcdef/ghi", "/abcdef/ghi", "…"),
        ("http://e.com/x;pin=4711", "4711", "…"),
        (
            "http://e.com/?mode=http&n=12345",
            "http 12345",
            "http 12345",
        ),
        ("http://e.com/?q=a-value-1", "a-value-1", "…"),
    ] {
        let http = Http {
            url: url.into(),
            ..Http::default()
        };
        assert_eq!(redacted(&Launch::Http(http), said), shown, "{url}");
    }
    let headers = [
        ("X-MCP-Toolsets", "repos,issues"),
        ("X-MCP-Readonly", "true"),
        ("X-Access", "read"),
        ("Accept", "application/json, text/event-stream"),
        ("X-Api-Key", "letmein"),
        ("X-Tenant", "t-4f8a"),
    ];
    let http = Http {
        url: "http://e.com/".into(),
        headers: headers
            .map(|(name, value)| (name.to_owned(), Secret::new(value)))
            .into(),
        ..Http::default()
    };
    let said = "repos,issues true read-only application/json, text/event-stream: letmein t-4f8a";
    assert_eq!(
        redacted(&Launch::Http(http), said),
        "repos,issues true read-only application/json, text/event-stream: … …"
    );
}
