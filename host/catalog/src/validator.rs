//! JSON Schema as tools declare it, compiled.

use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::Value;

/// How far a pattern may look back and forth, where it is no regular expression.
const BACKTRACKS: usize = 100_000;

/// Compiles a schema of a tool, in the dialect that it says it is of: 2020-12 where it
/// does not say, as in MCP. Nothing is ever fetched for it, and no pattern can hang
/// whoever validates: most are matched in linear time, the others as far as a limit.
///
/// # Errors
/// It is no schema, its dialect is not known, or it refers to something outside of it;
/// in words for its author.
pub fn validator(schema: &Value) -> Result<Validator, String> {
    if let (Some(dialect), Draft::Unknown) =
        (schema.get("$schema"), Draft::default().detect(schema))
    {
        return Err(format!(
            "its dialect, {}, is not known here (2020-12, 2019-09, draft-07, draft-06 and \
             draft-04 are)",
            told(&dialect.to_string())
        ));
    }
    let options = jsonschema::options().offline();
    let linear = options
        .clone()
        .with_pattern_options(PatternOptions::regex())
        .build(schema);
    let Err(_) = linear else {
        return linear.map_err(|error| error.to_string());
    };
    options
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS))
        .build(schema)
        .map_err(|error| problem(&error))
}

/// What is wrong with a schema, and where in it.
fn problem(error: &ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    let place = match place.as_str() {
        "" => String::new(),
        place => format!(" at `{place}`"),
    };
    format!("{}{place}", told(&error.to_string()))
}

/// A validator's words, at no great length, with values in backticks as everywhere.
fn told(message: &str) -> String {
    let message: String = message.chars().take(300).collect();
    message.replace(['"', '\''], "`")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
        assert!(!draft4.is_valid(&json!({ "n": 3 })));
        assert!(draft4.is_valid(&json!({ "n": 4 })));
        let draft7 = of(
            "http://json-schema.org/draft-07/schema#",
            json!({ "dependencies": { "a": ["b"] } }),
        );
        assert!(!draft7.is_valid(&json!({ "a": 1 })));
        let draft2019 = of(
            "https://json-schema.org/draft/2019-09/schema",
            json!({ "items": [{ "type": "string" }] }),
        );
        assert!(!draft2019.is_valid(&json!([1])));
        let newest = validator(&json!({ "prefixItems": [{ "type": "string" }] })).unwrap();
        assert!(!newest.is_valid(&json!([1])));
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
            let told = validator(&schema).map(drop).unwrap_err();
            assert!(told.contains(why), "{schema}: {told}");
            assert!(!told.contains(['"', '\'']), "{told}");
        }
    }

    #[test]
    fn no_pattern_hangs_whoever_validates() {
        let schema = json!({ "pattern": "^(?=a)(a+)+$" });
        let validator = validator(&schema).unwrap();
        assert!(validator.is_valid(&json!("aaa")));
        let long = format!("{}b", "a".repeat(5000));
        let began = std::time::Instant::now();
        assert!(!validator.is_valid(&json!(long)));
        assert!(began.elapsed().as_secs() < 5);
    }
}
