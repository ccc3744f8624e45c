//! Patterns of a schema: which of them can be matched within bounds.

use std::collections::HashSet;
use std::sync::LazyLock;

use dormouse_wit::pattern_size;
use fancy_regex::ParseError;
use jsonschema::Validator;
use serde_json::{Map, Value};

use super::references::{KeywordValue, References, is_applicator};

/// Most patterns of a schema that are matched.
const MAX_PATTERNS: usize = 4096;

/// Most memory that reading all patterns of a schema may take, one after the other, in bytes, with
/// time counted as memory ([`pattern_size`]).
pub(super) const MAX_READ_BYTES: u64 = 16 << 20;

/// Checks whether a schema may have patterns anywhere.
pub(crate) fn has_patterns(schema: &Value) -> bool {
    let mut patterns = Vec::new();
    patterns_in(schema, &mut patterns);
    !patterns.is_empty()
}

/// Collects the texts that may be patterns, anywhere in a schema.
pub(super) fn patterns_in<'a>(schema: &'a Value, patterns: &mut Vec<&'a str>) {
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
pub(super) fn small_patterns(patterns: Vec<&str>) -> (Vec<&str>, Vec<&str>) {
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
pub(super) fn first_of<'a>(
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
pub(super) fn is_pattern(text: &str) -> bool {
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
