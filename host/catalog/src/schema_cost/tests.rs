use serde_json::json;

use super::*;

/// A schema whose references double at each of so many levels.
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
    let steps = cost.steps(&tree, &value).unwrap();
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

/// What many refer to is no more for one value: validators follow what a value has.
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
    assert!(cost.steps(&shared, &value).unwrap() < 5000);
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
    let steps = cost.steps(&schema, &value).unwrap();
    assert!(steps < 500_000, "{steps}");
}

#[test]
fn patterns_count_by_their_repetitions() {
    assert!(pattern_states("^[a-z]+$") < 10);
    assert!(pattern_states("((a{100}){100}){100}") > 1_000_000);
    assert!(pattern_states(r"\p{L}{10}") > pattern_states("[a-z]{10}"));
}

/// However few parts the schema has: a text is matched for each state of its pattern.
#[test]
fn a_long_text_counts_for_each_state_of_its_pattern() {
    let long = json!("a".repeat(1 << 20));
    for (pattern, is_held) in [
        ("^[a-z]+$", true),
        (r"^\S[\s\S]*$", true),
        ("^(?:a?){5000}$", false),
        ("^(?:[ab]?[bc]?){500}$", false),
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

/// Whoever is let through here does not break a validator's stack.
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
