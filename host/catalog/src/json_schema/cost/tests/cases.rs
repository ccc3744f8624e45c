//! Schemas and values of which validating takes many steps.

use serde_json::{Map, Value, json};

/// Texts of `count` kinds.
pub(super) fn names(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|index| format!("k{index}"))
}

/// An object with so many members.
pub(super) fn object(members: usize) -> Value {
    Value::Object(names(members).map(|name| (name, json!(1))).collect())
}

/// The same schema for the same value, so many times, each with a number of its own.
pub(super) fn each(keyword: &str, count: usize, schema: impl Fn(usize) -> Value) -> Value {
    json!({ keyword: (0..count).map(schema).collect::<Vec<_>>() })
}

/// Returns a case of each keyword: its name, a schema, and a value.
pub(super) fn of_keywords() -> Vec<(String, Value, Value)> {
    let mut cases = Vec::new();
    let mut add = |what: &str, schema: Value, value: Value| {
        cases.push((what.to_owned(), schema, value));
    };
    let numbers = Value::Array((0..20_000).map(|index| json!(index)).collect());
    let texts = Value::Array(names(20_000).map(Value::String).collect());
    let of_items = |schema: Value| json!({ "items": schema });

    add(
        "enum",
        of_items(json!({ "enum": (0..50).collect::<Vec<_>>() })),
        json!(vec![49; 5_000]),
    );
    add(
        "const",
        of_items(json!({ "const": vec![0; 50] })),
        json!(vec![vec![0; 51]; 5_000]),
    );
    add(
        "minimum",
        of_items(json!({ "minimum": 0, "maximum": 1e9 })),
        numbers.clone(),
    );
    add(
        "multipleOf",
        of_items(json!({ "multipleOf": 7 })),
        numbers.clone(),
    );
    for (divisor, dividend) in [(1e-300, 1e300), (1e-7, 1.5e17), (1e-300, 1.1)] {
        let dividends: Vec<_> = (0..1_000)
            .map(|index| dividend * f64::from(index + 1))
            .collect();
        let what = format!("multipleOf {divisor:e}, {dividend:e}");
        add(
            &what,
            of_items(json!({ "multipleOf": divisor })),
            json!(dividends),
        );
    }
    add(
        "minLength",
        of_items(each("allOf", 50, |of| json!({ "minLength": of }))),
        json!(["a".repeat(50_000), "ä".repeat(50_000)]),
    );
    add(
        "pattern",
        of_items(json!({ "pattern": "^k[0-9]+$" })),
        texts.clone(),
    );
    add(
        "pattern, long",
        json!({ "pattern": "^(?:[ab]?[bc]?){20}$" }),
        json!("ab".repeat(50_000)),
    );
    add(
        "pattern, unlike",
        json!({ "pattern": "(?:a|ab|b){9}c" }),
        json!("ab".repeat(50_000)),
    );
    for format in [
        "email",
        "hostname",
        "idn-hostname",
        "uri",
        "iri",
        "uri-template",
        "date-time",
        "ipv6",
        "json-pointer",
    ] {
        for text in ["ä.", "xn--a-"] {
            let schema =
                json!({ "$schema": "http://json-schema.org/draft-07/schema#", "format": format });
            add(
                &format!("format {format} {text}"),
                schema,
                json!(text.repeat(100_000)),
            );
        }
    }
    add(
        "contentEncoding",
        json!({ "$schema": "http://json-schema.org/draft-07/schema#", "contentEncoding": "base64", "contentMediaType": "application/json" }),
        json!("AAAA".repeat(100_000)),
    );
    add(
        "contentMediaType",
        json!({ "$schema": "http://json-schema.org/draft-07/schema#", "contentMediaType": "application/json" }),
        json!(format!("[{}1]", "1,".repeat(300_000))),
    );
    add(
        "uniqueItems",
        json!({ "uniqueItems": true }),
        numbers.clone(),
    );
    add(
        "uniqueItems, few",
        json!({ "items": { "uniqueItems": true } }),
        json!(vec![
            (0..15)
                .map(|of| {
                    let mut of_zeros = vec![0; 1000];
                    of_zeros.push(of);
                    of_zeros
                })
                .collect::<Vec<_>>();
            4
        ]),
    );
    add(
        "uniqueItems, objects",
        json!({ "uniqueItems": true }),
        (0..20_000)
            .map(|index| json!({ "a": index, "b": [index] }))
            .collect(),
    );
    add(
        "uniqueItems, near",
        json!({ "uniqueItems": true }),
        (0..1_000)
            .map(|index| json!((1_u64 << 63) + index))
            .collect(),
    );
    add(
        "uniqueItems, nested",
        json!({ "uniqueItems": true }),
        (0..250)
            .map(|index| {
                let mut value = json!([]);
                for bit in 0..8 {
                    value = match index >> bit & 1 {
                        0 => json!([value]),
                        _ => json!([value, []]),
                    };
                }
                value
            })
            .collect(),
    );
    add(
        "contains",
        json!({ "contains": { "const": -1 } }),
        numbers.clone(),
    );
    add(
        "minContains",
        json!({ "contains": { "const": 1 }, "minContains": 2, "maxContains": 3 }),
        numbers.clone(),
    );
    add(
        "prefixItems",
        json!({ "prefixItems": vec![json!({ "type": "integer" }); 20_000] }),
        numbers.clone(),
    );
    add(
        "required",
        of_items(json!({ "required": names(50).collect::<Vec<_>>() })),
        json!(vec![object(50); 500]),
    );
    add(
        "dependentRequired",
        json!({ "dependentRequired": Map::from_iter(names(300).map(|name| (name, json!(names(60).collect::<Vec<_>>())))) }),
        object(1_000),
    );
    add(
        "dependentSchemas",
        json!({ "dependentSchemas": Map::from_iter(names(300).map(|name| (name, json!({ "required": ["k7"] })))) }),
        object(10_000),
    );
    for properties in [1, 10, 100] {
        let declared = || Map::from_iter(names(properties).map(|name| (name, json!({}))));
        add(
            &format!("properties {properties}"),
            each("allOf", 50, |_| json!({ "properties": declared() })),
            object(2_000),
        );
        add(
            &format!("additionalProperties {properties}"),
            each(
                "allOf",
                50,
                |_| json!({ "properties": declared(), "additionalProperties": { "type": "integer" } }),
            ),
            object(2_000),
        );
    }
    add(
        "patternProperties",
        each(
            "allOf",
            5,
            |of| json!({ "patternProperties": { format!("^k{of}"): {}, "[a-z]{1,9}7$": {} } }),
        ),
        object(5_000),
    );
    add(
        "propertyNames",
        each(
            "allOf",
            5,
            |_| json!({ "propertyNames": { "minLength": 1 } }),
        ),
        object(10_000),
    );
    add(
        "minProperties",
        of_items(json!({ "minProperties": 1, "maxProperties": 9 })),
        json!(vec![object(3); 10_000]),
    );
    add(
        "not",
        of_items(json!({ "not": { "type": "string" } })),
        numbers.clone(),
    );
    add(
        "if",
        of_items(
            json!({ "if": { "type": "string" }, "then": { "minLength": 1 }, "else": { "minimum": 0 } }),
        ),
        numbers.clone(),
    );
    add(
        "$ref",
        json!({ "items": { "$ref": "#/$defs/a" }, "$defs": { "a": { "type": "integer" } } }),
        numbers.clone(),
    );
    add(
        "$dynamicRef",
        json!({ "items": { "$dynamicRef": "#/$defs/a" }, "$defs": { "a": { "type": "integer" } } }),
        numbers.clone(),
    );
    add(
        "a tree",
        json!({ "additionalProperties": { "$ref": "#" }, "type": ["object", "integer"] }),
        Value::Object(names(100).map(|name| (name, object(100))).collect()),
    );
    for keyword in ["allOf", "anyOf", "oneOf"] {
        add(
            keyword,
            of_items(each(keyword, 10, |of| json!({ "minimum": of + 20_000 }))),
            numbers.clone(),
        );
        add(
            &format!("{keyword}, nested"),
            (0..40).fold(
                json!({ "items": { "type": "string" } }),
                |schema, _| json!({ keyword: [schema] }),
            ),
            json!(vec![1; 5_000]),
        );
    }
    cases
}
