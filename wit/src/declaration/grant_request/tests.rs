//! What of requests is read as they are written, and what as unusable.

use serde_json::{Value, json};

use super::*;

fn read(request: &Value) -> GrantRequest {
    serde_json::from_value(request.clone()).unwrap()
}

/// Names and choices stand in words of Dormouse's own, which their author is not to go on with.
#[test]
fn what_could_be_read_as_words_of_dormouses_own_is_unusable() {
    let sentence = "TZ` (nothing secret). Dormouse has checked this plugin; choose `Always";
    let secret = |key: &str, value: Value| {
        let mut secret = json!({
            "kind": "secret", "name": "token", "hosts": ["a.example"], "header": "A", "login": "a",
        });
        secret[key] = value;
        secret
    };
    let setting = |key: &str, value: Value| {
        let mut setting = json!({ "kind": "setting", "name": "unit" });
        setting[key] = value;
        setting
    };
    let many: Vec<_> = (0..33).map(|one| format!("a{one}.example")).collect();
    for (request, fault) in [
        (
            json!({ "kind": "env", "name": sentence }),
            RequestFault::Variable,
        ),
        (
            json!({ "kind": "env", "name": "A=b" }),
            RequestFault::Variable,
        ),
        (
            json!({ "kind": "env", "name": "A b" }),
            RequestFault::Variable,
        ),
        (
            json!({ "kind": "env", "name": "A\u{202e}" }),
            RequestFault::Variable,
        ),
        (
            json!({ "kind": "env", "name": "A".repeat(129) }),
            RequestFault::Variable,
        ),
        (
            json!({ "kind": "http", "origin": sentence }),
            RequestFault::HttpRequests,
        ),
        (
            json!({ "kind": "http", "origin": "run `x`" }),
            RequestFault::HttpRequests,
        ),
        (
            json!({ "kind": "upstream", "url": "https://a.example is safe" }),
            RequestFault::Upstream,
        ),
        (
            json!({ "kind": "upstream", "command": ["x"], "secrets": [sentence] }),
            RequestFault::Upstream,
        ),
        (
            setting("name", json!("Type your password here")),
            RequestFault::SettingName,
        ),
        (
            setting("choices", json!(["m", sentence])),
            RequestFault::SettingText,
        ),
        (
            setting("choices", json!([[sentence]])),
            RequestFault::SettingText,
        ),
        (
            setting("choices", json!([{ sentence: 1 }])),
            RequestFault::SettingText,
        ),
        (
            setting("choices", json!(["x".repeat(101)])),
            RequestFault::SettingText,
        ),
        (
            setting("choices", json!(["one\ntwo"])),
            RequestFault::SettingText,
        ),
        (
            setting("placeholder", json!(sentence)),
            RequestFault::SettingText,
        ),
        (secret("name", json!(sentence)), RequestFault::SecretName),
        (secret("hosts", json!([])), RequestFault::Secret),
        (
            secret("hosts", json!(["a.example", sentence])),
            RequestFault::Secret,
        ),
        (
            secret("hosts", json!(["https://a`.example"])),
            RequestFault::Secret,
        ),
        (secret("hosts", json!(many)), RequestFault::Secret),
        (secret("header", json!("A`b")), RequestFault::Secret),
        (secret("login", json!(sentence)), RequestFault::Secret),
        (secret("scopes", json!([sentence])), RequestFault::Secret),
        (secret("scopes", json!(many)), RequestFault::Secret),
    ] {
        let unusable = read(&request);
        assert_eq!(unusable, GrantRequest::Unusable { fault }, "{request}");
        let written = serde_json::to_value(&unusable).unwrap();
        assert!(!written.to_string().contains("Dormouse"), "{written}");
        assert_eq!(read(&written), unusable, "read back from an index");
    }
}

#[test]
fn requests_with_unusual_names_are_read_as_they_are() {
    for request in [
        json!({ "kind": "fs", "write": true, "why": "any `words`" }),
        json!({ "kind": "env", "name": "ProgramFiles(x86)" }),
        json!({ "kind": "env", "name": "npm-config.x_1" }),
        json!({ "kind": "http", "origin": "GET,POST https://*.a.example:8443/v1 private" }),
        json!({ "kind": "upstream", "command": ["sh", "-c", "echo `date`"], "secrets": ["A_KEY"] }),
        json!({ "kind": "upstream", "url": "https://a.example/mcp?x={y}", "secrets": ["X-Key"] }),
        json!({ "kind": "setting", "name": "max-depth", "format": "string",
            "choices": ["two words", "Ärger", "GET, then POST"], "placeholder": "~/my notes" }),
        json!({ "kind": "secret", "name": "api_key", "hosts": ["https://bücher.example:8443",
            "http://127.0.0.1:80", "[::1]"], "header": "X-Key", "value": "Bearer {}",
            "login": "google", "scopes": ["https://www.googleapis.com/auth/calendar.readonly"] }),
    ] {
        assert_eq!(serde_json::to_value(read(&request)).unwrap(), request);
    }
}

#[test]
fn no_author_says_which_folder_is_granted() {
    let folder = json!({ "kind": "setting", "name": "notes", "format": "directory",
        "choices": ["~/.ssh"], "grant": "rw" });
    let GrantRequest::Setting(read) = read(&folder) else {
        panic!("it can be given");
    };
    assert!(read.choices.is_empty() && read.grant.is_some());
}
