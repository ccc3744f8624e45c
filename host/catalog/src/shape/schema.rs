//! Schemas of tools.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::Value;

use super::object::{ItemValidator, ValidationOutcome, object, verdict, wrong};
use super::text::string;

/// Schema of arguments that may be anything.
pub(super) const ANY: &str = r#"{"type":"object"}"#;

/// Checks an `inputSchema`: all versions of MCP require the type `object`.
pub(super) fn input(judge: &mut ItemValidator, text: &str, place: &str) -> ValidationOutcome {
    // The schema that matches everything, and a missing one.
    if text == "null" || text == "true" {
        judge.tell(|| format!("`{place}` is `{text}`"));
        return ValidationOutcome::Instead(ANY.to_owned());
    }
    let Some(mut schema) = object(text) else {
        return wrong(place, text);
    };
    for name in ["type", "properties", "required", "$schema"] {
        let place = format!("{place}.{name}");
        let Some(value) = schema.get(name) else {
            continue;
        };
        // Replacement of a value that cannot stay.
        let instead = match (name, value) {
            ("type", value) if is_object(value) => continue,
            ("type", value) => {
                let types = serde_json::from_str::<Vec<Cow<'_, str>>>(value);
                let among = types.is_ok_and(|types| types.contains(&Cow::Borrowed("object")));
                // Arguments are an object, whatever other types are allowed.
                if !among && value != "null" {
                    return wrong(&place, value);
                }
                Some("\"object\"")
            }
            // Some languages have one word for an empty array and an empty object.
            ("properties", "null" | "[]") | ("required", "null" | "{}" | "true" | "false") => None,
            ("properties", value) => match properties(value) {
                Properties::Objects => continue,
                Properties::Booleans => {
                    judge.of_old = true;
                    continue;
                }
                Properties::None => return wrong(&place, value),
            },
            ("required", value) if !is_texts(value) => return wrong(&place, value),
            ("$schema", value) if string(value).is_none() => None,
            _ => continue,
        };
        if let ValidationOutcome::Wrong(why) = wrong(&place, value) {
            judge.tell(|| why);
        }
        match instead {
            Some(value) => schema.set(name, value),
            None => drop(schema.remove(name)),
        }
    }
    if let Some(why) = too_costly(text) {
        return ValidationOutcome::Wrong(format!("`{place}` {why}"));
    }
    if schema.get("type").is_none() {
        judge.tell(|| format!("`{place}` has no `type`"));
        schema.set_first("type", "\"object\"");
    }
    verdict(schema)
}

/// Checks an `outputSchema`. Clients compile it, some of them those of all tools at once, and stop
/// at the first invalid one.
pub(super) fn output(judge: &mut ItemValidator, text: &str, place: &str) -> ValidationOutcome {
    if !text.starts_with('{') {
        return wrong(place, text);
    }
    let schema: Value = match serde_json::from_str(text) {
        Ok(schema) => schema,
        Err(error) => return ValidationOutcome::Wrong(format!("`{place}` is none: {error}")),
    };
    // Compiling takes far longer than this check, and nearly all schemas are plain.
    if !is_plain(&schema)
        && let Err(error) = crate::check_schema(&schema)
    {
        return ValidationOutcome::Wrong(format!("`{place}` {error}"));
    }
    judge.of_old |= !matches!(of_old(text), Some(Cow::Borrowed(_)));
    ValidationOutcome::Fine
}

/// Returns the reason for which validating with a schema costs too much, if it does: clients follow
/// its references, too.
fn too_costly(text: &str) -> Option<String> {
    // Without these, a schema is no larger than its text. An escape may be any letter.
    let words = ["$ref", "$dynamicRef", "$recursiveRef", "unevaluated", "\\u"];
    if !words.iter().any(|word| text.contains(word)) {
        return None;
    }
    let schema: Value = serde_json::from_str(text).ok()?;
    crate::too_costly(&schema)
}

/// Checks whether a schema has only keywords that are the same in every dialect.
fn is_plain(schema: &Value) -> bool {
    const TYPES: [&str; 7] = [
        "array", "boolean", "integer", "null", "number", "object", "string",
    ];
    let all = |value: &Value, is: fn(&Value) -> bool| match value {
        Value::Array(items) => !items.is_empty() && items.iter().all(is),
        _ => false,
    };
    let is_type = |value: &Value| value.as_str().is_some_and(|ty| TYPES.contains(&ty));
    let Value::Object(members) = schema else {
        return false;
    };
    members.iter().all(|(name, value)| match name.as_str() {
        "type" => is_type(value) || all(value, Value::is_string) && unique(value, is_type),
        "properties" => value
            .as_object()
            .is_some_and(|all| all.values().all(is_plain)),
        "items" => is_plain(value),
        "additionalProperties" => value.is_boolean() || is_plain(value),
        "anyOf" | "oneOf" | "allOf" => all(value, is_plain),
        "required" => all(value, Value::is_string) && unique(value, |_| true),
        "enum" => all(value, Value::is_string) && unique(value, |_| true),
        "title" | "description" | "format" => value.is_string(),
        "minimum" | "maximum" => value.is_number(),
        "default" | "examples" => true,
        _ => false,
    })
}

/// Checks that a list has no text twice, and only wanted values.
fn unique(list: &Value, is: impl Fn(&Value) -> bool) -> bool {
    let items = list.as_array().map_or(&[][..], Vec::as_slice);
    let mut texts = HashSet::new();
    items
        .iter()
        .all(|item| is(item) && item.as_str().is_some_and(|text| texts.insert(text)))
}

/// Returns a tool for the versions with sessions: without an output schema that is invalid there,
/// and with objects in place of boolean schemas.
pub(super) fn legacy(tool: &str) -> Option<String> {
    let mut tool = object(tool)?;
    for name in ["inputSchema", "outputSchema"] {
        let schema = tool.get(name).map(of_old);
        match schema {
            None | Some(Some(Cow::Borrowed(_))) => {}
            Some(Some(Cow::Owned(schema))) => tool.set(name, schema),
            Some(None) => drop(tool.remove(name)),
        }
    }
    let is_changed = tool.is_changed();
    is_changed.then(|| tool.into_text().into_owned())
}

/// Returns a schema in the form of the versions with sessions, if it has one.
fn of_old(schema: &str) -> Option<Cow<'_, str>> {
    let mut object = object(schema)?;
    if !object.get("type").is_some_and(is_object) {
        return None;
    }
    if let Some(value) = object.get("properties") {
        match properties(value) {
            Properties::Objects => {}
            Properties::Booleans => {
                let objects = objects(value)?;
                object.set("properties", objects);
            }
            Properties::None => return None,
        }
    }
    if object.get("required").is_some_and(|value| !is_texts(value)) {
        return None;
    }
    match object.is_changed() {
        false => Some(Cow::Borrowed(schema)),
        true => Some(Cow::Owned(object.into_text().into_owned())),
    }
}

/// Kind of the schemas in `properties`.
enum Properties {
    Objects,
    /// Schemas, some of which are booleans.
    Booleans,
    /// Values that are no schemas.
    None,
}

fn properties(text: &str) -> Properties {
    let Some(all) = object(text) else {
        return Properties::None;
    };
    let mut found = Properties::Objects;
    for member in all.iter() {
        match &*member.value {
            "true" | "false" => found = Properties::Booleans,
            value if value.starts_with('{') => {}
            _ => return Properties::None,
        }
    }
    found
}

/// Replaces boolean schemas in `properties`.
fn objects(text: &str) -> Option<String> {
    let mut all = object(text)?;
    let places: Vec<_> = all
        .places()
        .filter_map(|(place, member)| match &*member.value {
            "true" => Some((place, "{}")),
            "false" => Some((place, r#"{"not":{}}"#)),
            _ => None,
        })
        .collect();
    for (place, schema) in places {
        all.replace_at(place, schema);
    }
    all.is_changed().then(|| all.into_text().into_owned())
}

fn is_object(ty: &str) -> bool {
    string(ty).is_some_and(|ty| ty == "object")
}

fn is_texts(value: &str) -> bool {
    serde_json::from_str::<Vec<Cow<'_, str>>>(value).is_ok()
}
