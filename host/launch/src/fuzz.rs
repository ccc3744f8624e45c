//! Fuzz target: secrets in texts.

#![allow(
    clippy::expect_used,
    reason = "what does not hold has to end the run, with the input that has shown it"
)]

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::redaction::{
    HiddenTextsBuilder, MAX_WRITTEN_PIECE_BYTES, SecretPart, secrets_in_arguments, secrets_in_line,
    tells_nothing,
};

/// Removing secrets: a known one is in no text that is shown, and those that are found are parts of
/// the text. The first line is a secret, the rest the text.
pub fn redaction(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (secret, rest) = text.split_once('\n').unwrap_or((&text, ""));
    for line in [secret, rest, &text] {
        are_parts(line, &secrets_in_line(line));
    }
    let words: Vec<&str> = rest.split_whitespace().collect();
    for (word, parts) in words.iter().zip(secrets_in_arguments(secret, &words)) {
        are_parts(word, &parts);
    }
    let secret = secret.trim();
    let mut hidden = HiddenTextsBuilder::default();
    hidden.add(secret);
    hidden.add_user(secret);
    hidden.add_credential(secret);
    let hidden = hidden.build();
    let shown = hidden.redact(rest);
    let json = hidden.redact_json(rest);
    serde_json::from_str::<IgnoredAny>(&json).expect("what was JSON stays JSON");
    // Texts may have numbers that no value can hold.
    let json = serde_json::from_str::<Value>(&json).unwrap_or_default();
    // What is shorter is in any text, and what is longer is looked for in pieces.
    if (4..=MAX_WRITTEN_PIECE_BYTES / 6).contains(&secret.len()) && !secret.contains('…') {
        assert!(!shown.contains(secret), "{shown:?}");
        // Words may be names.
        let mut parts = secret.split([' ', ':', '\r', '+', '%', '\\']);
        has_none(&json, secret, parts.any(tells_nothing));
    }
}

fn are_parts(text: &str, parts: &[SecretPart]) {
    let mut start = 0;
    for part in parts {
        let range = &part.range;
        assert!(start <= range.start && range.start < range.end, "{parts:?}");
        assert!(text.get(range.clone()).is_some(), "{part:?} of {text:?}");
        start = range.start;
    }
}

/// No text and no name in a value has the secret in it, but where it may be a name.
fn has_none(value: &Value, secret: &str, may_be_name: bool) {
    match value {
        Value::String(text) => assert!(!text.contains(secret), "{text:?}"),
        Value::Array(items) => items
            .iter()
            .for_each(|item| has_none(item, secret, may_be_name)),
        Value::Object(members) => {
            for (name, member) in members {
                assert!(may_be_name || !name.contains(secret), "{name:?}");
                has_none(member, secret, may_be_name);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    dormouse_tests::fuzz_loops! { redaction }
}
