//! Comparison of schemas by the values that they accept.

use serde_json::Value;

use super::canonical::canonical;

/// Keywords that are only for readers, or that name the dialect of the others.
const ANNOTATIONS: [&str; 7] = [
    "$schema",
    "$comment",
    "title",
    "description",
    "examples",
    "deprecated",
    "default",
];

/// Keywords whose members have names of the author's, each with a schema.
const NAMED_SCHEMAS: [&str; 5] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];

/// Keywords whose values are no schemas.
const DATA: [&str; 3] = ["const", "enum", "required"];

/// Checks whether two JSON Schemas differ at most in parts that do not decide the values they
/// accept.
pub(super) fn accepts_the_same(one: &str, other: &str) -> bool {
    let read = |text: &str| {
        // Readers do not agree on what has a member twice.
        canonical(text)?;
        let mut schema: Value = serde_json::from_str(text).ok()?;
        strip(&mut schema);
        Some(schema)
    };
    one == other || matches!((read(one), read(other)), (Some(one), Some(other)) if one == other)
}

/// Removes the annotations from a schema, and from those in it.
fn strip(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.retain(|name, _| !ANNOTATIONS.contains(&name.as_str()));
            for (name, value) in members {
                match value {
                    Value::Object(named) if NAMED_SCHEMAS.contains(&name.as_str()) => {
                        named.values_mut().for_each(strip);
                    }
                    _ if DATA.contains(&name.as_str()) => {}
                    value => strip(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_tells_something_makes_no_difference() {
        let old = r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object",
            "properties":{"title":{"type":"string","description":"x"}},"required":["title"]}"#;
        for (new, is_same) in [
            (
                r#"{"type":"object","title":"T","properties":{"title":{"title":"y","type":"string"}},
                    "required":["title"],"$schema":"https://json-schema.org/draft/2020-12/schema"}"#,
                true,
            ),
            (
                r#"{"type":"object","properties":{"title":{"type":"number"}},"required":["title"]}"#,
                false,
            ),
            (
                r#"{"type":"object","properties":{},"required":["title"]}"#,
                false,
            ),
            (
                r#"{"type":"object","properties":{"title":{"type":"string"}},"required":[]}"#,
                false,
            ),
            (
                r#"{"type":"object","type":"object","properties":{"title":{"type":"string"}},"required":["title"]}"#,
                false,
            ),
        ] {
            assert_eq!(accepts_the_same(old, new), is_same, "{new}");
        }
        // A value may look like a schema.
        let value = |text: &str| format!(r#"{{"enum":[{{"title":"{text}"}}]}}"#);
        assert!(!accepts_the_same(&value("a"), &value("b")));
    }

    #[test]
    fn comparing_takes_linear_time() {
        let schemas = |size: usize| {
            let members: Vec<_> = (0..size)
                .map(|n| format!(r#""p{n}":{{"title":"t","type":"string"}}"#))
                .collect();
            format!(r#"{{"properties":{{{}}}}}"#, members.join(","))
        };
        dormouse_tests::growth::is_linear("schemas", 1000, schemas, |schema: &String| {
            std::hint::black_box(accepts_the_same(schema, &format!("{schema} ")));
        });
    }

    #[test]
    fn schemas_that_differ_are_compared_in_linear_time() {
        type Schema<'s> = &'s dyn Fn(usize) -> String;
        let schemas: [(&str, Schema<'_>); 4] = [
            ("values", &|size| {
                let values = (0..size).map(|n| format!("{{\"title\":{n}}}"));
                format!(r#"{{"enum":[{}]}}"#, values.collect::<Vec<_>>().join(","))
            }),
            ("schemas beside each other", &|size| {
                format!(
                    r#"{{"allOf":[{}]}}"#,
                    vec![r#"{"title":"t"}"#; size].join(",")
                )
            }),
            ("definitions", &|size| {
                let named =
                    (0..size).map(|n| format!(r#""title{n}":{{"default":1,"title":{{}}}}"#));
                format!(r#"{{"$defs":{{{}}}}}"#, named.collect::<Vec<_>>().join(","))
            }),
            ("annotations", &|size| {
                format!(r#"{{"description":"{}","examples":[1]}}"#, "x".repeat(size))
            }),
        ];
        for (what, schema) in schemas {
            dormouse_tests::growth::is_linear(what, 1000, schema, |schema: &String| {
                let other = schema.replacen('{', "{\"title\":7,", 1);
                assert!(accepts_the_same(schema, &other));
                let other = schema.replacen('{', "{\"minLength\":7,", 1);
                assert!(!accepts_the_same(schema, &other));
            });
        }
    }
}
