//! The forms that MCP knows (`requestedSchema` of an elicitation): flat objects of
//! fields that every client can show.
//!
//! A plugin's form is read before anybody is asked. Clients know no more of JSON Schema
//! than this; shown anything else, one fails, and another lets its user fill in what is
//! refused afterwards.

mod checked;
mod field;

use jsonschema::Validator;
use serde_json::{Map, Value};

pub use field::{Field, FieldChoice, FieldKind};

/// Keywords of JSON Schema that combine schemas or refer to others, which no form may have.
const COMBINING: [&str; 7] = [
    "$ref",
    "$dynamicRef",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
];

/// Most fields of a form. No client shows that many.
const MAX_FIELDS: usize = 128;

/// Longest schema of a form, in bytes of JSON. A form with that much is a few thousand choices.
const MAX_FORM_BYTES: usize = 256 << 10;

/// Most fields of a form that have patterns: each is compiled for each answer.
const MAX_PATTERNS: usize = 16;

/// Most memory for the compiled pattern of one field, in bytes. It bounds the states that a text is
/// matched for.
const MAX_PATTERN_BYTES: usize = 128 << 10;

/// Most bytes of all texts of a form that are matched with patterns, which takes time in proportion
/// to these and to the states of the patterns.
const MAX_MATCHED_BYTES: usize = 8 << 10;

/// A form that is to be filled in.
#[derive(Debug, Clone)]
pub struct Form {
    /// Fields, in the order in which they were declared.
    pub fields: Vec<Field>,
}

impl Form {
    /// Reads a form from its schema.
    ///
    /// # Errors
    /// The schema is none of MCP's forms. The error says why, without a subject: "its `type` is …".
    pub fn read(schema: &Value) -> Result<Self, String> {
        let form = schema
            .as_object()
            .ok_or_else(|| format!("it is {}, and a form is an object", shown(schema)))?;
        let bytes = schema.to_string().len();
        if bytes > MAX_FORM_BYTES {
            return Err(format!(
                "it has {bytes} bytes, and a form has {MAX_FORM_BYTES} at most"
            ));
        }
        match form.get("type") {
            Some(Value::String(ty)) if ty == "object" => {}
            Some(other) => {
                let other = shown(other);
                return Err(format!(
                    "its `type` is {other}, and that of a form is `object`"
                ));
            }
            None => return Err("it has no `type`, and that of a form is `object`".into()),
        }
        flat(form, &COMBINING).map_err(|why| format!("it {why}"))?;
        let fields = match form.get("properties") {
            Some(Value::Object(fields)) => fields,
            Some(other) => {
                let other = shown(other);
                return Err(format!("its `properties` are {other}, and no object"));
            }
            None => {
                return Err(
                    "it has no `properties`, which are `{}` where there is nothing to fill in"
                        .into(),
                );
            }
        };
        if fields.len() > MAX_FIELDS {
            let fields = fields.len();
            return Err(format!(
                "it has {fields} fields, and a form has {MAX_FIELDS} at most"
            ));
        }
        let required = match form.get("required") {
            Some(names) => texts(names)
                .map_err(|other| format!("its `required` has {other}, and no names of fields"))?,
            None => Vec::new(),
        };
        if let Some(name) = required.iter().find(|name| !fields.contains_key(**name)) {
            return Err(format!("`{name}` is required, and there is no such field"));
        }
        let has_pattern = |field: &&Value| field.get("pattern").is_some();
        let patterns = fields.values().filter(has_pattern).count();
        if patterns > MAX_PATTERNS {
            return Err(format!(
                "`{patterns}` of its fields have a `pattern`, and those of a form are {MAX_PATTERNS} at most"
            ));
        }
        if let Some(other) = form.get("additionalProperties")
            && !(other.is_boolean() || other.is_object())
        {
            let other = shown(other);
            return Err(format!(
                "its `additionalProperties` is {other}, and no `true` or `false`"
            ));
        }
        let matched = matched_bytes(fields, |_, field| field.get("default"));
        if matched > MAX_MATCHED_BYTES {
            return Err(format!(
                "the `default`s of its fields with a `pattern` have {matched} bytes, and those of a form have {MAX_MATCHED_BYTES} at most"
            ));
        }
        let fields = fields.iter().map(|(name, schema)| {
            let field = Field::read(name, schema, required.contains(&name.as_str()));
            field.map_err(|why| format!("its field `{name}` {why}"))
        });
        let fields = fields.collect::<Result<_, _>>()?;
        Ok(Self { fields })
    }
}

/// Checks that nothing in a schema combines others.
fn flat(schema: &Map<String, Value>, combining: &[&str]) -> Result<(), String> {
    match combining.iter().find(|word| schema.contains_key(**word)) {
        Some(word) => Err(format!("has `{word}`, which no form may have")),
        None => Ok(()),
    }
}

/// Returns the texts of a list; the error shows what is none.
fn texts(list: &Value) -> Result<Vec<&str>, String> {
    let items = list.as_array().ok_or_else(|| shown(list))?;
    let texts = items.iter();
    texts
        .map(|item| item.as_str().ok_or_else(|| shown(item)))
        .collect()
}

/// Returns the bytes of the texts of a form's fields that are to match patterns.
fn matched_bytes<'f, 'v>(
    fields: &'f Map<String, Value>,
    text: impl Fn(&'f str, &'f Value) -> Option<&'v Value>,
) -> usize {
    let with_patterns = fields
        .iter()
        .filter(|(_, field)| field.get("pattern").is_some());
    let texts = with_patterns.filter_map(|(name, field)| text(name, field)?.as_str());
    texts.map(str::len).sum()
}

/// Checks an answer against the schema of a form.
///
/// # Errors
/// The answer does not fit. The error says why: "does not fit…".
pub fn fits(form: &Value, answer: &Value) -> Result<(), String> {
    if let Some(Value::Object(fields)) = form.get("properties") {
        let matched = matched_bytes(fields, |name, _| answer.get(name));
        if matched > MAX_MATCHED_BYTES {
            return Err(format!(
                "does not fit: its texts for fields with a `pattern` have {matched} bytes, where {MAX_MATCHED_BYTES} are allowed"
            ));
        }
    }
    let validator = validator(&checked::form(form));
    let validator = validator.map_err(|error| format!("cannot be checked{}", told(&error)))?;
    validated(&validator, answer)
}

fn validated(validator: &Validator, value: &Value) -> Result<(), String> {
    let checked = validator.validate(value);
    checked.map_err(|error| format!("does not fit{}", told(&error)))
}

/// Compiles a schema that answers are checked against, formats too.
///
/// # Errors
/// The value is no schema.
fn validator(schema: &Value) -> Result<Validator, jsonschema::ValidationError<'static>> {
    // Linear in the length of its input: a pattern cannot hang an answer.
    let patterns = jsonschema::PatternOptions::regex()
        .size_limit(MAX_PATTERN_BYTES)
        .dfa_size_limit(MAX_PATTERN_BYTES);
    jsonschema::options()
        .offline()
        .with_pattern_options(patterns)
        .should_validate_formats(true)
        .build(schema)
}

/// Returns the message of a validator's error, with the marks that all of Dormouse's errors have,
/// and the place in the value: " at `/a`: `1` is …".
fn told(error: &jsonschema::ValidationError<'_>) -> String {
    // A quotation mark in the value itself is none of the validator's.
    const VALUE: &str = "\0";
    let told = error.masked_with(VALUE).to_string();
    let told: String = told.replace(['"', '\''], "`").chars().take(300).collect();
    let told = told.replace(VALUE, &shown(error.instance()));
    match error.instance_path().as_str() {
        "" => format!(": {told}"),
        place => format!(" at `{place}`: {told}"),
    }
}

/// Shortens a value for a message.
pub fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.chars().count() {
        0..=80 => format!("`{text}`"),
        _ => format!("`{}…`", text.chars().take(79).collect::<String>()),
    }
}

#[cfg(test)]
mod tests;
