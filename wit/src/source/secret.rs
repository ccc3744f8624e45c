//! `@secret` tags.

use super::requested_input::{Shape, input};
use super::tags::{Tag, note};
use crate::declaration::SecretRequest;
use crate::error::Finding;

const KEYS: [(&str, Shape); 9] = [
    ("description", Shape::Text),
    ("isRequired", Shape::Switch),
    ("hosts", Shape::Texts),
    ("header", Shape::Text),
    ("value", Shape::Text),
    ("query", Shape::Text),
    ("placeholder", Shape::Text),
    ("login", Shape::Text),
    ("scopes", Shape::Texts),
];

const EXAMPLE: &str = "NAME {\"hosts\": [\"https://api.example.com\"], \"header\": \"Authorization\", \"value\": \"Bearer {}\"}";

/// Returns the request of a `@secret`.
pub(super) fn secret(tag: &Tag, item: &str, findings: &mut Vec<Finding>) -> Option<SecretRequest> {
    let request: SecretRequest = input(tag, &KEYS, EXAMPLE, item, findings)?;
    let wrong = request.fault();
    if let Some((message, hint)) = &wrong {
        let message = format!("`@secret {}`: {message}", request.name);
        note(findings, Finding::error(item, message).hint(*hint));
    }
    wrong.is_none().then_some(request)
}
