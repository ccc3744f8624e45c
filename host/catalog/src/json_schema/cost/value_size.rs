//! Sizes of values.

use serde_json::Value;

/// Bytes of text that count as one step.
pub(super) const TEXT_PER_STEP: usize = 64;

/// Returns the number of parts of a value, with its text.
#[must_use]
pub(crate) fn value_nodes(value: &Value) -> u64 {
    match value {
        Value::String(text) => 1 + text_steps(text),
        Value::Array(items) => 1 + items.iter().map(value_nodes).sum::<u64>(),
        Value::Object(members) => members.iter().fold(1, |sum, (name, value)| {
            sum + text_steps(name) + value_nodes(value)
        }),
        _ => 1,
    }
}

/// Returns the most bytes of the path to the deepest part of a value.
#[must_use]
pub(crate) fn longest_path(value: &Value) -> usize {
    let longest = |parts: &mut dyn Iterator<Item = usize>| parts.max().unwrap_or(0);
    match value {
        Value::Array(items) => 8 + longest(&mut items.iter().map(longest_path)),
        Value::Object(members) => longest(&mut members.iter().map(|(name, value)| {
            // A `/` becomes two letters there.
            1 + 2 * name.len() + longest_path(value)
        })),
        _ => 0,
    }
}

pub(super) fn text_steps(text: &str) -> u64 {
    (text.len() / TEXT_PER_STEP) as u64
}
