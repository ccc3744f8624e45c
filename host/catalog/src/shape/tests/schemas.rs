//! Schemas as generators write them, which are shown as they are.

use serde_json::Map;

use super::*;

/// Returns so many definitions, each with so many properties that are other definitions.
fn definitions(
    definitions: usize,
    properties: usize,
    next: impl Fn(usize, usize) -> usize,
) -> Value {
    let definition = |one: usize| {
        let property = |other: usize| {
            let reference = json!({ "$ref": format!("#/$defs/d{}", next(one, other)) });
            (format!("p{other}"), reference)
        };
        let properties: Map<_, _> = (0..properties).map(property).collect();
        (
            format!("d{one}"),
            json!({ "type": "object", "properties": properties }),
        )
    };
    json!({
        "type": "object",
        "properties": { "root": { "$ref": "#/$defs/d0" } },
        "$defs": Map::from_iter((0..definitions).map(definition))
    })
}

#[test]
fn valid_schemas_are_shown_as_they_are() {
    let with = |properties: Value, definitions: Value| json!({ "type": "object", "properties": properties, "$defs": definitions });
    let schemas = [
        (
            "a part with a URL of its own, and a pointer to it",
            with(
                json!({ "a": { "$ref": "#/$defs/A" } }),
                json!({ "A": { "$id": "urn:a", "type": "string" } }),
            ),
        ),
        (
            "a part that is named as TypeBox does",
            with(
                json!({ "a": { "$ref": "T" } }),
                json!({ "T": { "$id": "T", "type": "string" } }),
            ),
        ),
        (
            "a relative URL of the document itself",
            json!({
                "$id": "https://example.com/s.json", "type": "object",
                "properties": { "a": { "$ref": "s.json#/$defs/A" } },
                "$defs": { "A": { "type": "string" } }
            }),
        ),
        (
            "anchors",
            with(
                json!({ "a": { "$ref": "#n" } }),
                json!({ "x": { "$anchor": "n", "properties": { "c": { "$ref": "#n" } } } }),
            ),
        ),
        (
            "a dynamic reference",
            json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "$id": "https://example.com/tree", "$dynamicAnchor": "node", "type": "object",
                "properties": { "children": { "items": { "$dynamicRef": "#node" } } }
            }),
        ),
        (
            "a dynamic reference that may lead to several places",
            json!({
                "$id": "https://example.com/strict", "$dynamicAnchor": "node", "type": "object",
                "$ref": "tree", "unevaluatedProperties": false,
                "$defs": { "tree": {
                    "$id": "tree", "$dynamicAnchor": "node",
                    "properties": { "children": { "items": { "$dynamicRef": "#node" } } }
                } }
            }),
        ),
        (
            "the schema of schemas",
            with(
                json!({ "s": { "$ref": "https://json-schema.org/draft/2020-12/schema" } }),
                json!({}),
            ),
        ),
        (
            "properties by a pattern with look-ahead",
            json!({ "type": "object", "patternProperties": { "^(?!x-).*$": { "type": "string" } } }),
        ),
        (
            "a pattern with look-ahead",
            with(
                json!({ "p": { "pattern": "^(?=.*[A-Z])(?=.*\\d).{8,}$" } }),
                json!({}),
            ),
        ),
        (
            "many patterns",
            with(
                Value::Object(Map::from_iter((0..5000).map(|one| {
                    (format!("p{one}"), json!({ "pattern": format!("^{one}$") }))
                }))),
                json!({}),
            ),
        ),
        (
            "200 definitions of 20 properties",
            definitions(200, 20, |one, other| (one * 7 + other * 13) % 200),
        ),
        (
            "few definitions that come to very many when all are written out",
            definitions(9, 6, |one, _| (one + 1).min(8)),
        ),
        (
            "a chain of 900 definitions",
            definitions(900, 1, |one, _| (one + 1).min(899)),
        ),
        (
            "30,000 values",
            with(
                json!({ "e": { "enum": (0..30_000).map(|one| format!("v{one}")).collect::<Vec<_>>() } }),
                json!({}),
            ),
        ),
    ];
    for (which, schema) in schemas {
        let text = format!(r#"{{"name":"k","inputSchema":{schema},"outputSchema":{schema}}}"#);
        let text = match text.len() {
            0..1_048_576 => text,
            _ => format!(
                r#"{{"name":"k","inputSchema":{{"type":"object"}},"outputSchema":{schema}}}"#
            ),
        };
        let shape = shape(What::Tool, &text).unwrap();
        assert_eq!(shape.object.get(), text, "{which}");
        assert!(
            shape.legacy.is_none() && shape.mended.is_empty(),
            "{which}: {shape:?}"
        );
        crate::validator(&schema).unwrap();
    }
}

/// Compiling works where the stack is small, and takes time proportional to the length of the
/// schema.
#[test]
fn the_most_nested_schema_is_compiled_on_a_small_stack() {
    // As deep as an item may be, each with a reference to the next at its bottom.
    let definition = |one: usize| {
        let mut part = json!({ "$ref": format!("#/$defs/d{}", one + 1), "minProperties": 1 });
        for _ in 0..46 {
            part = json!({ "properties": { "a": part }, "unevaluatedProperties": false });
        }
        (format!("d{one}"), part)
    };
    let mut definitions: Map<_, _> = (0..40).map(definition).collect();
    definitions.insert("d40".into(), json!({ "type": "object" }));
    let schema = json!({ "type": "object", "$ref": "#/$defs/d0", "$defs": definitions });
    let text =
        format!(r#"{{"name":"k","inputSchema":{{"type":"object"}},"outputSchema":{schema}}}"#);
    let judged = std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(move || shape(What::Tool, &text).unwrap().mended.clone());
    assert_eq!(judged.unwrap().join().unwrap(), Vec::<String>::new());
}
