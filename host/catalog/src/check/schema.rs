//! Check that a tool's schemas are JSON Schema, in the dialect that they name.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use dormouse_wit::DeclaredTool;
use dormouse_wit::error::{Finding, Severity};
use jsonschema::{Draft, ValidationError, Validator};
use serde_json::{Map, Value, json};

use super::finding;
use crate::SchemaError;
use crate::json_schema::{has_patterns, without_large_patterns};

/// Returns the meta-schema of a dialect, with its formats, which say that a `pattern` is a regular
/// expression, at any place in a schema.
fn meta(draft: Draft) -> Option<Validator> {
    let uri = match draft {
        Draft::Draft4 => "http://json-schema.org/draft-04/schema#",
        Draft::Draft6 => "http://json-schema.org/draft-06/schema#",
        Draft::Draft7 => "http://json-schema.org/draft-07/schema#",
        Draft::Draft201909 => "https://json-schema.org/draft/2019-09/schema",
        _ => "https://json-schema.org/draft/2020-12/schema",
    };
    let options = jsonschema::options().with_draft(draft);
    options
        .should_validate_formats(true)
        .offline()
        .build(&json!({ "$ref": uri }))
        .ok()
}

/// Meta-schema of the dialect of nearly all schemas: those that name none.
static META: LazyLock<Option<Validator>> = LazyLock::new(|| meta(Draft::Draft202012));

/// Checks a tool's `inputSchema` and, if it has one, its `outputSchema`.
pub(super) fn schemas(tool: &DeclaredTool, findings: &mut Vec<Finding>) {
    let name = &tool.name;
    let mut found = |severity, message: String, hint| {
        findings.push(finding(severity, name, message, hint));
    };
    let mut wrong = |message: String| found(Severity::Error, message, None);
    let object: Map<String, Value> = match serde_json::from_str(tool.tool.get()) {
        Ok(object) => object,
        Err(error) => return wrong(format!("its MCP Tool object cannot be read: {error}")),
    };
    let input = object.get("inputSchema");
    let ty = input.and_then(|schema| schema.get("type"));
    if ty.and_then(Value::as_str) != Some("object") {
        wrong("its `inputSchema` is not of type `object`".into());
    }
    // The host itself checks arguments with the schema of a typed tool.
    let is_typed = tool.function.is_some();
    if let Some(schema) = input {
        judge("inputSchema", schema, is_typed, &mut found);
    }
    if let Some(schema) = object.get("outputSchema") {
        judge("outputSchema", schema, is_typed, &mut found);
    }
}

fn judge(
    which: &str,
    schema: &Value,
    is_typed: bool,
    found: &mut impl FnMut(Severity, String, Option<&'static str>),
) {
    let mut wrong = |message, hint| found(Severity::Error, message, hint);
    if let Some(why) = crate::too_costly(schema) {
        let hint =
            "let each definition be referred to once on the way from the root, and no deeper";
        return wrong(
            format!("its `{which}` cannot be used: it {why}"),
            Some(hint),
        );
    }
    let draft = Draft::default().detect(schema);
    let other;
    let meta = match draft {
        // An unknown dialect is reported below.
        Draft::Unknown => &None,
        Draft::Draft202012 => &*META,
        draft => {
            other = meta(draft);
            &other
        }
    };
    // Other faults, such as a reference that leads nowhere, are reported below.
    let looked_at = without_large_patterns(schema).unwrap_or(Cow::Borrowed(schema));
    // A meta-schema has several parts, which may all report the same.
    let errors = meta.iter().flat_map(|meta| meta.iter_errors(&looked_at));
    let errors: BTreeSet<_> = errors
        .map(|error| told(which, &error.instance_path().to_string(), &error))
        .collect();
    if !errors.is_empty() {
        return errors.into_iter().for_each(|error| wrong(error, None));
    }
    // An adapter passes on what a server has written, and works without anybody reading it.
    let severity = |error: &SchemaError| match error {
        SchemaError::Unreadable(_) if !is_typed => Severity::Warning,
        _ => Severity::Error,
    };
    // Only references that lead nowhere are left. No pattern is compiled to find these.
    if draft == Draft::Unknown || has_patterns(schema) {
        if let Err(error) = crate::check_schema(schema) {
            return found(severity(&error), format!("its `{which}` {error}"), None);
        }
    } else if let Err(error) = jsonschema::options().offline().build(schema) {
        let hint = "put what it refers to into its `$defs`: nothing is fetched to read a schema";
        let severity =
            crate::check_schema(schema).map_or_else(|e| severity(&e), |()| Severity::Error);
        let message = told(which, &error.schema_path().to_string(), &error);
        return found(severity, message, Some(hint));
    }
    if is_typed
        && which == "inputSchema"
        && let Ok(validator) = crate::validator(schema)
        && let Some(place) = validator.unmatched()
    {
        let hint = "the host matches in linear time and little memory, so that no pattern can hang a call: write it without look-around and back-references, and shorter than 8 KiB with few classes such as `\\p{L}`";
        wrong(
            format!("its `{which}` has a pattern at `{place}` that the host cannot match"),
            Some(hint),
        );
    }
}

/// Returns an error's text with its place and, as everywhere in Dormouse, with values in backticks.
fn told(which: &str, place: &str, error: &ValidationError<'_>) -> String {
    let place = if place.is_empty() { "/" } else { place };
    let message: String = error.to_string().chars().take(300).collect();
    let message = message.replace(['"', '\''], "`");
    format!("its `{which}` is no JSON Schema at `{place}`: {message}")
}
