//! JSON Schema as tools declare it, compiled.

use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};

use crate::schema_cost::{MAX_STEPS, SchemaCost};

/// How much memory all patterns of a schema may take when they are compiled, in bytes.
const MAX_PATTERN_BYTES: usize = 64 << 20;

/// How much one of them may take, in bytes.
const MAX_ONE_PATTERN_BYTES: usize = 8 << 20;

/// How many patterns a schema may have.
const MAX_PATTERNS: usize = 4096;

/// In how many steps a value has to be validated for all of its problems to be listed: each
/// is several texts.
const MAX_LISTING_STEPS: u64 = 20_000;

/// A schema that values are held against, in steps that are bounded and with patterns that
/// are matched in linear time: so that needs no thread and no deadline of its own.
#[derive(Debug)]
pub struct BoundedValidator {
    schema: Value,
    cost: SchemaCost,
    validator: Validator,
}

/// What a value has of problems with a schema.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Problems {
    /// The first of them.
    pub listed: Vec<SchemaProblem>,
    /// How many more there are.
    pub more: usize,
}

impl Problems {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.more == 0
    }
}

/// A problem that a value has with a schema.
#[derive(Debug, PartialEq, Eq)]
pub struct SchemaProblem {
    /// Where in the value, as a JSON pointer.
    pub pointer: String,
    /// What is wrong there, with values in backticks.
    pub message: String,
}

/// Compiles a schema of a tool, in the dialect that it says it is of: 2020-12 where it
/// does not say, as in MCP. Nothing is ever fetched for it. A `pattern` that cannot be
/// matched in linear time (with look-around or back-references) is not held against
/// anything: whoever gets the value still can.
///
/// # Errors
/// It is no schema, its dialect is not known, it refers to something outside of it, or
/// validating against it could take for ever; in words for its author.
pub fn validator(schema: &Value) -> Result<BoundedValidator, String> {
    if let (Some(dialect), Draft::Unknown) =
        (schema.get("$schema"), Draft::default().detect(schema))
    {
        return Err(format!(
            "its dialect, {}, is not known here (2020-12, 2019-09, draft-07, draft-06 and \
             draft-04 are)",
            told(&dialect.to_string())
        ));
    }
    let cost = SchemaCost::of(schema).map_err(|error| error.to_string())?;
    let mut patterns = Vec::new();
    patterns_in(schema, &mut patterns);
    if patterns.len() > MAX_PATTERNS {
        return Err(format!("it has more than {MAX_PATTERNS} patterns"));
    }
    let size = (MAX_PATTERN_BYTES / patterns.len().max(1)).min(MAX_ONE_PATTERN_BYTES);
    let options = PatternOptions::regex()
        .size_limit(size)
        .dfa_size_limit(size);
    let options = jsonschema::options()
        .offline()
        .with_pattern_options(options);
    let mut schema = schema.clone();
    let compiled = options.build(&schema);
    let compiled = compiled.or_else(|error| {
        let is_linear = |pattern: &str| {
            let alone = Value::Object(Map::from_iter([("pattern".to_owned(), pattern.into())]));
            options.build(&alone).is_ok()
        };
        match remove_patterns(&mut schema, &is_linear) {
            0 => Err(error),
            _ => options.build(&schema),
        }
    });
    Ok(BoundedValidator {
        validator: compiled.map_err(|error| problem(&error))?,
        cost,
        schema,
    })
}

/// Keywords whose value is data and no schema.
const DATA: [&str; 5] = ["const", "default", "enum", "example", "examples"];

/// Collects what may be a pattern anywhere in a schema.
fn patterns_in<'a>(schema: &'a Value, patterns: &mut Vec<&'a str>) {
    match schema {
        Value::Array(items) => items.iter().for_each(|item| patterns_in(item, patterns)),
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(pattern) if name == "pattern" => patterns.push(pattern),
                    Value::Object(by_pattern) if name == "patternProperties" => {
                        patterns.extend(by_pattern.keys().map(String::as_str));
                        patterns_in(value, patterns);
                    }
                    _ if DATA.contains(&name.as_str()) => {}
                    _ => patterns_in(value, patterns),
                }
            }
        }
        _ => {}
    }
}

/// Removes each `pattern` that cannot be compiled. Returns how many those are.
fn remove_patterns(schema: &mut Value, is_linear: &impl Fn(&str) -> bool) -> usize {
    match schema {
        Value::Array(items) => items
            .iter_mut()
            .map(|item| remove_patterns(item, is_linear))
            .sum(),
        Value::Object(members) => {
            let pattern = members.get("pattern").and_then(Value::as_str);
            let mut removed = 0;
            // What is no pattern at all is the author's mistake, and stays one.
            if pattern.is_some_and(|pattern| !is_linear(pattern) && is_pattern(pattern)) {
                members.shift_remove("pattern");
                removed += 1;
            }
            for (name, value) in members {
                if !DATA.contains(&name.as_str()) {
                    removed += remove_patterns(value, is_linear);
                }
            }
            removed
        }
        _ => 0,
    }
}

/// Whether a text is a pattern of some kind. It is parsed and not compiled, which has no
/// bound: each look-around of a pattern is compiled by itself, to any size.
fn is_pattern(text: &str) -> bool {
    fancy_regex::Expr::parse_tree(text).is_ok()
}

impl BoundedValidator {
    /// The problems that a value has with the schema, of which so many are listed.
    ///
    /// # Errors
    /// Validating the value takes too long: why.
    pub fn problems(&self, value: &Value, listed: usize) -> Result<Problems, String> {
        let steps = self.cost.steps(&self.schema, value).ok_or_else(|| {
            format!("validating this against it takes more than {MAX_STEPS} steps")
        })?;
        let mut problems = Problems::default();
        if self.validator.is_valid(value) {
            return Ok(problems);
        }
        if steps > MAX_LISTING_STEPS {
            let first = self.validator.validate(value).err();
            problems
                .listed
                .extend(first.as_ref().map(SchemaProblem::of));
            return Ok(problems);
        }
        for error in self.validator.iter_errors(value) {
            if problems.listed.len() < listed {
                problems.listed.push(SchemaProblem::of(&error));
            } else {
                problems.more += 1;
            }
        }
        Ok(problems)
    }
}

impl SchemaProblem {
    fn of(error: &ValidationError<'_>) -> Self {
        Self {
            pointer: error.instance_path().to_string(),
            message: told(&error.to_string()),
        }
    }
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
        let fits = |schema: &BoundedValidator, value: Value| {
            schema.problems(&value, 9).unwrap().is_empty()
        };
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
            let told = validator(&schema).map(drop).unwrap_err();
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
}
