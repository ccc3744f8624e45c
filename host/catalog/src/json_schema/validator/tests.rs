//! Schemas that are compiled, or checked alone, and what they say of values.

use serde_json::json;

use super::*;
use crate::json_schema::bounded::check_schema;
use crate::json_schema::patterns::MAX_READ_BYTES;
use dormouse_wit::pattern_size;

#[test]
fn a_schema_is_read_in_its_own_dialect() {
    let of = |dialect: &str, rest: Value| {
        let mut schema = json!({ "$schema": dialect });
        schema
            .as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        validator(&schema).unwrap()
    };
    // Each of these fits in the other dialect.
    let draft4 = of(
        "http://json-schema.org/draft-04/schema#",
        json!({ "properties": { "n": { "minimum": 3, "exclusiveMinimum": true } } }),
    );
    let fits =
        |schema: &BoundedValidator, value: Value| schema.problems(&value, 9).unwrap().is_empty();
    assert!(!fits(&draft4, json!({ "n": 3 })));
    assert!(fits(&draft4, json!({ "n": 4 })));
    let draft7 = of(
        "http://json-schema.org/draft-07/schema#",
        json!({ "dependencies": { "a": ["b"] } }),
    );
    assert!(!fits(&draft7, json!({ "a": 1 })));
    let draft2019 = of(
        "https://json-schema.org/draft/2019-09/schema",
        json!({ "items": [{ "type": "string" }] }),
    );
    assert!(!fits(&draft2019, json!([1])));
    let newest = validator(&json!({ "prefixItems": [{ "type": "string" }] })).unwrap();
    assert!(!fits(&newest, json!([1])));
}

#[test]
fn what_cannot_be_compiled_says_why() {
    for (schema, why) in [
        (json!({ "$schema": "urn:odd" }), "`urn:odd`"),
        (
            json!({ "$ref": "https://example.com/other" }),
            "example.com/other",
        ),
        (json!({ "$ref": "#/$defs/none" }), "/$defs/none"),
        (
            json!({ "properties": { "a": { "type": "any" } } }),
            "/properties/a/type",
        ),
        (
            json!({ "properties": { "a": { "pattern": "(" } } }),
            "pattern",
        ),
        (json!({ "properties": [] }), "/properties"),
        (json!(7), "7"),
    ] {
        let told = validator(&schema).map(drop).unwrap_err().to_string();
        assert!(told.contains(why), "{schema}: {told}");
        assert!(!told.contains(['"', '\'']), "{told}");
    }
}

#[test]
fn a_pattern_that_needs_backtracking_is_not_matched_and_the_rest_is() {
    let schema = json!({
        "pattern": "^(?=a)(a+)+$", "maxLength": 6000, "minLength": 2,
        "default": { "pattern": "(?=a)" }
    });
    let validator = validator(&schema).unwrap();
    let fits = |value: Value| validator.problems(&value, 9).unwrap().is_empty();
    assert!(fits(json!("aaa")));
    assert!(!fits(json!("a")));
    assert!(fits(json!(format!("{}b", "a".repeat(5000)))));
    assert!(validator.schema["default"]["pattern"].is_string());
}

#[test]
fn what_takes_too_many_steps_is_not_validated() {
    let schema = json!({
        "properties": { "child": { "anyOf": [{ "$ref": "#" }, { "$ref": "#", "title": "x" }] } },
        "required": ["child"]
    });
    let validator = validator(&schema).unwrap();
    let mut value = json!({});
    for _ in 0..40 {
        value = json!({ "child": value });
    }
    let why = validator.problems(&value, 9).unwrap_err();
    assert!(why.contains("steps"), "{why}");
    let few = validator.problems(&json!({}), 9).unwrap();
    assert_eq!(few.listed.len(), 1, "{few:?}");
}

#[test]
fn a_flood_of_problems_is_not_listed() {
    let validator = validator(&json!({ "items": { "type": "string" } })).unwrap();
    let value = json!(vec![1; 10_000]);
    let problems = validator.problems(&value, 5).unwrap();
    assert_eq!(problems.listed.len(), 1);
    let value = json!(vec![1; 100]);
    let problems = validator.problems(&value, 5).unwrap();
    assert_eq!((problems.listed.len(), problems.more), (5, 95));
}

#[test]
fn a_schema_is_learnt_without_compiling_any_of_its_patterns() {
    // To compile it takes minutes and gigabytes, and a parser with a limit gives up on it.
    let pattern = |letters: usize, groups: usize| {
        let (letters, open) = (r"\p{L}".repeat(letters), "(?:".repeat(groups));
        format!("(?i:{letters}){open}x{}", ")".repeat(groups))
    };
    for (letters, groups) in [(100_000, 100), (1_000, 100), (1_000, 2), (10, 100)] {
        let pattern = pattern(letters, groups);
        for schema in [
            json!({ "type": "object", "properties": { "a": { "pattern": pattern } } }),
            json!({ "patternProperties": { pattern.as_str(): {} } }),
            json!({ "$schema": "http://json-schema.org/draft-07/schema#", "pattern": pattern }),
            json!({ "$ref": "#/default", "default": { "pattern": pattern } }),
        ] {
            let start = dormouse_tests::growth::cpu_time();
            check_schema(&schema).unwrap();
            let took = dormouse_tests::growth::cpu_time() - start;
            // One reading of the least of these alone would take 0.1 s.
            if letters > 10 {
                assert!(took.as_millis() < 60, "{took:?}");
            }
        }
    }
}

/// Reading one of these alone would take hundreds of megabytes; none is read.
#[test]
fn a_pattern_that_takes_much_memory_to_read_is_held_against_nothing() {
    let large = format!("(?i:{})", r"\p{L}".repeat(60_000));
    let schema = json!({
        "properties": {
            "a": { "type": "string", "pattern": large },
            "b": { "type": "string", "pattern": "^b$" },
        },
        "patternProperties": { large.as_str(): false },
        "additionalProperties": false
    });
    let start = std::time::Instant::now();
    let validator = validator(&schema).unwrap();
    assert!(start.elapsed().as_millis() < 500, "{:?}", start.elapsed());
    let fits = |value: Value| validator.problems(&value, 9).unwrap().is_empty();
    assert!(fits(json!({ "a": "anything", "b": "b", "c": 7 })));
    assert!(!fits(json!({ "a": 1 })));
    assert!(!fits(json!({ "b": "a" })));
    // And all of them together, each of which is read alone.
    let patterns: Vec<String> = (0..1000)
        .map(|index| format!("(?i:{}{index})", r"\p{L}".repeat(10)))
        .collect();
    let (matched, left) = small_patterns(patterns.iter().map(String::as_str).collect());
    let read: u64 = matched
        .iter()
        .map(|text| pattern_size::read_bytes(text))
        .sum();
    assert!(read <= MAX_READ_BYTES, "{read}");
    assert!(!matched.is_empty() && matched.len() < 10 && left.len() > 990);
}

#[test]
fn a_schema_is_checked_faster_than_it_is_compiled() {
    let patterns = (0..8).map(|index| {
        let pattern = json!({ "pattern": format!("[a-y]{{6000}}{index}") });
        (format!("p{index}"), pattern)
    });
    let properties = Value::Object(patterns.collect());
    let schema = json!({ "type": "object", "properties": properties });
    let start = std::time::Instant::now();
    validator(&schema).unwrap();
    let compiled = start.elapsed();
    let start = std::time::Instant::now();
    for _ in 0..5 {
        check_schema(&schema).unwrap();
    }
    assert!(
        start.elapsed() < compiled,
        "{:?} {compiled:?}",
        start.elapsed()
    );
    for (schema, is_schema) in [
        (json!({ "pattern": "(" }), false),
        (json!({ "patternProperties": { "(": {} } }), false),
        (json!({ "pattern": "(?!x)y" }), true),
        (json!({ "default": { "pattern": "(" } }), true),
        (json!({ "type": "nothing" }), false),
        (
            json!({ "$schema": "http://json-schema.org/draft-07/schema#", "format": "regex" }),
            true,
        ),
    ] {
        assert_eq!(check_schema(&schema).is_ok(), is_schema, "{schema}");
    }
}

#[test]
fn problems_of_long_names_are_not_all_listed() {
    let schema = json!({ "additionalProperties": { "items": { "type": "string" } } });
    let validator = validator(&schema).unwrap();
    let problems = |name: String| {
        let value = json!({ name: [1, 2, 3] });
        validator.problems(&value, 40).unwrap()
    };
    assert_eq!(problems("k".to_owned()).listed.len(), 3);
    let long = problems("k".repeat(2 << 20));
    assert_eq!((long.listed.len(), long.more), (1, 0));
    assert!(long.listed[0].pointer.len() < 1000);
}
