//! Answers of servers in a form for people.

use anyhow::Context as _;
use dormouse_config::units;
use dormouse_protocol::Answer;
use serde_json::Value;

use super::{Format, output};

/// Prints an answer: as JSON, or in the words of `read`.
pub(super) fn print(
    answer: Answer,
    format: Format,
    read: fn(&Value) -> String,
) -> anyhow::Result<()> {
    match (format.json, answer) {
        (true, Answer::Made(value)) => output::print_json(&value),
        // As it came: another way to write a number would be another number.
        (true, Answer::Verbatim(text)) => output::print_json_text(&text),
        (false, answer) => output::print_foreign(&text(answer, read)?),
    }
}

/// Returns the text of an answer, made by `read`.
pub(super) fn text(answer: Answer, read: fn(&Value) -> String) -> anyhow::Result<String> {
    let value = answer.into_value();
    let value = value.context("the result cannot be shown\nhint: `--json` prints it as it came")?;
    Ok(read(&value))
}

/// Returns a block of content for people: its text, or its kind.
pub(super) fn block(block: &Value) -> String {
    let text = |pointer: &str| block.pointer(pointer).and_then(Value::as_str);
    let kind = text("/type").unwrap_or("content of no type");
    if let Some(text) = text("/text").or_else(|| text("/resource/text")) {
        return text.to_owned();
    }
    let mut parts = vec![kind.to_owned()];
    for pointer in ["/uri", "/resource/uri", "/mimeType", "/resource/mimeType"] {
        parts.extend(text(pointer).map(str::to_owned));
    }
    if let Some(data) = text("/data").or_else(|| text("/resource/blob")) {
        // Four characters of base64 are three bytes.
        parts.push(units::human_size(data.len() as u64 / 4 * 3));
    }
    format!("[{}]", parts.join(", "))
}
