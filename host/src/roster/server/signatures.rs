//! Text for a model on the tools that a server turned out to have.

use std::fmt::Write as _;

use dormouse_catalog::Listing;
use dormouse_wit::signature::compact;
use serde_json::{Value, json};

use crate::store::is_for_models;

/// Most bytes of signatures that a model is sent at once: clients refuse results that are very
/// long, and all tools are in their lists by then.
const MAX_SIGNATURES_BYTES: usize = 16 << 10;

/// Most bytes of the names of tools whose signatures are left out.
const MAX_NAMES_BYTES: usize = 4 << 10;

/// Returns the text for a model on the tools that a server turned out to have. Those without a `shown`
/// name are left out.
pub(in super::super) fn signatures(
    server: &str,
    listing: &Listing,
    shown: impl Fn(&str) -> Option<String>,
) -> String {
    let tools = listing.tools.iter();
    let tools = tools.filter(|tool| is_for_models(tool.tool.get()));
    let tools: Vec<_> = tools
        .filter_map(|tool| Some((shown(&tool.name)?, tool)))
        .collect();
    let mut text = format!("Server `{server}` has {} tools:\n", tools.len());
    let mut left_out = Vec::new();
    for (name, tool) in tools {
        let signature = match left_out.is_empty() {
            true => signature(&name, tool.tool.get()),
            false => String::new(),
        };
        if left_out.is_empty() && text.len() + signature.len() <= MAX_SIGNATURES_BYTES {
            text.push_str(&signature);
        } else {
            left_out.push(name);
        }
    }
    if !left_out.is_empty() {
        let mut names = left_out.join(", ");
        if names.len() > MAX_NAMES_BYTES {
            names.truncate(names.floor_char_boundary(MAX_NAMES_BYTES));
            names.push('…');
        }
        let _ = write!(
            text,
            "\n\nAnd {} more, which are in the list of tools now: {names}",
            left_out.len()
        );
    }
    text
}

/// Returns the signature of a tool with the first line of its description. `tool` is an MCP `Tool`
/// object.
fn signature(name: &str, tool: &str) -> String {
    let object: Value = serde_json::from_str(tool).unwrap_or_default();
    let schema = |name: &str| object.get(name).filter(|schema| schema.is_object());
    let none = json!({});
    let input = schema("inputSchema").unwrap_or(&none);
    let mut text = format!("\n- {}", compact(name, input, schema("outputSchema")));
    let description = object.get("description").and_then(Value::as_str);
    if let Some(first) = description.and_then(|text| text.trim().lines().next()) {
        text.push_str("\n  ");
        text.extend(first.chars().take(200));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roster::server::bridge::made;

    #[test]
    fn of_very_many_tools_the_first_signatures_and_the_names_are_told() {
        let tools = |count: usize| {
            let tools = (0..count).map(|number| {
                let schema =
                    json!({ "type": "object", "properties": { "text": { "type": "string" } } });
                let tool = json!({ "name": "x", "description": "Does.", "inputSchema": schema });
                (format!("tool{number}"), tool)
            });
            signatures("s", &made(tools.collect()), |name| Some(name.to_owned()))
        };
        let few = tools(3);
        assert!(few.contains("- tool2(") && !few.contains("more"), "{few}");
        let many = tools(2000);
        assert!(many.len() < MAX_SIGNATURES_BYTES + MAX_NAMES_BYTES + 100);
        assert!(
            many.contains("- tool0(") && many.contains(" more, which are"),
            "{many:.300}"
        );
        assert!(many.ends_with('…'), "{many:.300}");
    }
}
