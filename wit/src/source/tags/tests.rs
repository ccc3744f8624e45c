use serde_json::json;

use super::*;
use crate::error::Severity;

fn parse(text: &str) -> Doc {
    Doc::parse(&wit_parser::Docs {
        contents: Some(text.to_owned()),
    })
}

fn tags(doc: &Doc) -> Vec<(&str, &str)> {
    doc.tags
        .iter()
        .map(|tag| (tag.name.as_str(), tag.text.as_str()))
        .collect()
}

#[test]
fn prose_ends_at_the_first_tag() {
    let doc =
        parse("Reads a file,\nall of it.\n@title Read File\n@readonly\n@param path where it\nis\n");
    assert_eq!(doc.text.as_deref(), Some("Reads a file, all of it."));
    assert_eq!(
        tags(&doc),
        [
            ("title", "Read File"),
            ("readonly", ""),
            ("param", "path where it is")
        ]
    );
}

#[test]
fn an_at_sign_elsewhere_is_prose() {
    let doc = parse("Mail to a@b.c or @ someone.\n@2 is no tag\n```\n@decorator\n```\n");
    assert_eq!(
        doc.text.as_deref(),
        Some("Mail to a@b.c or @ someone. @2 is no tag\n```\n@decorator\n```")
    );
    assert!(doc.tags.is_empty());
}

#[test]
fn paragraphs_are_unwrapped_and_blocks_kept() {
    let doc =
        parse("One\ntwo.\n\nThree:\n- a\n- b\n1. c\n\nhard\\\nbreak\n\n```\nx\n  y\n```\nend");
    assert_eq!(
        doc.text.as_deref(),
        Some("One two.\n\nThree:\n- a\n- b\n1. c\n\nhard\nbreak\n\n```\nx\n  y\n```\nend")
    );
}

#[test]
fn unknown_and_double_tags_are_found() {
    let doc = parse("@nmae x\n@name a\n@name b\n@grant 1\n@grant 2");
    let mut findings = Vec::new();
    let kept = doc.known("f", &["name"], &["grant"], &mut findings);
    let kept: Vec<_> = kept.iter().map(|tag| tag.text.as_str()).collect();
    assert_eq!(kept, ["a", "1", "2"]);
    let messages: Vec<_> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        [
            "error: f: there is no tag `@nmae` here\nhint: did you mean `@name`? the tags here are `@grant`, `@name`",
            "error: f: `@name` is there twice",
        ]
    );
}

#[test]
fn tags_of_resources_want_a_resource() {
    let doc = parse("@subscribe");
    let mut findings = Vec::new();
    assert!(
        doc.known("f", &["name", "resource"], &[], &mut findings)
            .is_empty()
    );
    assert_eq!(
        findings[0].hint.as_deref(),
        Some("`@subscribe` is for a resource: add `@resource URI`")
    );
}

#[test]
fn grants() {
    let ask = |text: &str| {
        let mut findings = Vec::new();
        let tag = Tag {
            name: "grant".into(),
            text: text.into(),
        };
        let request = grant(&tag, "world w", &mut findings);
        let is_wrong = findings.iter().any(|one| one.severity == Severity::Error);
        assert_eq!(request.is_none(), is_wrong, "{text}");
        request.map(|request| serde_json::to_value(request).unwrap())
    };
    assert_eq!(ask("fs ro"), Some(json!({"kind": "fs", "write": false})));
    assert_eq!(
        ask("fs rw to save  it"),
        Some(json!({"kind": "fs", "write": true, "why": "to save  it"}))
    );
    assert_eq!(
        ask("env TZ the zone"),
        Some(json!({"kind": "env", "name": "TZ", "why": "the zone"}))
    );
    assert_eq!(
        ask("http https://a.example:8443/ the API"),
        Some(json!({"kind": "http", "origin": "https://a.example:8443", "why": "the API"}))
    );
    for (request, origin) in [
        ("https://a.example/v1 x", "https://a.example/v1"),
        ("http://localhost:8080/ x", "http://localhost:8080"),
        ("http://127.0.0.1 x", "http://127.0.0.1"),
        ("http://[::1]:9/ x", "http://[::1]:9"),
        (
            "GET,POST  https://*.a.example/v1/  x",
            "GET,POST https://*.a.example/v1/",
        ),
        ("https://* x", "https://*"),
        (
            "https://b\u{fc}cher.example x",
            "https://b\u{fc}cher.example",
        ),
    ] {
        assert_eq!(
            ask(&format!("http {request}")),
            Some(json!({"kind": "http", "origin": origin, "why": "x"}))
        );
    }
    for wrong in [
        "",
        "fs",
        "fs wr",
        "env",
        "env A=b",
        "http",
        "http a.example",
        "http ftp://a",
        "http https://",
        "http https://a/path?query",
        "http https://a/path#fragment",
        "http https://a/*",
        "http https://a/../b",
        "http https://a/%2E%2e/b",
        "http https://a/b\\c",
        "http https://u@a",
        "http https://u:p@a",
        "http https://a:",
        "http https://a:x",
        "http https://a:65536",
        "http https://a..b",
        "http https://a*.b",
        "http https://*.*.b",
        "http https://*.1.2.3.4",
        "http https://1.2.3",
        "http https://[::1",
        "http https://[::1]x",
        "http https://[a]",
        "http get https://a",
        "http GET,,POST https://a",
        "http GET",
        "http GET POST https://a",
        "net x",
    ] {
        assert_eq!(ask(wrong), None, "{wrong}");
    }
}

#[test]
fn switches_and_json() {
    let mut findings = Vec::new();
    let tag = |name: &str, text: &str| Tag {
        name: name.into(),
        text: text.into(),
    };
    assert_eq!(switch(&tag("readonly", ""), "f", &mut findings), Some(true));
    assert_eq!(
        switch(&tag("readonly", "true"), "f", &mut findings),
        Some(true)
    );
    assert_eq!(
        switch(&tag("readonly", "false"), "f", &mut findings),
        Some(false)
    );
    assert_eq!(
        json(&tag("default", "[1, \"a\"]"), "f", &mut findings),
        Some(json!([1, "a"]))
    );
    assert!(findings.is_empty());
    assert_eq!(switch(&tag("readonly", "no"), "f", &mut findings), None);
    assert_eq!(json(&tag("default", "name"), "f", &mut findings), None);
    assert_eq!(findings.len(), 2);
}
