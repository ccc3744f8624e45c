//! Settings of plugins without the secrets in them.

use serde_json::Value;

use super::{
    HIDDEN, HiddenTextsBuilder, is_secret_name, secrets_in_arguments, secrets_in_line, without,
};

/// Returns the value of a plugin's setting without what a plugin that is given it may not print, and
/// without what is a secret by its name or its place, however short it is.
#[must_use]
pub fn redacted_setting(name: &str, value: &Value) -> Value {
    let mut texts = HiddenTextsBuilder::default();
    texts.add_setting(name, value);
    let shown = texts.build().redact_value(value);
    without_named(name, shown)
}

/// Returns the value of a name with nothing of what is called a secret.
fn without_named(name: &str, value: Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) => value,
        _ if is_secret_name(name) => HIDDEN.into(),
        Value::String(text) => without(&text, &secrets_in_line(&text)).into(),
        Value::Array(items) => {
            let texts: Vec<&str> = items
                .iter()
                .map(|item| item.as_str().unwrap_or_default())
                .collect();
            let parts = secrets_in_arguments("", &texts);
            let shown = items.iter().zip(parts).map(|(item, parts)| {
                let item = match item {
                    Value::String(text) => without(text, &parts).into(),
                    other => other.clone(),
                };
                without_named("", item)
            });
            shown.collect()
        }
        Value::Object(members) => {
            let members = members.into_iter().map(|(name, member)| {
                let member = without_named(&name, member);
                (name, member)
            });
            members.collect()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_setting_says_is_shown_without_its_secrets() {
        for (name, value, shown) in [
            ("api_key", json!("s3cret-of-a-key"), json!("…")),
            ("password", json!("abc"), json!("…")),
            ("pin_token", json!(1234), json!("…")),
            ("tokens", json!(["one-token", "another-token"]), json!("…")),
            (
                "dsn",
                json!("postgres://u:s3cret@h/db"),
                json!("postgres://…@h/db"),
            ),
            (
                "base",
                json!("https://u:pw@h/?key=ab"),
                json!("https://…@h/?key=…"),
            ),
            (
                "line",
                json!("run --token ab --mode x"),
                json!("run --token … --mode x"),
            ),
            (
                "headers",
                json!(["Authorization: Bearer abc.def-ghi", "Accept: text/plain"]),
                json!(["Authorization: Bearer …", "Accept: text/plain"]),
            ),
            (
                "deep",
                json!({ "a": [{ "password": "x" }], "token": true }),
                json!({ "a": [{ "password": "…" }], "token": true }),
            ),
            ("folder", json!("/home/me/notes"), json!("/home/me/notes")),
            ("greeting", json!("Hello"), json!("Hello")),
            (
                "args",
                json!(["--token", "ab", "--mode", "x", 7]),
                json!(["--token", "…", "--mode", "x", 7]),
            ),
            ("port", json!(8080), json!(8080)),
        ] {
            assert_eq!(redacted_setting(name, &value), shown, "{name}");
        }
    }
}
