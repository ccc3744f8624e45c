//! Secrets in texts.

use std::ops::Range;

use serde_json::Value;

use crate::upstream::redaction::{
    HiddenTextsBuilder, MAX_PIECE_BYTES, secrets_in_arguments, secrets_in_line,
};

/// Texts without secrets: one that is known is in none of them, and the others are parts of
/// the text. The first line is a secret, the rest the text.
pub fn redaction(data: &[u8]) {
    let text = super::text(data);
    let (secret, rest) = super::first_line(&text);
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
    let json = serde_json::from_str::<Value>(&json).expect("what was JSON stays JSON");
    // What is shorter is in any text, and what is longer is looked for in pieces.
    if (4..=MAX_PIECE_BYTES).contains(&secret.len()) && !secret.contains('…') {
        assert!(!shown.contains(secret), "{shown:?}");
        has_none(&json, secret);
    }
}

fn are_parts(text: &str, parts: &[Range<usize>]) {
    let mut end = 0;
    for part in parts {
        assert!(end <= part.start && part.start < part.end, "{parts:?}");
        assert!(text.get(part.clone()).is_some(), "{part:?} of {text:?}");
        end = part.end;
    }
}

/// No text and no name in a value has the secret in it.
fn has_none(value: &Value, secret: &str) {
    match value {
        Value::String(text) => assert!(!text.contains(secret), "{text:?}"),
        Value::Array(items) => items.iter().for_each(|item| has_none(item, secret)),
        Value::Object(members) => {
            for (name, member) in members {
                assert!(!name.contains(secret), "{name:?}");
                has_none(member, secret);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
