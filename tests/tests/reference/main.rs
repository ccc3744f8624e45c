//! The plugins beside the reference servers whose place they take: the same tools,
//! the same calls, the same answers.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

mod fetch;
mod filesystem;
mod github;
mod time;

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Returns what an agent has to know of the tools to call them: names, arguments, annotations.
fn signatures(tools: &[Value]) -> BTreeMap<String, Value> {
    let signature = |tool: &Value| {
        let schema = &tool["inputSchema"];
        let properties = schema["properties"]
            .as_object()
            .cloned()
            .unwrap_or_default();
        let mut names: Vec<_> = properties.keys().cloned().collect();
        names.sort();
        let mut required: Vec<_> = schema["required"].as_array().cloned().unwrap_or_default();
        required.sort_by_key(Value::to_string);
        let defaults: BTreeMap<_, _> = properties
            .iter()
            .filter_map(|(name, schema)| Some((name.clone(), schema.get("default")?.clone())))
            .collect();
        json!({
            "arguments": names,
            "required": required,
            "defaults": defaults,
            "title": tool["title"],
            "readOnly": tool["annotations"]["readOnlyHint"],
            "description": words(tool["description"].as_str().unwrap_or_default()),
        })
    };
    tools
        .iter()
        .map(|tool| (tool["name"].as_str().unwrap().to_owned(), signature(tool)))
        .collect()
}

/// Returns a text without its line breaks, which differ with the width of its source.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_error(result: &Value) -> bool {
    result["isError"] == json!(true)
}
