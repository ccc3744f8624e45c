//! Worlds: which one is taken, its own tags, and what one says that offers nothing.

use super::*;

#[test]
fn a_world_that_offers_nothing_is_told_what_it_has_instead() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.wit");
    let nothing = |wit: &str| {
        std::fs::write(&path, wit).unwrap();
        let nothing = from_wit(&[&path], None).unwrap().nothing;
        nothing.map(|finding| finding.to_string())
    };
    for (wit, message, hint) in [
        (
            "package a:b; world w {}",
            "exports nothing",
            "each is a tool",
        ),
        (
            "package dormouse:greeter; interface i { f: func(); } world w { export i; }",
            "`dormouse:greeter/i` is in the namespace `dormouse`",
            "like `example:greeter`",
        ),
        (
            "package a:b; world w { export dormouse:plugin/prompts@0.1.0; }",
            "what `dormouse:plugin/prompts@0.1.0` is there for is not declared",
            "dormouse_sdk::adapter!",
        ),
        (
            "package a:b; interface i { resource r; f: func(x: r); } world w { export i; }",
            "there is no tool in what it exports, `a:b/i`",
            "tells why",
        ),
        (
            "package wasi:cli@0.2.6; interface run { run: func() -> result; } world w { export run; }",
            "it is a command",
            "crate-type",
        ),
        (
            "package wasi:http@0.2.6; interface handler { handle: func(); } world w { export handler; }",
            "`wasi:http/handler@0.2.6` is for a host of another kind",
            "functions of your own",
        ),
    ] {
        let told = nothing(wit).unwrap();
        let (first, second) = told.split_once("\nhint: ").unwrap();
        assert!(first.contains(message) && second.contains(hint), "{told}");
    }
    for wit in [
        "package a:b; world w { export f: func(); }",
        // What an upstream offers is declared nowhere.
        "package a:b; world w { import dormouse:plugin/upstream@0.1.0; export dormouse:plugin/adapter@0.1.0; }",
    ] {
        assert_eq!(nothing(wit), None, "{wit}");
    }
}

#[test]
fn worlds_are_chosen_by_name_or_for_lack_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.wit");
    std::fs::write(
        &path,
        "package a:b; world one { export f: func(); } world two { export g: func(); }",
    )
    .unwrap();
    let error = from_wit(&[&path], None).unwrap_err().to_string();
    assert!(error.contains("there are `one`, `two`"), "{error}");
    let error = from_wit(&[&path], Some("onne")).unwrap_err().to_string();
    assert!(
        error.contains("there is no `onne` among `one`, `two`"),
        "{error}"
    );
    assert_eq!(
        names(&from_wit(&[&path], Some("two")).unwrap().declaration),
        ["g"]
    );
    let error = from_wit(&[&path], Some("three")).unwrap_err().to_string();
    assert!(error.contains("three"), "{error}");
}

#[test]
fn the_world_speaks_for_the_plugin() {
    let (declaration, findings) = declare(
        "package a:b;
        /// Knows the
        /// time.
        /// @name time
        /// @version 1.2.3
        /// @title The Time
        /// @instance per-session
        /// @grant env TZ the zone to
        /// start from
        /// @grant fs ro
        /// @grant http https://time.example
        /// @grant http GET,HEAD https://*.example:8443/v1/
        world w { export f: func(); }",
    );
    assert_eq!(findings, []);
    let mut json = serde_json::to_value(&declaration).unwrap();
    json.as_object_mut().unwrap().remove("tools");
    assert_eq!(
        json,
        json!({
            "format": 1, "mapping": 1, "name": "time", "version": "1.2.3", "title": "The Time",
            "description": "Knows the time.", "instance": "per-session",
            "grants": [
                {"kind": "env", "name": "TZ", "why": "the zone to start from"},
                {"kind": "fs", "write": false},
                {"kind": "http", "origin": "https://time.example"},
                {"kind": "http", "origin": "GET,HEAD https://*.example:8443/v1/"},
            ],
        })
    );
    let (declaration, findings) = declare(
        "package a:b;\n/// @instance forever\n/// @license MIT\nworld w { export f: func(); }",
    );
    assert_eq!(names(&declaration), ["f"]);
    assert_eq!(findings.len(), 2, "{findings:?}");
    assert!(
        findings
            .iter()
            .all(|finding| finding.severity == Severity::Error && finding.item == "world w")
    );
}

#[test]
fn a_world_asks_for_settings_and_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.wit");
    std::fs::write(
        &path,
        "package a:b;
        /// Issues.
        /// @setting depth {\"format\": \"number\",
        ///   \"default\": 3}
        /// @secret token {\"hosts\": [\"a.example\"], \"header\": \"Authorization\"}
        /// @setting depth
        world w { export f: func(); }",
    )
    .unwrap();
    let declared = from_wit(&[&path], None).unwrap();
    let grants = serde_json::to_value(&declared.declaration.grants).unwrap();
    assert_eq!(
        grants,
        json!([
            { "kind": "setting", "name": "depth", "format": "number", "default": 3 },
            { "kind": "secret", "name": "token", "hosts": ["a.example"], "header": "Authorization" },
        ])
    );
    let told: Vec<_> = declared.findings.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["error: world w: `@setting depth` is there twice"]);
}
