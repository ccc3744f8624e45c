//! Schemas of tools.

use super::*;

/// Returns the errors of an adapter's tool with such schemas.
fn of_schemas(input: Value, output: Option<Value>) -> Vec<String> {
    let mut tool = json!({ "name": "ask", "inputSchema": input });
    if let Some(output) = output {
        tool["outputSchema"] = output;
    }
    errors(&front(&adapter(ADAPTER, 2), &by_name(&[("ask", tool)])))
}

#[test]
fn good_schemas_are_none_of_its_business() {
    let rich = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "pattern": { "type": "string", "pattern": "^(?!x)\\p{L}+$", "default": "(" },
            "tree": { "$ref": "#/$defs/tree" },
            "pair": { "prefixItems": [{}, {}], "items": false },
            "any": true
        },
        "patternProperties": { "^x-": {} },
        "examples": [{ "pattern": "(" }],
        "$defs": { "tree": { "type": "array", "items": { "$ref": "#/$defs/tree" } } },
        "x-of-somebody": { "pattern": "(" }
    });
    assert_eq!(of_schemas(rich.clone(), Some(rich)), [""; 0]);
}

#[test]
fn a_schema_that_is_none_is_an_error_with_its_place() {
    let with = |property: Value| json!({ "type": "object", "properties": { "a": property } });
    let unused = json!({ "type": "object", "$defs": { "b": { "pattern": "[" } } });
    let key = json!({ "type": "object", "patternProperties": { "(": {} } });
    for (schema, place, what) in [
        (
            with(json!({ "pattern": "(" })),
            "/properties/a/pattern",
            "`(` is not a `regex`",
        ),
        (unused, "/$defs/b/pattern", "`[` is not a `regex`"),
        (key, "/patternProperties", "`(` is not a `regex`"),
        (
            with(json!({ "type": "text" })),
            "/properties/a/type",
            "`text` is not",
        ),
        (
            with(json!({ "minimum": "1" })),
            "/properties/a/minimum",
            "`1` is not of type `number`",
        ),
        (
            with(json!({ "items": [{}] })),
            "/properties/a/items",
            "is not of type",
        ),
    ] {
        for (which, told) in [
            ("inputSchema", of_schemas(schema.clone(), None)),
            (
                "outputSchema",
                of_schemas(json!({ "type": "object" }), Some(schema.clone())),
            ),
        ] {
            assert_eq!(told.len(), 1, "{told:#?}");
            let start = format!("error: ask: its `{which}` is no JSON Schema at `{place}");
            assert!(told[0].starts_with(&start), "{told:#?}");
            assert!(told[0].contains(what), "{told:#?}");
        }
    }
    let told = of_schemas(with(json!({ "minLength": -1, "pattern": ")" })), None);
    assert_eq!(told.len(), 2, "{told:#?}");
}

/// Many a server refers to what nobody has fetched, and works all the same.
#[test]
fn what_an_adapter_only_passes_on_may_be_unreadable() {
    let with = |property: Value| json!({ "type": "object", "properties": { "a": property } });
    let pattern = json!({ "$ref": "https://example.com/b.json", "pattern": "a" });
    for (schema, place) in [
        (with(json!({ "$ref": "#/$defs/none" })), "/$defs/none"),
        (
            with(json!({ "$ref": "https://example.com/a.json" })),
            "https://example.com/a.json",
        ),
        (with(pattern), "https://example.com/b.json"),
        (
            with(json!({ "$ref": "file:///etc/passwd" })),
            "file:///etc/passwd",
        ),
        (
            json!({ "$schema": "urn:odd", "type": "object" }),
            "`urn:odd`",
        ),
    ] {
        let tool = json!({ "name": "ask", "inputSchema": schema });
        let findings = check(&front(&adapter(ADAPTER, 2), &by_name(&[("ask", tool)])));
        let told = findings.iter().map(ToString::to_string);
        let told: Vec<_> = told.filter(|told| told.contains(place)).collect();
        assert_eq!(told.len(), 1, "{findings:#?}");
        let start = "warning: ask: its `inputSchema` ";
        assert!(told[0].starts_with(start), "{told:#?}");
        assert_eq!(of_schemas(schema.clone(), Some(schema)), [""; 0]);
    }
}

#[test]
fn an_input_is_an_object() {
    for schema in [json!({}), json!({ "type": "string" }), json!(true)] {
        let told = of_schemas(schema, None);
        assert_eq!(told.len(), 1, "{told:#?}");
        assert!(
            told[0].contains("ask: its `inputSchema` is not of type `object`"),
            "{told:#?}"
        );
    }
}

#[test]
fn a_schema_may_be_of_an_older_dialect() {
    let of = |dialect: &str| {
        json!({
            "$schema": dialect,
            "type": "object",
            "properties": { "pair": { "items": [{}, {}] } }
        })
    };
    let draft7 = of("http://json-schema.org/draft-07/schema#");
    assert_eq!(of_schemas(draft7.clone(), Some(draft7)), [""; 0]);
}

/// Patterns that the host would leave out when it checks arguments are reported.
#[test]
fn the_host_can_match_the_patterns_of_typed_tools() {
    let with = |pattern: &str| {
        let mut declared = words("Adds.");
        for tool in &mut declared.tools {
            let mut object: Value = serde_json::from_str(tool.tool.get()).unwrap();
            object["inputSchema"]["properties"]["a"]["pattern"] = json!(pattern);
            tool.tool = serde_json::value::to_raw_value(&object).unwrap();
        }
        front(&typed(), &declared)
    };
    assert_eq!(errors(&with("^a+$")), [""; 0]);
    let told = error(&with("^(?!x)a+$"));
    assert!(told.contains("at `/properties/a/pattern`"), "{told}");
    assert!(
        told.contains("hint: the host matches in linear time"),
        "{told}"
    );
}
