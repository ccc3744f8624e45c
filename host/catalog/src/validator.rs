//! Compiled JSON Schema of tools.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use dormouse_wit::pattern_size;
use fancy_regex::ParseError;
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};

use crate::schema_cost::{MAX_STEPS, SchemaCost, longest_path};
use crate::schema_references::{KeywordValue, References, is_applicator};
use crate::schema_rewrite::Rewrite;

/// Most memory of all compiled patterns of a schema, which are kept, in bytes.
const MAX_PATTERN_BYTES: usize = 4 << 20;

/// Most memory of one compiled pattern, in bytes.
const MAX_ONE_PATTERN_BYTES: usize = 2 << 20;

/// Most patterns of a schema that are matched.
const MAX_PATTERNS: usize = 4096;

/// Most memory that reading all patterns of a schema may take, one after the other, in bytes, with
/// time counted as memory ([`pattern_size`]).
const MAX_READ_BYTES: u64 = 16 << 20;

/// Most steps of validating a value for all of its problems to be listed: each problem takes
/// several texts.
const MAX_LISTING_STEPS: u64 = 20_000;

/// Most steps of validating a value within a call of a worker of the runtime: about a millisecond.
const MAX_SHORT_STEPS: u64 = 5_000;

/// Most bytes of the paths of all problems of a value together for them to be listed: each problem
/// keeps its own.
const MAX_PATH_BYTES: u64 = 8 << 20;

/// Message for a value of which finding the problems would take too long.
const UNTOLD: &str = "it does not match, and is too large to tell where";

/// Longest path that is shown in full, in characters.
const MAX_TOLD_PATH: usize = 200;

/// A schema that validates values in a bounded number of steps and matches patterns in linear time:
/// so that it needs no thread and no deadline of its own.
#[derive(Debug)]
pub struct BoundedValidator {
    /// The schema as it is compiled.
    schema: Value,
    cost: SchemaCost,
    /// Compiled schema; none where every value matches.
    validator: Option<Validator>,
    /// Place of the first pattern that is not matched, as a JSON pointer.
    unmatched: Option<String>,
}

/// Problems of a value with a schema.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Problems {
    /// The first problems.
    pub listed: Vec<SchemaProblem>,
    /// Number of further problems.
    pub more: usize,
}

impl Problems {
    /// Checks whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.more == 0
    }
}

/// A problem of a value with a schema.
#[derive(Debug, PartialEq, Eq)]
pub struct SchemaProblem {
    /// Place in the value, as a JSON pointer.
    pub pointer: String,
    /// Description of the problem, with values in backticks.
    pub message: String,
}

/// Reason for which values cannot be validated with a schema, as a predicate of the schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// No JSON Schema, with the fault and its place.
    #[error("is no JSON Schema: {0}")]
    Invalid(String),
    /// A schema of an unknown dialect, or with a reference to something outside of it.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// A schema with which validating any value could take for ever.
    #[error("{0}")]
    TooCostly(String),
}

/// Returns the reason for which validating with a schema costs too much, if it does: clients follow
/// its references, too.
#[must_use]
pub fn too_costly(schema: &Value) -> Option<String> {
    let compiled = bounded(schema, &References::of(schema), &HashSet::new());
    SchemaCost::of(&compiled).err()
}

/// Compiles a schema of a tool, in the dialect that it names: 2020-12 where it names none, as in
/// MCP. Nothing is ever fetched for it.
///
/// Keywords that cannot be checked within bounds are not checked, so that more values may match,
/// and never less: a pattern that cannot be matched in linear time (with look-around or
/// back-references), or that takes too much memory when it is read or compiled, patterns beyond a
/// maximum number, a `$dynamicRef` that may lead to several places, and a whole schema of several
/// dialects or with too long pointers to its parts. The recipient of the value can still check
/// these.
///
/// # Errors
/// It is no schema, its dialect is unknown, it refers to something outside of it, or validating
/// with it could take for ever.
pub fn validator(schema: &Value) -> Result<BoundedValidator, SchemaError> {
    let (references, patterns) = read(schema)?;
    let (matched, too_large) = small_patterns(patterns);
    let mut unmatched: HashSet<_> = too_large.into_iter().map(ToOwned::to_owned).collect();
    let place_of = |unmatched: &HashSet<String>| {
        let texts = unmatched.iter().map(String::as_str).collect();
        first_of(&texts, schema, &references).map(|(place, _)| place)
    };
    let compiled = bounded(schema, &references, &unmatched);
    let cost = SchemaCost::of(&compiled).map_err(SchemaError::TooCostly)?;
    if !references.can_be_compiled() {
        return Ok(BoundedValidator {
            schema: compiled.into_owned(),
            cost,
            validator: None,
            unmatched: place_of(&unmatched),
        });
    }
    let size = (MAX_PATTERN_BYTES / matched.len().max(1)).min(MAX_ONE_PATTERN_BYTES);
    let options = options(size);
    let error = match options.build(&compiled) {
        Ok(validator) => {
            return Ok(BoundedValidator {
                unmatched: place_of(&unmatched),
                schema: compiled.into_owned(),
                cost,
                validator: Some(validator),
            });
        }
        Err(error) => SchemaError::Invalid(problem(&error)),
    };
    let is_linear = |pattern: &str| {
        let alone = Value::Object(Map::from_iter([("pattern".to_owned(), pattern.into())]));
        options.build(&alone).is_ok()
    };
    let before = unmatched.len();
    // A text that is no pattern at all is the author's mistake, and stays one.
    let backtracking = matched
        .iter()
        .filter(|pattern| !is_linear(pattern) && is_pattern(pattern));
    unmatched.extend(backtracking.map(ToString::to_string));
    if unmatched.len() == before {
        return Err(error);
    }
    let compiled = bounded(schema, &references, &unmatched).into_owned();
    let validator = options
        .build(&compiled)
        .map_err(|error| SchemaError::Invalid(problem(&error)))?;
    Ok(BoundedValidator {
        cost: SchemaCost::of(&compiled).map_err(SchemaError::TooCostly)?,
        unmatched: place_of(&unmatched),
        schema: compiled,
        validator: Some(validator),
    })
}

/// Checks that a schema is valid, like [`validator`], for schemas that validate no value here: neither
/// it nor its patterns are compiled, which takes hundreds of times as long as reading them, and too
/// much memory. A server may list thousands of schemas.
///
/// # Errors
/// Errors of [`validator`].
pub fn check_schema(schema: &Value) -> Result<(), SchemaError> {
    let (references, patterns) = read(schema)?;
    let all: HashSet<_> = patterns.iter().map(ToString::to_string).collect();
    let compiled = bounded(schema, &references, &all);
    SchemaCost::of(&compiled).map_err(SchemaError::TooCostly)?;
    let wrong: HashSet<_> = patterns
        .into_iter()
        .filter(|pattern| !is_pattern(pattern))
        .collect();
    if !wrong.is_empty()
        && let Some((place, pattern)) = first_of(&wrong, schema, &references)
    {
        let pattern = told(pattern);
        return Err(SchemaError::Invalid(format!(
            "`{pattern}` is no regular expression at `{place}`"
        )));
    }
    if !references.can_be_compiled() {
        return Ok(());
    }
    jsonschema::meta::validate(&compiled).map_err(|error| SchemaError::Invalid(problem(&error)))
}

fn options(pattern_bytes: usize) -> jsonschema::ValidationOptions<'static> {
    let patterns = PatternOptions::regex()
        .size_limit(pattern_bytes)
        .dfa_size_limit(pattern_bytes);
    jsonschema::options()
        .offline()
        .with_pattern_options(patterns)
        // A value would be compiled as a pattern, at any cost.
        .with_format("regex", |_: &str| true)
}

/// Returns the references of a schema, and the texts that may be its patterns, each once.
fn read(schema: &Value) -> Result<(References<'_>, Vec<&str>), SchemaError> {
    if let (Some(dialect), Draft::Unknown) =
        (schema.get("$schema"), Draft::default().detect(schema))
    {
        return Err(SchemaError::Unreadable(format!(
            "its dialect, {}, is not known here (2020-12, 2019-09, draft-07, draft-06 and \
             draft-04 are)",
            told(&dialect.to_string())
        )));
    }
    let references = References::of(schema);
    if let Some(why) = references.broken() {
        return Err(SchemaError::Unreadable(why.to_owned()));
    }
    let mut patterns = Vec::new();
    patterns_in(schema, &mut patterns);
    patterns.sort_unstable();
    patterns.dedup();
    Ok((references, patterns))
}

/// Returns a schema without unbounded keywords, and with pointers as references.
fn bounded<'a>(
    schema: &'a Value,
    references: &References<'a>,
    unmatched_patterns: &HashSet<String>,
) -> Cow<'a, Value> {
    if !references.has_to_be_rewritten() && unmatched_patterns.is_empty() {
        return Cow::Borrowed(schema);
    }
    let rewrite = Rewrite {
        references,
        unmatched_patterns,
        leaves_out: references.has_unknown_targets() || !unmatched_patterns.is_empty(),
    };
    Cow::Owned(rewrite.rewritten(schema))
}

/// Checks whether a schema may have patterns anywhere.
pub(crate) fn has_patterns(schema: &Value) -> bool {
    let mut patterns = Vec::new();
    patterns_in(schema, &mut patterns);
    !patterns.is_empty()
}

/// Returns the schema without the patterns that take too much memory to be read, where it has any.
///
/// # Errors
/// Errors of [`check_schema`].
pub(crate) fn without_large_patterns(schema: &Value) -> Result<Cow<'_, Value>, SchemaError> {
    let (references, patterns) = read(schema)?;
    let (_, large) = small_patterns(patterns);
    if large.is_empty() {
        return Ok(Cow::Borrowed(schema));
    }
    let large = large.into_iter().map(ToOwned::to_owned).collect();
    Ok(bounded(schema, &references, &large))
}

/// Collects the texts that may be patterns, anywhere in a schema.
fn patterns_in<'a>(schema: &'a Value, patterns: &mut Vec<&'a str>) {
    match schema {
        Value::Array(items) => items.iter().for_each(|item| patterns_in(item, patterns)),
        Value::Object(members) => {
            for (keyword, value) in members {
                match (KeywordValue::of(keyword), value) {
                    (_, Value::String(pattern)) if keyword == "pattern" => patterns.push(pattern),
                    (KeywordValue::SchemasByName, Value::Object(by_name)) => {
                        if keyword == "patternProperties" {
                            patterns.extend(by_name.keys().map(String::as_str));
                        }
                        by_name
                            .values()
                            .for_each(|schema| patterns_in(schema, patterns));
                    }
                    // References may lead there, too.
                    _ => patterns_in(value, patterns),
                }
            }
        }
        _ => {}
    }
}

/// Splits the patterns into those that are matched and those that are not, as each takes too much
/// memory to be read, or all of them together would.
fn small_patterns(patterns: Vec<&str>) -> (Vec<&str>, Vec<&str>) {
    let mut left = MAX_READ_BYTES;
    let mut matched = 0;
    patterns.into_iter().partition(|pattern| {
        let bytes = pattern_size::read_bytes(pattern);
        let fits = bytes <= left.min(pattern_size::MAX_READ_BYTES) && matched < MAX_PATTERNS;
        if fits {
            left -= bytes;
            matched += 1;
        }
        fits
    })
}

/// Returns the place where a schema first has one of these texts as a pattern, not in data or below
/// unknown keywords, as a JSON pointer, and the text.
fn first_of<'a>(
    texts: &HashSet<&'a str>,
    schema: &Value,
    references: &References<'_>,
) -> Option<(String, &'a str)> {
    let within = |step: &str, value: &Value| {
        let (place, text) = first_of(texts, value, references)?;
        let step = step.replace('~', "~0").replace('/', "~1");
        Some((format!("/{step}{place}"), text))
    };
    match schema {
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(index, item)| within(&index.to_string(), item))
        }
        Value::Object(members) => {
            let here = |keyword: &str, text: &str| {
                let text = texts.get(text).filter(|_| references.is_part(members))?;
                Some((format!("/{keyword}"), *text))
            };
            members.iter().find_map(|(keyword, value)| {
                let found = match (keyword.as_str(), value) {
                    ("pattern", Value::String(text)) => here(keyword, text),
                    ("patternProperties", Value::Object(by_name)) => {
                        by_name.keys().find_map(|text| here(keyword, text))
                    }
                    _ => None,
                };
                // The content of a text is not validated.
                let is_known = || is_applicator(keyword) && keyword != "contentSchema";
                match KeywordValue::of(keyword) {
                    _ if found.is_some() => found,
                    KeywordValue::Data => None,
                    KeywordValue::Schemas => is_known().then(|| within(keyword, value)).flatten(),
                    KeywordValue::SchemasByName => {
                        let mut parts = value.as_object().into_iter().flatten();
                        let (place, text) = parts.find_map(|(name, part)| within(name, part))?;
                        Some((format!("/{keyword}{place}"), text))
                    }
                }
            })
        }
        _ => None,
    }
}

/// Checks whether a text may be a pattern of some kind. It is parsed and never compiled, which has
/// no bound: classes are expanded, and each look-around of a pattern is compiled by itself, to any
/// size. A text that is too long to be parsed may be one.
fn is_pattern(text: &str) -> bool {
    /// Check by the grammar that JSON Schema refers to (ECMA-262).
    static ECMA: LazyLock<Option<Validator>> = LazyLock::new(|| {
        let format = Value::Object(Map::from_iter([("format".to_owned(), "regex".into())]));
        let options = jsonschema::options()
            .offline()
            .should_validate_formats(true);
        options.build(&format).ok()
    });
    if text.len() > pattern_size::MAX_PATTERN_LENGTH {
        return true;
    }
    match fancy_regex::Expr::parse_tree(text) {
        // The parser has given up.
        Ok(_) | Err(fancy_regex::Error::ParseError(_, ParseError::RecursionExceeded)) => true,
        Err(_) => ECMA
            .as_ref()
            .is_none_or(|format| format.is_valid(&Value::from(text))),
    }
}

impl BoundedValidator {
    /// Returns the place of the first pattern in the schema that is not matched, as a JSON pointer.
    #[must_use]
    pub fn unmatched(&self) -> Option<&str> {
        self.unmatched.as_deref()
    }

    /// Checks whether validating the value may take longer than a worker of the runtime has for one
    /// call in one go.
    #[must_use]
    pub fn takes_long(&self, value: &Value) -> bool {
        let steps = || self.cost.steps_within(&self.schema, value, MAX_SHORT_STEPS);
        self.validator.is_some() && steps().is_none()
    }

    /// Returns the problems of a value with the schema, of which so many are listed.
    ///
    /// # Errors
    /// Validating the value takes too long, with the reason.
    pub fn problems(&self, value: &Value, listed: usize) -> Result<Problems, String> {
        let Some(validator) = &self.validator else {
            return Ok(Problems::default());
        };
        let steps = self.cost.steps(&self.schema, value).ok_or_else(|| {
            format!("validating this against it takes more than {MAX_STEPS} steps")
        })?;
        let mut problems = Problems::default();
        if validator.is_valid(value) {
            return Ok(problems);
        }
        let path = longest_path(value) as u64;
        let can_tell =
            |steps: u64| steps <= MAX_LISTING_STEPS && steps.saturating_mul(path) <= MAX_PATH_BYTES;
        if !can_tell(steps.validating.saturating_add(steps.repeated)) {
            let first = match can_tell(steps.repeated) {
                true => validator.validate(value).err(),
                // The first problem has all problems with each of several schemas in it.
                false => None,
            };
            problems.listed.push(match first {
                Some(first) => SchemaProblem::of(&first),
                None => SchemaProblem {
                    pointer: String::new(),
                    message: UNTOLD.to_owned(),
                },
            });
            return Ok(problems);
        }
        for error in validator.iter_errors(value) {
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
            pointer: shown_path(error),
            message: told(&error.to_string()),
        }
    }
}

/// Returns the place of an error, as a JSON pointer, or the beginning of that.
fn shown_path(error: &ValidationError<'_>) -> String {
    let path = error.instance_path().to_string();
    match path.char_indices().nth(MAX_TOLD_PATH) {
        Some((end, _)) => format!("{}…", path.get(..end).unwrap_or_default()),
        None => path,
    }
}

/// Describes the fault of a schema, with its place.
fn problem(error: &ValidationError<'_>) -> String {
    let place = shown_path(error);
    let place = match place.as_str() {
        "" => String::new(),
        place => format!(" at `{place}`"),
    };
    format!("{}{place}", told(&error.to_string()))
}

/// Shortens a validator's message, with values in backticks as everywhere.
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
}
