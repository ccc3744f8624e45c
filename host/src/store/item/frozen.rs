//! Definitions that a model is told of a tool that has changed since its user has approved it.

use std::collections::BTreeMap;

use dormouse_jsonrpc::{Object, member};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::gated::bare_output_schema;
use super::same_schema::accepts_the_same;
use super::visibility::ToolVisibility;

/// Returns a tool as its user has approved it, byte for byte, but for parts that would mislead a
/// client about the current tool: its hints are the more cautious ones of both, it is for those alone
/// whom both are for, and its output schema is left out where that is another one now.
pub(crate) fn frozen_tool(approved: &RawValue, current: &RawValue) -> Box<RawValue> {
    let Ok(mut shown) = Object::read(approved.get()) else {
        return approved.to_owned();
    };
    let now = Object::read(current.get()).unwrap_or_default();
    let known = EffectHints::of(&shown);
    let cautious = known.most_cautious(EffectHints::of(&now));
    if cautious != known {
        let annotations = shown.get("annotations").unwrap_or_default().to_owned();
        let mut annotations = Object::read(&annotations).unwrap_or_default();
        for ((name, was), (_, is)) in known.members().into_iter().zip(cautious.members()) {
            if was != is {
                annotations.set(name, is.to_string());
            }
        }
        let annotations = annotations.into_text().into_owned();
        shown.set("annotations", annotations);
    }
    let schemas = [&shown, &now].map(|tool| tool.get("outputSchema"));
    if let [Some(approved), now] = schemas
        && now.is_none_or(|now| !is_same_output(approved, now))
    {
        shown.remove("outputSchema");
    }
    let known = ToolVisibility::of(approved.get());
    let cautious = known.most_cautious(ToolVisibility::of(current.get()));
    if cautious != known {
        cautious.write(&mut shown);
    }
    let shown = shown.into_text().into_owned();
    RawValue::from_string(shown).unwrap_or_else(|_| approved.to_owned())
}

/// Returns the parts of a tool's definition that decide the caution of its callers, as a tool with
/// these parts only: its hints, whom it is for, and its output schema.
pub(in super::super) fn caution_of(tool: &RawValue) -> Box<RawValue> {
    let visibility = ToolVisibility::of(tool.get());
    let tool = Object::read(tool.get()).unwrap_or_default();
    let hints = json!(BTreeMap::from(EffectHints::of(&tool).members()));
    let mut caution = Object::default();
    caution.set("annotations", hints.to_string());
    if let Some(schema) = tool.get("outputSchema") {
        caution.set("outputSchema", schema.to_owned());
    }
    if visibility != ToolVisibility::UNRESTRICTED {
        visibility.write(&mut caution);
    }
    RawValue::from_string(caution.into_text().into_owned()).unwrap_or_default()
}

/// Checks whether two tools need the same caution of their callers.
pub(in super::super) fn has_same_caution(one: &RawValue, other: &RawValue) -> bool {
    let [visible, other_visible] = [one, other].map(|tool| ToolVisibility::of(tool.get()));
    let [one, other] = [one, other].map(|tool| Object::read(tool.get()).unwrap_or_default());
    let is_same_output = match (one.get("outputSchema"), other.get("outputSchema")) {
        (Some(one), Some(other)) => is_same_output(one, other),
        (one, other) => one.is_none() && other.is_none(),
    };
    is_same_output && visible == other_visible && EffectHints::of(&one) == EffectHints::of(&other)
}

/// Returns the most cautious hints of all of these tools, and those whom all of them are for, as a
/// tool with these parts only; none if there are no tools.
pub(in super::super) fn most_cautious<'t>(
    tools: impl IntoIterator<Item = &'t RawValue>,
) -> Option<Box<RawValue>> {
    let parts = tools.into_iter().map(|tool| {
        let visibility = ToolVisibility::of(tool.get());
        let tool = Object::read(tool.get());
        (EffectHints::of(&tool.unwrap_or_default()), visibility)
    });
    let (hints, visibility) = parts.reduce(|(hints, visibility), (other, other_visibility)| {
        (
            hints.most_cautious(other),
            visibility.most_cautious(other_visibility),
        )
    })?;
    let hints = json!(BTreeMap::from(hints.members()));
    let mut caution = Object::default();
    caution.set("annotations", hints.to_string());
    if visibility != ToolVisibility::UNRESTRICTED {
        visibility.write(&mut caution);
    }
    RawValue::from_string(caution.into_text().into_owned()).ok()
}

/// Checks whether a tool takes other arguments than its user has approved.
pub(crate) fn takes_other_arguments(approved: &RawValue, current: &RawValue) -> bool {
    let schema = |tool: &RawValue| member(tool.get(), "inputSchema").map(str::to_owned);
    match (schema(approved), schema(current)) {
        (Some(approved), Some(current)) => !accepts_the_same(&approved, &current),
        (None, None) => false,
        _ => true,
    }
}

/// Checks whether two output schemas are equivalent in whichever era of MCP each is written for.
fn is_same_output(one: &str, other: &str) -> bool {
    let written = |schema: &str| {
        let read: Value = serde_json::from_str(schema).ok()?;
        let bare = bare_output_schema(schema, &read).unwrap_or(schema);
        Some(bare.to_owned())
    };
    one == other
        || matches!(
            (written(one), written(other)),
            (Some(one), Some(other)) if accepts_the_same(&one, &other)
        )
}

/// Hints of MCP `ToolAnnotations` on a tool's effects, with the defaults of MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct EffectHints {
    read_only: bool,
    destructive: bool,
    idempotent: bool,
    open_world: bool,
}

impl EffectHints {
    fn of(tool: &Object<'_>) -> Self {
        let annotations = tool.get("annotations").unwrap_or_default();
        let annotations = Object::read(annotations).unwrap_or_default();
        let said = |name: &str| match annotations.get(name) {
            Some("true") => Some(true),
            Some("false") => Some(false),
            _ => None,
        };
        let read_only = said("readOnlyHint").unwrap_or(false);
        Self {
            read_only,
            // Where it is not said, what only reads destroys nothing.
            destructive: said("destructiveHint").unwrap_or(!read_only),
            idempotent: said("idempotentHint").unwrap_or(false),
            open_world: said("openWorldHint").unwrap_or(true),
        }
    }

    fn most_cautious(self, other: Self) -> Self {
        Self {
            read_only: self.read_only && other.read_only,
            destructive: self.destructive || other.destructive,
            idempotent: self.idempotent && other.idempotent,
            open_world: self.open_world || other.open_world,
        }
    }

    fn members(self) -> [(&'static str, bool); 4] {
        [
            ("readOnlyHint", self.read_only),
            ("destructiveHint", self.destructive),
            ("idempotentHint", self.idempotent),
            ("openWorldHint", self.open_world),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    /// Returns the definition that is shown of a tool with the annotations `approved`, which has
    /// the annotations `now`.
    fn frozen(approved: &Value, now: &Value) -> Value {
        let tool = |annotations: &Value| {
            let mut tool = json!({ "name": "a", "inputSchema": { "type": "object" } });
            if !annotations.is_null() {
                tool["annotations"] = annotations.clone();
            }
            raw(&tool.to_string())
        };
        let shown = frozen_tool(&tool(approved), &tool(now));
        let shown: Value = serde_json::from_str(shown.get()).unwrap();
        shown["annotations"].clone()
    }

    #[test]
    fn hints_are_the_more_cautious_ones_of_both() {
        let (none, reads) = (json!(null), json!({ "readOnlyHint": true }));
        for (approved, now, shown) in [
            (none.clone(), none.clone(), none.clone()),
            // There is nothing more cautious than to say nothing.
            (none.clone(), reads.clone(), none.clone()),
            (
                none.clone(),
                json!({ "destructiveHint": false }),
                none.clone(),
            ),
            (
                none.clone(),
                json!({ "openWorldHint": false }),
                none.clone(),
            ),
            (
                none.clone(),
                json!({ "idempotentHint": true }),
                none.clone(),
            ),
            (
                reads.clone(),
                none.clone(),
                json!({ "readOnlyHint": false, "destructiveHint": true }),
            ),
            (
                reads.clone(),
                json!({ "readOnlyHint": false, "destructiveHint": false }),
                json!({ "readOnlyHint": false }),
            ),
            (
                reads.clone(),
                json!({ "readOnlyHint": true, "destructiveHint": true }),
                json!({ "readOnlyHint": true, "destructiveHint": true }),
            ),
            (
                json!({ "title": "A", "destructiveHint": false, "x": 1.10 }),
                json!({ "title": "EVIL", "destructiveHint": true }),
                json!({ "title": "A", "destructiveHint": true, "x": 1.10 }),
            ),
            (
                json!({ "destructiveHint": false, "idempotentHint": true, "openWorldHint": false }),
                json!({}),
                json!({ "destructiveHint": true, "idempotentHint": false, "openWorldHint": true }),
            ),
            (
                json!({ "idempotentHint": true, "openWorldHint": false }),
                json!({ "idempotentHint": true, "openWorldHint": false }),
                json!({ "idempotentHint": true, "openWorldHint": false }),
            ),
            // What is no hint says nothing.
            (
                json!({ "openWorldHint": false }),
                json!({ "openWorldHint": "false" }),
                json!({ "openWorldHint": true }),
            ),
            (
                reads.clone(),
                json!(7),
                json!({ "readOnlyHint": false, "destructiveHint": true }),
            ),
        ] {
            assert_eq!(frozen(&approved, &now), shown, "{approved} {now}");
        }
    }

    #[test]
    fn all_else_is_as_it_was_approved_byte_for_byte() {
        let approved = r#"{"name":"a", "description": "A \u0041","x-n":1.10,"inputSchema":{"type":"object"},"title":"T","_meta":{"a":1},"icons":[]}"#;
        let now = r#"{"name":"a","description":"EVIL","inputSchema":{"EVIL":1},"title":"EVIL","_meta":{"EVIL":1},"icons":["EVIL"],"EVIL":1}"#;
        for now in [now, "7", "{", "{}"] {
            let Ok(now) = RawValue::from_string(now.to_owned()) else {
                continue;
            };
            assert_eq!(frozen_tool(&raw(approved), &now).get(), approved);
        }
    }

    #[test]
    fn an_output_schema_that_is_another_one_now_is_not_shown() {
        let tool = |schema: &str| match schema {
            "" => raw(r#"{"name":"a","inputSchema":{}}"#),
            schema => raw(&format!(
                r#"{{"name":"a","outputSchema":{schema},"inputSchema":{{}}}}"#
            )),
        };
        let wrapped =
            r#"{"type":"object","properties":{"result":{"type":"array"}},"required":["result"]}"#;
        for (approved, now, is_shown) in [
            (r#"{"type":"object"}"#, r#"{ "type" : "object" }"#, true),
            (
                r#"{"type":"object"}"#,
                r#"{"type":"object","title":"x"}"#,
                true,
            ),
            (
                r#"{"type":"object"}"#,
                r#"{"type":"object","maxProperties":1}"#,
                false,
            ),
            (r#"{"type":"object"}"#, "", false),
            ("", r#"{"type":"object"}"#, false),
            (r#"{"type":"array"}"#, wrapped, true),
            (wrapped, r#"{"type":"array"}"#, true),
        ] {
            let shown = frozen_tool(&tool(approved), &tool(now));
            let has = shown.get().contains("outputSchema");
            assert_eq!(has, is_shown, "{approved} {now}");
            if is_shown {
                assert_eq!(shown.get(), tool(approved).get());
            }
        }
    }

    #[test]
    fn freezing_takes_linear_time() {
        let tools = |size: usize| {
            let properties: Vec<_> = (0..size)
                .map(|n| format!(r#""p{n}":{{"type":"string"}}"#))
                .collect();
            let schema = format!(
                r#"{{"type":"object","properties":{{{}}}}}"#,
                properties.join(",")
            );
            let annotations: Vec<_> = (0..size).map(|n| format!(r#""a{n}":true"#)).collect();
            let tool = |more: &str| {
                raw(&format!(
                    r#"{{"name":"a","inputSchema":{schema},"outputSchema":{schema},"annotations":{{{}{more}}}}}"#,
                    annotations.join(",")
                ))
            };
            [tool(r#","readOnlyHint":true"#), tool("")]
        };
        dormouse_tests::growth::is_linear("tools", 500, tools, |[approved, now]| {
            std::hint::black_box(frozen_tool(approved, now));
        });
    }
}
