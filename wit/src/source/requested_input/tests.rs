use serde_json::json;

use super::*;
use crate::source::{secret::secret, setting::setting};

/// Returns what a tag requests, and the findings on it.
fn read(name: &str, text: &str) -> (Option<Value>, String) {
    let tag = Tag {
        name: name.to_owned(),
        text: text.to_owned(),
    };
    let mut findings = Vec::new();
    let request = match name {
        "setting" => setting(&tag, "world w", &mut findings).map(GrantRequest::Setting),
        _ => secret(&tag, "world w", &mut findings).map(GrantRequest::Secret),
    };
    let told: Vec<_> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(request.is_none(), !told.is_empty(), "{text}: {told:?}");
    let json = request.map(|request| serde_json::to_value(request).unwrap());
    (json, told.join("\n"))
}

#[test]
fn settings_are_inputs_of_the_registry() {
    for (text, json) in [
        ("unit", json!({ "format": "string" })),
        (
            "unit {\"description\": \"of lengths\", \"isRequired\": true, \
             \"choices\": [\"m\", \"ft\"], \"default\": \"m\"}",
            json!({
                "description": "of lengths", "isRequired": true, "format": "string",
                "choices": ["m", "ft"], "default": "m",
            }),
        ),
        (
            "depth {\"format\": \"number\", \"choices\": [1, 2], \"default\": 2, \"placeholder\": \"1\"}",
            json!({ "format": "number", "choices": [1, 2], "default": 2, "placeholder": "1" }),
        ),
        (
            "all {\"format\": \"boolean\", \"default\": false}",
            json!({ "format": "boolean", "default": false }),
        ),
        (
            "root {\"format\": \"directory\", \"grant\": \"rw\"}",
            json!({ "format": "directory", "grant": "rw" }),
        ),
    ] {
        let (request, told) = read("setting", text);
        let mut expected = json;
        expected["kind"] = json!("setting");
        expected["name"] = json!(text.split(' ').next());
        assert_eq!(request, Some(expected), "{told}");
    }
}

#[test]
fn settings_that_are_none_are_found() {
    for (text, part) in [
        ("", "`@setting ` has no name"),
        ("{\"format\": \"string\"}", "has no name"),
        ("a.b", "`@setting a.b` has no name"),
        ("unit the unit", "is not JSON"),
        ("unit {\"a\": 1", "is not JSON"),
        ("unit [1]", "`@setting unit` has `[1]` behind it"),
        (
            "unit {\"desciption\": \"x\"}",
            "there is no `desciption` in `@setting unit`\nhint: did you mean `description`? it takes `choices`",
        ),
        ("unit {\"isSecret\": true}", "there is no `isSecret`"),
        (
            "unit {\"isRequired\": \"yes\"}",
            "`isRequired` of `@setting unit` cannot be `\"yes\"`\nhint: it takes `true` or `false`",
        ),
        (
            "unit {\"format\": \"path\"}",
            "one of `\"string\"`, `\"number\"`",
        ),
        (
            "unit {\"default\": [1]}",
            "`default` of `@setting unit` cannot be `[1]`",
        ),
        (
            "unit {\"choices\": []}",
            "`choices` of `@setting unit` cannot be `[]`",
        ),
        (
            "unit {\"choices\": [\"m\"], \"default\": \"ft\"}",
            "`default` of `@setting unit`: `ft` is none of `m`",
        ),
        (
            "unit {\"format\": \"number\", \"choices\": [\"1\"]}",
            "`choices` of `@setting unit`: `1` is no number",
        ),
        (
            "file {\"format\": \"filepath\", \"grant\": \"ro\"}",
            "has a `grant`, and is no folder",
        ),
    ] {
        let (_, told) = read("setting", text);
        assert!(told.contains(part), "{text}: {told}");
    }
}

#[test]
fn secrets_say_where_they_go_and_stand() {
    for (text, json) in [
        (
            "token {\"description\": \"of GitHub\", \"isRequired\": true, \
             \"hosts\": [\"https://api.github.com\"], \"header\": \"Authorization\", \"value\": \"Bearer {}\"}",
            json!({
                "description": "of GitHub", "isRequired": true, "hosts": ["https://api.github.com"],
                "header": "Authorization", "value": "Bearer {}",
            }),
        ),
        (
            "key {\"hosts\": [\"api.example.com:8443\"], \"query\": \"appid\"}",
            json!({ "hosts": ["api.example.com:8443"], "query": "appid" }),
        ),
        (
            "token {\"hosts\": [\"http://127.0.0.1:80\"], \"placeholder\": \"TOKEN\", \"header\": \"X-Key\"}",
            json!({ "hosts": ["http://127.0.0.1:80"], "placeholder": "TOKEN", "header": "X-Key" }),
        ),
        (
            "token {\"hosts\": [\"a.example\"], \"header\": \"X\", \"login\": \"google\", \"scopes\": [\"a\", \"b\"]}",
            json!({ "hosts": ["a.example"], "header": "X", "login": "google", "scopes": ["a", "b"] }),
        ),
    ] {
        let (request, told) = read("secret", text);
        let mut expected = json;
        expected["kind"] = json!("secret");
        expected["name"] = json!(text.split(' ').next());
        assert_eq!(request, Some(expected), "{told}");
    }
}

#[test]
fn secrets_that_are_none_are_found() {
    let header = "\"header\": \"X\"";
    for (object, part) in [
        ("{}".to_owned(), "it names no hosts"),
        (format!("{{{header}}}"), "it names no hosts"),
        (
            format!("{{\"hosts\": \"a.example\", {header}}}"),
            "cannot be `\"a.example\"`\nhint: it takes a list",
        ),
        (
            format!("{{\"hosts\": [\"*.a.example\"], {header}}}"),
            "cannot go to `*.a.example`",
        ),
        (
            format!("{{\"hosts\": [\"https://a.example/v1\"], {header}}}"),
            "cannot go to",
        ),
        (
            format!("{{\"hosts\": [\"http://a.example\"], {header}}}"),
            "cannot go to",
        ),
        (
            format!("{{\"hosts\": [\"http://localhost.example\"], {header}}}"),
            "cannot go to",
        ),
        (
            format!("{{\"hosts\": [\"ftp://a.example\"], {header}}}"),
            "cannot go to",
        ),
        (
            "{\"hosts\": [\"a.example\"]}".to_owned(),
            "does not say where it stands",
        ),
        (
            format!("{{\"hosts\": [\"a.example\"], {header}, \"query\": \"k\"}}"),
            "says twice",
        ),
        (
            "{\"hosts\": [\"a.example\"], \"query\": \"k\", \"placeholder\": \"K\"}".to_owned(),
            "says twice",
        ),
        (
            "{\"hosts\": [\"a.example\"], \"query\": \"k\", \"value\": \"{}\"}".to_owned(),
            "`value` is what stands",
        ),
        (
            format!("{{\"hosts\": [\"a.example\"], {header}, \"value\": \"Bearer\"}}"),
            "`value` cannot be `Bearer`",
        ),
        (
            format!("{{\"hosts\": [\"a.example\"], {header}, \"value\": \"{{}}{{}}\"}}"),
            "`value` cannot be",
        ),
        (
            "{\"hosts\": [\"a.example\"], \"header\": \"X: y\"}".to_owned(),
            "`X: y` is no name of a header",
        ),
        (
            "{\"hosts\": [\"a.example\"], \"placeholder\": \"A=b\"}".to_owned(),
            "is no name of an environment variable",
        ),
        (
            format!("{{\"hosts\": [\"a.example\"], {header}, \"scopes\": [\"a\"]}}"),
            "`scopes` are of a `login`",
        ),
        (
            format!("{{\"host\": [\"a.example\"], {header}}}"),
            "did you mean `hosts`?",
        ),
    ] {
        let (_, told) = read("secret", &format!("token {object}"));
        assert!(told.contains(part), "{object}: {told}");
    }
}
