use serde_json::json;

use crate::validator;

use super::*;

fn rewritten(schema: &Value, unmatched: &[&str]) -> Value {
    let references = References::of(schema);
    let unmatched_patterns: HashSet<_> = unmatched.iter().map(ToString::to_string).collect();
    let rewrite = Rewrite {
        references: &references,
        leaves_out: references.has_unknown_targets() || !unmatched.is_empty(),
        unmatched_patterns: &unmatched_patterns,
    };
    rewrite.rewritten(schema)
}

#[test]
fn references_become_pointers_and_names_go() {
    let schema = json!({
        "$id": "https://example.com/s.json",
        "$dynamicAnchor": "node",
        "properties": {
            "a": { "$ref": "s.json#/$defs/A%20B" },
            "b": { "$ref": "urn:inner#deep", "title": "b" },
            "c": { "$dynamicRef": "#node", "allOf": [{ "minProperties": 1 }] },
            "$id": { "type": "string" }
        },
        "$defs": {
            "A B": { "type": "string" },
            "I": { "$id": "urn:inner", "$defs": { "D": { "$anchor": "deep", "type": "null" } } }
        },
        "default": { "$id": "kept" }
    });
    let wanted = json!({
        "properties": {
            "a": { "$ref": "#/$defs/A%20B" },
            "b": { "$ref": "#/$defs/I/$defs/D", "title": "b" },
            "c": { "allOf": [{ "minProperties": 1 }, { "$ref": "#" }] },
            "$id": { "type": "string" }
        },
        "$defs": {
            "A B": { "type": "string" },
            "I": { "$defs": { "D": { "type": "null" } } }
        },
        "default": { "$id": "kept" }
    });
    assert_eq!(rewritten(&schema, &[]), wanted);
}

/// Every value that matches the original schema matches the rewritten one.
#[test]
fn what_is_left_out_makes_nothing_stronger() {
    let odd = json!({ "pattern": "^(?!x)" });
    for (schema, wanted) in [
        (
            json!({ "not": odd, "type": "string" }),
            json!({ "type": "string" }),
        ),
        (
            json!({ "not": { "not": { "items": odd } }, "type": "string" }),
            json!({ "type": "string" }),
        ),
        (
            json!({ "oneOf": [odd, { "minLength": 7 }] }),
            json!({ "allOf": [{ "anyOf": [{}, { "minLength": 7 }] }] }),
        ),
        (
            json!({ "if": odd, "then": { "maxLength": 1 }, "else": false, "type": "string" }),
            json!({ "type": "string" }),
        ),
        (
            json!({ "if": { "minLength": 1 }, "then": odd }),
            json!({ "if": { "minLength": 1 }, "then": {} }),
        ),
        (
            json!({ "contains": odd, "maxContains": 2, "minContains": 1 }),
            json!({ "contains": {}, "minContains": 1 }),
        ),
        (
            json!({
                "patternProperties": { "^(?!x)": { "type": "string" }, "^a": true },
                "additionalProperties": false,
                "properties": { "a": true }
            }),
            json!({ "patternProperties": { "^a": true }, "properties": { "a": true } }),
        ),
        (
            json!({ "allOf": [{ "patternProperties": { "^(?!x)": true } }],
                "unevaluatedProperties": false }),
            json!({ "allOf": [{ "patternProperties": {} }] }),
        ),
        (
            json!({ "not": { "$ref": "#/$defs/odd" }, "$defs": { "odd": odd } }),
            json!({ "$defs": { "odd": {} } }),
        ),
        (
            json!({ "$defs": { "odd": odd }, "oneOf": [{ "minLength": 7 }, { "type": "null" }] }),
            json!({ "$defs": { "odd": {} }, "oneOf": [{ "minLength": 7 }, { "type": "null" }] }),
        ),
    ] {
        assert_eq!(rewritten(&schema, &["^(?!x)"]), wanted, "{schema}");
    }
}

#[test]
fn what_is_named_by_urls_and_anchors_is_validated() {
    let schema = json!({
        "$id": "https://example.com/s.json",
        "type": "object",
        "properties": {
            "registered": { "$ref": "urn:a" },
            "relative": { "$ref": "s.json#/$defs/B" },
            "anchored": { "$ref": "#c" },
            "tree": { "$ref": "https://example.com/tree" },
            "keyed": { "patternProperties": { "^(?!x-)": { "type": "string" } } },
            "late": { "type": "integer" }
        },
        "$defs": {
            "A": { "$id": "urn:a", "type": "string" },
            "B": { "type": "boolean" },
            "C": { "$anchor": "c", "maximum": 7 },
            "T": {
                "$id": "https://example.com/tree",
                "$dynamicAnchor": "node",
                "required": ["children"],
                "properties": { "children": { "items": { "$dynamicRef": "#node" } } }
            }
        }
    });
    let validator = validator(&schema).unwrap();
    let leaf = json!({ "children": [] });
    for (value, fits) in [
        (json!({ "registered": "a" }), true),
        (json!({ "registered": 1 }), false),
        (json!({ "relative": true }), true),
        (json!({ "relative": 1 }), false),
        (json!({ "anchored": 7 }), true),
        (json!({ "anchored": 8 }), false),
        (json!({ "tree": { "children": [leaf, leaf] } }), true),
        (json!({ "tree": { "children": [leaf, {}] } }), false),
        // Nobody here matches that pattern.
        (json!({ "keyed": { "a": 1 } }), true),
        (json!({ "late": "a" }), false),
    ] {
        let problems = validator.problems(&value, 9).unwrap();
        assert_eq!(problems.is_empty(), fits, "{value}: {problems:?}");
    }
}

#[test]
fn rewriting_takes_linear_time() {
    type Schema<'s> = &'s dyn Fn(usize) -> Value;
    let odd = || json!({ "pattern": "^(?!x)" });
    let schemas: [(&str, Schema<'_>); 6] = [
        (
            "schemas beside each other",
            &|size| json!({ "allOf": vec![json!({ "not": odd() }); size] }),
        ),
        (
            "schemas of which one fits",
            &|size| json!({ "oneOf": vec![odd(); size], "unevaluatedProperties": false }),
        ),
        ("patterns", &|size| {
            let patterns = (0..size).map(|n| (format!("^(?!x{n})"), json!({ "type": "string" })));
            let patterns: Map<_, _> = patterns.collect();
            json!({ "patternProperties": patterns, "additionalProperties": false })
        }),
        ("properties with references", &|size| {
            let properties = (0..size).map(|n| {
                let schema = json!({ "$ref": "#/$defs/a", "$dynamicRef": "#b", "title": "t" });
                (format!("p{n}"), schema)
            });
            let properties: Map<_, _> = properties.collect();
            let definitions = json!({ "a": odd(), "c": { "$dynamicAnchor": "b" } });
            json!({ "properties": properties, "$defs": definitions })
        }),
        ("conditions", &|size| {
            let condition = json!({ "if": odd(), "then": odd(), "else": { "type": "null" } });
            json!({ "anyOf": vec![condition; size] })
        }),
        ("unknown keywords", &|size| {
            let keywords = (0..size).map(|n| (format!("x{n}"), odd()));
            Value::Object(keywords.collect())
        }),
    ];
    for (what, schema) in schemas {
        let input = |size: usize| {
            let unmatched = (0..size).map(|n| format!("^(?!x{n})"));
            let unmatched = unmatched.chain(["^(?!x)".to_owned()]);
            (schema(size), unmatched.collect::<HashSet<_>>())
        };
        dormouse_tests::growth::is_linear(what, 150, input, |(schema, unmatched_patterns)| {
            let references = References::of(schema);
            let rewrite = Rewrite {
                references: &references,
                leaves_out: true,
                unmatched_patterns,
            };
            std::hint::black_box(rewrite.rewritten(schema));
        });
    }
}
