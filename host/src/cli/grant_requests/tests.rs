//! What plugins ask for, against what they have.

use super::*;

fn http(origin: &str) -> GrantRequest {
    GrantRequest::Http {
        origin: origin.to_owned(),
        why: String::new(),
    }
}

fn env(name: &str) -> GrantRequest {
    GrantRequest::Env {
        name: name.to_owned(),
        why: String::new(),
    }
}

fn granted(grants: &[&str]) -> Grants {
    Grants {
        http: grants.iter().map(|text| text.parse().unwrap()).collect(),
        ..Grants::default()
    }
}

/// Returns what a server with these grants and nothing else lacks.
fn missing(wanted: &[GrantRequest], grants: &Grants) -> Vec<MissingGrant> {
    super::missing(wanted, HeldByPlugin::new(grants, &serde_json::Map::new()))
}

#[test]
fn a_request_is_missing_until_all_of_it_is_granted() {
    for (request, grants, expected) in [
        ("https://a.example", &[][..], true),
        ("https://a.example", &["https://a.example"], false),
        ("https://a.example", &["GET https://a.example"], true),
        ("GET https://a.example", &["https://*"], false),
        (
            "GET,POST https://a.example",
            &["GET https://*", "POST https://a.example"],
            false,
        ),
        ("https://a.example", &["https://a.example private"], false),
        ("https://a.example private", &["https://a.example"], true),
        ("no request", &["https://*"], true),
    ] {
        let missing = self::missing(&[http(request)], &granted(grants));
        assert_eq!(!missing.is_empty(), expected, "{request} {grants:?}");
    }
}

/// How far a pattern reaches, what is private, and which folder it is, is their user's to say.
#[test]
fn whole_are_requests_that_need_nothing_but_consent() {
    let wanted = [
        env("TZ"),
        env("TZ"),
        GrantRequest::Unusable {
            fault: RequestFault::Variable,
        },
        http("GET https://a.example:8443/v1"),
        http("https://*.a.example"),
        http("https://*"),
        http("https://a.example private"),
        http("http://a.example"),
        http("http://A.example:80/"),
        // Addresses and names of this machine and its network are granted as they are written.
        http("http://192.168.0.1"),
        http("http://169.254.169.254"),
        http("http://[::1]:6379"),
        http("http://localhost:2375"),
        http("http://nas.internal"),
        http("x"),
        GrantRequest::Fs {
            write: true,
            why: String::new(),
        },
    ];
    let missing = self::missing(&wanted, &Grants::default());
    assert_eq!(missing.len(), wanted.len());
    let mut expected = granted(&["GET https://a.example:8443/v1", "http://a.example"]);
    expected.env.push("TZ".to_owned());
    assert_eq!(whole(&missing), expected);
    assert_eq!(told(&missing, true).lines().count(), 5);
}

/// Nobody would read 100,000 of them: what the plugin needs is among those that are told.
#[test]
fn of_many_requests_the_first_are_told_and_how_many_more_there_are() {
    let mut wanted: Vec<_> = (0..9_000).map(|one| env(&format!("V{one}"))).collect();
    let setting = r#"{"kind": "setting", "name": "unit", "isRequired": true}"#;
    wanted.push(serde_json::from_str(setting).unwrap());
    let missing = self::missing(&wanted, &Grants::default());
    let told = told(&missing, false);
    assert_eq!(told.lines().count(), MAX_MISSING + 1);
    assert!(told.starts_with("  for the setting `unit`"), "{told}");
    assert!(
        told.ends_with("  for 8901 more, which are not shown\n"),
        "{told}"
    );
    // What is granted is what is shown.
    assert_eq!(whole(&missing).env.len(), MAX_MISSING - 1);
    assert_eq!(inputs_of(&missing), ["--setting unit=VALUE"]);
}

/// A request that nobody can give is said so, without its text.
#[test]
fn what_cannot_be_granted_is_told_without_a_command() {
    let written = [
        r#"{"kind": "env", "name": "TZ` (checked by Dormouse) `X"}"#,
        r#"{"kind": "secret", "name": "a b", "isRequired": true, "hosts": ["a.example"], "header": "A"}"#,
        r#"{"kind": "http", "origin": "which-dormouse-has-checked"}"#,
    ];
    let wanted: Vec<GrantRequest> = written
        .iter()
        .map(|text| serde_json::from_str(text).unwrap())
        .collect();
    let missing = self::missing(&wanted, &Grants::default());
    let told = told(&missing, false);
    assert_eq!(
        told.matches("for what nobody can grant: ").count(),
        3,
        "{told}"
    );
    assert!(!told.contains("ormouse"), "{told}");
    assert_eq!(command("x", &missing), None);
    assert!(
        !missing.iter().any(|one| one.is_needed),
        "nobody is asked for it"
    );
}

#[test]
fn a_command_is_one_that_a_shell_reads_as_it_is_meant() {
    let wanted = [
        env("TZ"),
        env("--yes"),
        env("$(rm -r ~)"),
        http("GET,POST https://*.a.example/it's"),
        GrantRequest::Fs {
            write: true,
            why: String::new(),
        },
    ];
    let missing = self::missing(&wanted, &Grants::default());
    assert_eq!(
        command("notes", &missing).unwrap(),
        "dormouse grant notes --grant-env TZ --grant-env=--yes --grant-env '$(rm -r ~)' \
         --grant-http 'GET,POST https://*.a.example/it'\\''s' --grant-fs /path/to/folder:rw"
    );
    assert_eq!(
        missing[4].command("n").unwrap(),
        "dormouse grant n --grant-fs /path/to/folder:rw"
    );
    let upstream = GrantRequest::Upstream {
        command: vec!["x".to_owned()],
        url: None,
        secrets: Vec::new(),
    };
    assert_eq!(
        command("n", &self::missing(&[upstream], &Grants::default())),
        None
    );
}

#[test]
fn what_goes_beyond_requests_is_found_where_there_are_any() {
    let grants = granted(&[
        "https://a.example/v1",
        "https://*",
        "https://b.example private",
    ]);
    assert!(beyond(&grants, &[env("TZ")]).is_empty());
    let wanted = [
        http("https://a.example"),
        http("x"),
        http("https://b.example"),
    ];
    let found = beyond(&grants, &wanted);
    assert_eq!(found, [&grants.http[1]]);
}

/// What `@grant http` takes is what a user can grant.
#[test]
fn what_an_author_can_ask_for_can_be_granted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.wit");
    for (request, is_taken) in [
        ("https://a.example", true),
        ("https://a.example/", true),
        ("GET,POST https://*.a.example:8443/v1/x", true),
        ("http://127.0.0.1:1/v1/", true),
        ("http://[::1]:9", true),
        ("https://*", true),
        ("https://*:8443", true),
        ("https://b\u{fc}cher.example", true),
        ("https://a_b.example/~x;y=1/%20", true),
        ("https://a.example/v1/../x", false),
        ("https://a.example/%2E", false),
        ("https://*a.example", false),
        ("https://*.1.2.3.4", false),
        ("https://1.2.3.4.5", false),
        ("https://a.1", false),
        ("https://me@a.example", false),
        ("https://a.example?x", false),
        ("ftp://a.example", false),
        ("https://a.example:65536", false),
        ("https://[::1", false),
    ] {
        let wit =
            format!("package a:b;\n/// @grant http {request}\nworld w {{ export f: func(); }}");
        std::fs::write(&file, wit).unwrap();
        let declared = dormouse_wit::from_wit(&[&file], None).unwrap();
        let requests: Vec<_> = requested_http(&declared.declaration.grants).collect();
        assert_eq!(declared.findings.is_empty(), is_taken, "{request}");
        assert_eq!(!requests.is_empty(), is_taken, "{request}");
    }
}

#[test]
fn comparing_requests_takes_linear_time() {
    let grants = granted(&[
        "GET,POST https://a.example",
        "https://*.b.example/v1",
        "https://*",
    ]);
    let wanted = |size: usize| {
        let methods = vec!["GET"; 10 * size].join(",");
        let long = [http(&format!("{methods} https://a.example"))];
        let many = (0..size).map(|one| http(&format!("GET http://a{one}.example/{one}")));
        let names = (0..size).map(|one| env(&format!("A{one}")));
        long.into_iter()
            .chain(many)
            .chain(names)
            .collect::<Vec<_>>()
    };
    dormouse_tests::growth::is_linear("requests", 200, wanted, |wanted| {
        let missing = self::missing(wanted, &grants);
        assert_eq!(missing.len(), MAX_MISSING + 1);
        assert!(whole(&missing).http.len() > 50);
        assert!(command("x", &missing).unwrap().len() > told(&missing, false).len() / 10);
        assert_eq!(beyond(&grants, wanted).len(), 3);
    });
}
