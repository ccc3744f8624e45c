use serde_json::{Map, json};

use super::parts::UNEVALUATED;
use super::*;

mod cases;
mod times;
mod unevaluated_cases;

/// Returns a schema whose references double at each of so many levels.
fn doubling(levels: usize) -> Value {
    let mut definitions = Map::new();
    for level in 0..levels {
        let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        let both = json!({ "allOf": [next, next] });
        definitions.insert(format!("d{level}"), both);
    }
    definitions.insert(format!("d{levels}"), json!({ "type": "object" }));
    json!({ "$ref": "#/$defs/d0", "$defs": definitions })
}

#[test]
fn references_that_double_are_refused_and_counting_them_is_linear() {
    assert!(SchemaCost::of(&doubling(8)).is_ok());
    for levels in [20, 40, 200] {
        let why = SchemaCost::of(&doubling(levels)).unwrap_err();
        assert!(why.contains("references are followed"), "{why}");
    }
}

#[test]
fn what_leads_back_to_itself_is_counted_by_the_value() {
    let tree = json!({
        "type": "object",
        "properties": { "children": { "type": "array", "items": { "$ref": "#" } } }
    });
    let cost = SchemaCost::of(&tree).unwrap();
    assert_eq!(cost.nodes, None);
    let mut value = json!({ "children": [] });
    for _ in 0..40 {
        value = json!({ "children": [value, {}, {}] });
    }
    let steps = cost.steps(&tree, &value).unwrap().validating;
    assert!(steps < 3000, "{steps}");

    // The same, twice at each level.
    let doubled = json!({
        "properties": { "child": { "anyOf": [{ "$ref": "#" }, { "$ref": "#", "title": "x" }] } }
    });
    let cost = SchemaCost::of(&doubled).unwrap();
    let mut value = json!({});
    for _ in 0..40 {
        value = json!({ "child": value });
    }
    assert_eq!(cost.steps(&doubled, &value), None);

    // Without end, and without any value.
    let endless = json!({ "anyOf": [{ "$ref": "#" }, { "$ref": "#" }] });
    let cost = SchemaCost::of(&endless).unwrap();
    assert_eq!(cost.steps(&endless, &json!({})), None);
}

#[test]
fn what_is_looked_at_again_counts_again() {
    let mut schema = json!({ "type": "object" });
    for _ in 0..30 {
        schema = json!({ "unevaluatedProperties": false, "allOf": [schema] });
    }
    assert!(SchemaCost::of(&schema).is_err());
}

#[test]
fn a_long_way_is_found_from_either_end() {
    for (levels, is_fine) in [(200, true), (600, false)] {
        let to = |level: usize| json!({ "$ref": format!("#/$defs/d{level}") });
        let mut definitions = Map::from_iter([("d0".to_owned(), json!({}))]);
        for level in 1..levels {
            definitions.insert(format!("d{level}"), json!({ "not": to(level - 1) }));
        }
        let up: Vec<_> = (0..levels).map(to).collect();
        let down: Vec<_> = (0..levels).rev().map(to).collect();
        for all in [up, down] {
            let schema = json!({ "allOf": all, "$defs": definitions });
            let cost = SchemaCost::of(&schema);
            assert_eq!(cost.is_ok(), is_fine, "{levels}: {cost:?}");
        }
    }
}

/// Each way through such schemas is followed when they are compiled: of what is counted once, there
/// are as many as there are ways.
#[test]
fn what_leads_back_to_itself_for_one_value_has_nothing_unevaluated() {
    for keyword in UNEVALUATED {
        for own in ["allOf", "anyOf", "if"] {
            let to = |name: String| json!({ "$ref": format!("#/$defs/{name}") });
            let lists = |all: Vec<Value>| match own {
                "if" => json!({ "if": all[0], "then": all[1], "else": all[1], keyword: false }),
                own => json!({ own: all, keyword: false }),
            };
            let mut definitions = Map::from_iter([("X".to_owned(), json!({}))]);
            for level in 0..30 {
                let before = match level {
                    0 => to("X".to_owned()),
                    _ => to(format!("B{}", level - 1)),
                };
                let back = to(format!("B{level}"));
                let parts = vec![back, before.clone(), before];
                definitions.insert(format!("L{level}"), lists(parts));
                let back = json!({ "allOf": [to(format!("L{level}"))] });
                definitions.insert(format!("B{level}"), back);
            }
            let all: Vec<_> = (0..30).map(|level| to(format!("L{level}"))).collect();
            let schema = json!({ "properties": { "x": { "allOf": all } }, "$defs": definitions });
            let why = SchemaCost::of(&schema).unwrap_err();
            assert!(why.contains("itself for the same value"), "{own}: {why}");
        }
    }
    // What leads back to itself for parts of the value is as usual.
    let tree = json!({
        "properties": { "child": { "$ref": "#" } },
        "unevaluatedProperties": false,
    });
    assert!(SchemaCost::of(&tree).is_ok());
}

/// A schema that many others refer to costs no more for one value: validators follow the parts of
/// the value.
#[test]
fn what_is_for_parts_of_the_value_does_not_multiply() {
    let shared = json!({
        "$ref": "#/$defs/d0",
        "$defs": Map::from_iter((0..30).map(|level| {
            let next = json!({ "$ref": format!("#/$defs/d{}", (level + 1) % 30) });
            let properties: Map<_, _> = (0..20).map(|one| (format!("p{one}"), next.clone())).collect();
            (format!("d{level}"), json!({ "properties": properties }))
        }))
    });
    let cost = SchemaCost::of(&shared).unwrap();
    let mut value = json!({});
    for _ in 0..50 {
        value = json!({ "p1": value });
    }
    assert!(cost.steps(&shared, &value).unwrap().validating < 5000);
}

#[test]
fn ordinary_schemas_take_few_steps_however_large_the_value() {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "pattern": "^[a-z/]{1,64}$" },
            "lines": { "type": "array", "items": { "type": "string" } },
            "mode": { "enum": ["a", "b"] }
        },
        "required": ["path"]
    });
    let cost = SchemaCost::of(&schema).unwrap();
    let lines: Vec<_> = (0..100_000).map(|line| format!("line {line}")).collect();
    let value = json!({ "path": "a".repeat(1000), "lines": lines });
    let steps = cost.steps(&schema, &value).unwrap().validating;
    assert!(steps < 500_000, "{steps}");
}

/// A text is matched for each state of its pattern, also if the schema has few parts.
#[test]
fn a_long_text_counts_for_each_state_of_its_pattern() {
    let long = json!("a".repeat(1 << 20));
    for (pattern, is_held) in [
        ("^[a-z]+$", true),
        (r"^\S[\s\S]*$", true),
        ("^(?:a?){5000}$", false),
        ("^(?:[ab]?[bc]?){500}$", false),
        ("(?x)^[ab]*a[ab]{#\n8000\n}c$", false),
    ] {
        let schema = json!({ "type": "string", "pattern": pattern });
        let cost = SchemaCost::of(&schema).unwrap();
        assert_eq!(cost.steps(&schema, &long).is_some(), is_held, "{pattern}");
        assert!(cost.steps(&schema, &json!("a".repeat(200))).is_some());
        let schema = json!({ "patternProperties": { pattern: true } });
        let value = json!({ long.as_str().unwrap(): 1 });
        let cost = SchemaCost::of(&schema).unwrap();
        assert_eq!(cost.steps(&schema, &value).is_some(), is_held, "{pattern}");
    }
}

/// Schemas that pass do not exhaust a validator's stack.
#[test]
fn the_deepest_schema_that_passes_can_be_validated() {
    let chain = |levels: usize| {
        let definition = |level: usize| {
            let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
            (format!("d{level}"), json!({ "allOf": [next] }))
        };
        let mut definitions: Map<_, _> = (0..levels).map(definition).collect();
        definitions.insert(format!("d{levels}"), json!({ "type": "object" }));
        json!({ "$ref": "#/$defs/d0", "$defs": definitions })
    };
    let deepest = (1..MAX_DEPTH)
        .rev()
        .find(|levels| SchemaCost::of(&chain(*levels)).is_ok());
    let schema = chain(deepest.unwrap());
    let validator = crate::validator(&schema).unwrap();
    assert!(validator.problems(&json!({}), 1).unwrap().is_empty());
    assert!(!validator.problems(&json!(7), 1).unwrap().is_empty());
    assert!(SchemaCost::of(&chain(MAX_DEPTH * 20)).is_err());
}

#[test]
fn names_that_depend_on_others_count() {
    let names = || (0..1000).map(|index| (format!("k{index}"), json!(["a"])));
    for keyword in ["dependentRequired", "dependencies"] {
        let names = Value::Object(names().collect());
        let schema = json!({ "type": "array", "items": { keyword: names } });
        let value = Value::Array(vec![json!({}); 2000]);
        let cost = SchemaCost::of(&schema).unwrap();
        assert_eq!(cost.steps(&schema, &value), None, "{keyword}");
    }
}

/// Returns a schema that declares one of so many properties in each of its parts.
fn declaring(keyword: &str, parts: usize) -> Value {
    let part = |index: usize| json!({ "properties": { format!("k{index}"): {} } });
    json!({ keyword: (0..parts).map(part).collect::<Vec<_>>() })
}

/// A validator looks at each member of the value for each of the other schemas.
#[test]
fn what_is_unevaluated_counts_for_each_member_and_each_schema() {
    let closing = |keywords: Value| {
        let mut schema = json!({ "unevaluatedProperties": false });
        let members = schema.as_object_mut().unwrap();
        members.extend(keywords.as_object().unwrap().clone());
        schema
    };
    let parts = || declaring("anyOf", 1_000);
    let referring =
        |keyword: &str| closing(json!({ keyword: "#/$defs/a", "$defs": { "a": parts() } }));
    let schemas = [
        closing(parts()),
        closing(declaring("allOf", 1_000)),
        closing(declaring("oneOf", 1_000)),
        closing(json!({ "allOf": [{ "anyOf": [parts()] }] })),
        closing(json!({ "if": parts() })),
        closing(json!({ "if": {}, "then": parts() })),
        closing(json!({ "if": false, "else": parts() })),
        closing(json!({ "dependentSchemas": { "k1": parts() } })),
        referring("$ref"),
        referring("$dynamicRef"),
        json!({ "not": closing(parts()) }),
        json!({ "unevaluatedProperties": closing(parts()) }),
    ];
    for schema in schemas {
        let cost = SchemaCost::of(&schema).unwrap();
        let object = |members: usize| {
            let members = (0..members).map(|index| (format!("k{index}"), json!(1)));
            Value::Object(members.collect())
        };
        let value = |members: usize| match schema.get("unevaluatedProperties") {
            Some(Value::Object(_)) => json!({ "a": object(members) }),
            _ => object(members),
        };
        let told = || schema.to_string().chars().take(120).collect::<String>();
        assert_eq!(cost.steps(&schema, &value(25_000)), None, "{}", told());
        assert!(cost.steps(&schema, &value(10)).is_some(), "{}", told());
    }
    let part = |index: usize| json!({ "prefixItems": [true], "contains": { "const": index } });
    let parts: Vec<_> = (0..300).map(part).collect();
    let schema = json!({ "unevaluatedItems": false, "anyOf": parts });
    let cost = SchemaCost::of(&schema).unwrap();
    assert_eq!(cost.steps(&schema, &json!(vec![1; 25_000])), None);
    assert!(cost.steps(&schema, &json!([1, 2])).is_some());
}

/// The validator's hash of an item is of its texts and numbers alone.
#[test]
fn items_that_look_alike_to_a_validator_are_compared_each_with_each() {
    let schema = json!({ "uniqueItems": true });
    let cost = SchemaCost::of(&schema).unwrap();
    let nested = |index: u32| {
        (0..12).fold(json!([]), |value, bit| match index >> bit & 1 {
            0 => json!([value]),
            _ => json!([value, []]),
        })
    };
    let alike: Vec<_> = (0..4_000).map(nested).collect();
    assert_eq!(cost.steps(&schema, &json!(alike)), None);
    let numbers: Vec<_> = (0..100_000).collect();
    assert!(cost.steps(&schema, &json!(numbers)).is_some());
    // Ends at the first two that are the same.
    assert!(
        cost.steps(&schema, &json!(vec![alike.last(); 4_000]))
            .is_some()
    );
}

/// To tell what is wrong, a validator lists all problems with each of several schemas, and does so
/// again at each level.
#[test]
fn problems_that_take_too_long_to_tell_are_not_told() {
    let schema = (0..40).fold(
        json!({ "items": { "type": "string" } }),
        |schema, _| json!({ "anyOf": [schema] }),
    );
    let cost = SchemaCost::of(&schema).unwrap();
    let value = json!(vec![1; 20_000]);
    let steps = cost.steps(&schema, &value).unwrap();
    assert!(steps.repeated > 30 * steps.validating, "{steps:?}");
    let validator = crate::validator(&schema).unwrap();
    let problems = validator.problems(&value, 9).unwrap();
    assert_eq!(
        problems.listed[0].message,
        "it does not match, and is too large to tell where"
    );
    let problems = validator.problems(&json!([1]), 9).unwrap();
    assert!(problems.listed[0].message.contains("anyOf"), "{problems:?}");
}

#[test]
fn many_numbers_may_be_checked_for_what_they_are_multiples_of() {
    for divisor in [json!(1), json!(0.01)] {
        let schema = json!({ "items": { "multipleOf": divisor } });
        let cost = SchemaCost::of(&schema).unwrap();
        assert!(cost.steps(&schema, &json!(vec![7; 20_000])).is_some());
    }
}
