//! Schemas with keywords for what no other keyword has evaluated, and values, of which validating
//! takes many steps.

use serde_json::{Map, Value, json};

use super::cases::{each, names, object};

fn with(mut schema: Value, more: &Value) -> Value {
    let members = schema.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    schema
}

/// Returns cases of keywords for what no other keyword has evaluated: the name, a schema, and a value.
pub(super) fn of_unevaluated() -> Vec<(String, Value, Value)> {
    let mut cases = Vec::new();
    let mut add = |what: &str, schema: Value, value: Value| {
        cases.push((what.to_owned(), schema, value));
    };
    let property = |index: usize| json!({ "properties": { format!("k{index}"): {} } });
    let item = |index: usize| json!({ "prefixItems": vec![json!({}); 1 + index % 9] });
    let closed = json!({ "unevaluatedProperties": false });
    let closed_items = json!({ "unevaluatedItems": false });
    for keyword in ["allOf", "anyOf", "oneOf"] {
        add(
            &format!("unevaluatedProperties, {keyword}"),
            with(each(keyword, 100, property), &closed),
            object(1_000),
        );
        add(
            &format!("unevaluatedProperties, nested {keyword}"),
            with(
                (0..40).fold(property(1), |schema, _| json!({ keyword: [schema] })),
                &closed,
            ),
            object(1_000),
        );
        add(
            &format!("unevaluatedItems, {keyword}"),
            with(each(keyword, 100, item), &closed_items),
            json!(vec![1; 1_000]),
        );
        add(
            &format!("unevaluatedItems, contains, {keyword}"),
            with(
                each(keyword, 100, |of| json!({ "contains": { "const": of } })),
                &closed_items,
            ),
            json!((0..200).collect::<Vec<_>>()),
        );
    }
    let dependent = Map::from_iter(names(100).map(|name| (name, property(1))));
    add(
        "unevaluatedProperties, dependentSchemas",
        with(json!({ "dependentSchemas": dependent }), &closed),
        object(1_000),
    );
    let conditional =
        json!({ "if": each("anyOf", 50, property), "then": each("anyOf", 50, property) });
    add(
        "unevaluatedProperties, if",
        with(conditional, &closed),
        object(1_000),
    );
    add(
        "unevaluatedProperties, not",
        json!({ "not": with(each("anyOf", 100, property), &closed) }),
        object(1_000),
    );
    for reference in ["$ref", "$dynamicRef"] {
        let schema = json!({ reference: "#/$defs/a", "$defs": { "a": each("anyOf", 100, property) }, "unevaluatedProperties": false });
        add(
            &format!("unevaluatedProperties, {reference}"),
            schema,
            object(1_000),
        );
    }
    let branches = each(
        "anyOf",
        100,
        |of| json!({ "patternProperties": { format!("^k{of}"): {} } }),
    );
    add(
        "unevaluatedProperties, patternProperties",
        with(branches, &closed),
        object(200),
    );
    let inner = |of: usize| {
        with(
            property(of),
            &json!({ "unevaluatedProperties": { "type": "integer" } }),
        )
    };
    add(
        "unevaluatedProperties within",
        with(each("anyOf", 100, inner), &closed),
        object(100),
    );
    let deep = (0..6).fold(property(1), |schema, _| {
        with(json!({ "anyOf": [schema] }), &closed)
    });
    add("unevaluatedProperties at each level", deep, object(200));
    cases
}
