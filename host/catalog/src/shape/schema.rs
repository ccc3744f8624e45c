//! The schemas of tools.

use std::borrow::Cow;

use serde_json::Value;

use super::members::{Edit, members};
use super::object::{Judge, Verdict, wrong};
use super::text::string;

/// The schema of arguments that may be anything.
pub(super) const ANY: &str = r#"{"type":"object"}"#;

/// Judges an `inputSchema`: that it is of type `object`, all versions of MCP want.
pub(super) fn input(judge: &mut Judge, text: &str, place: &str) -> Verdict {
    // The schema that everything fits, and none.
    if text == "null" || text == "true" {
        judge.mended.push(format!("`{place}` is `{text}`"));
        return Verdict::Instead(ANY.to_owned());
    }
    let Some(members) = members(text) else {
        return wrong(place, text);
    };
    let mut edit = Edit::default();
    let mut typed = false;
    for (index, member) in members.iter().enumerate() {
        let place = format!("{place}.{}", member.name);
        let mut mend = |instead: Option<&str>| {
            if let Verdict::Wrong(why) = wrong(&place, member.value) {
                judge.mended.push(why);
            }
            match instead {
                Some(value) => edit.replace(index, value.to_owned()),
                None => edit.remove(index),
            }
        };
        match (&*member.name, member.value) {
            ("type", value) => {
                typed = true;
                if !is_object(value) {
                    let types = serde_json::from_str::<Vec<Cow<'_, str>>>(value);
                    let among = types.is_ok_and(|types| types.contains(&Cow::Borrowed("object")));
                    // Arguments are an object, whatever else they might be.
                    if !among && value != "null" {
                        return wrong(&place, value);
                    }
                    mend(Some("\"object\""));
                }
            }
            // Some languages have one word for an empty array and an empty object.
            ("properties", "null" | "[]") | ("required", "null" | "{}" | "true" | "false") => {
                mend(None);
            }
            ("properties", value) => match properties(value) {
                Properties::Objects => {}
                Properties::Booleans => judge.of_old = true,
                Properties::None => return wrong(&place, value),
            },
            ("required", value) if !is_texts(value) => return wrong(&place, value),
            ("$schema", value) if string(value).is_none() => mend(None),
            _ => {}
        }
    }
    if let Some(why) = too_costly(text) {
        return Verdict::Wrong(format!("`{place}` {why}"));
    }
    let verdict = edit.verdict(&members);
    if typed {
        return verdict;
    }
    judge.mended.push(format!("`{place}` has no `type`"));
    let text = match &verdict {
        Verdict::Instead(text) => text,
        _ => text,
    };
    let inner = text.trim_start_matches('{').trim_start();
    let comma = if inner.starts_with('}') { "" } else { "," };
    Verdict::Instead(format!("{{\"type\":\"object\"{comma}{inner}"))
}

/// Judges an `outputSchema`. Clients compile it, some of them those of all tools at once,
/// and stop at the first that cannot be.
pub(super) fn output(judge: &mut Judge, text: &str, place: &str) -> Verdict {
    if !text.starts_with('{') {
        return wrong(place, text);
    }
    let schema: Value = match serde_json::from_str(text) {
        Ok(schema) => schema,
        Err(error) => return Verdict::Wrong(format!("`{place}` is none: {error}")),
    };
    // Compiling takes far longer than looking, and nearly all schemas are plain.
    if !is_plain(&schema)
        && let Err(why) = crate::validator(&schema)
    {
        return Verdict::Wrong(format!("`{place}` is no JSON Schema: {why}"));
    }
    judge.of_old |= !matches!(of_old(text), Some(Cow::Borrowed(_)));
    Verdict::Fine
}

/// Why nobody can be expected to hold values against a schema, if that is so: clients
/// follow its references, too.
fn too_costly(text: &str) -> Option<String> {
    // Without these, a schema is no larger than its text. An escape may be any letter.
    let words = ["$ref", "$dynamicRef", "$recursiveRef", "unevaluated", "\\u"];
    if !words.iter().any(|word| text.contains(word)) {
        return None;
    }
    let schema: Value = serde_json::from_str(text).ok()?;
    match crate::SchemaCost::of(&schema) {
        Err(crate::SchemaCostError::TooCostly(why)) => Some(why),
        _ => None,
    }
}

/// Whether a schema has nothing in it but what every dialect has, as every dialect has it.
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

/// Whether a list has nothing twice, and only what is wanted.
fn unique(list: &Value, is: impl Fn(&Value) -> bool) -> bool {
    let items = list.as_array().map_or(&[][..], Vec::as_slice);
    let mut earlier = items.iter().enumerate();
    earlier.all(|(index, item)| is(item) && !items.iter().take(index).any(|other| other == item))
}

/// A tool for the versions with sessions: without an output schema that they do not
/// have, and with objects for schemas that are true or false.
pub(super) fn legacy(tool: &str) -> Option<String> {
    let members = members(tool)?;
    let mut edit = Edit::default();
    for (index, member) in members.iter().enumerate() {
        if member.name != "inputSchema" && member.name != "outputSchema" {
            continue;
        }
        match of_old(member.value) {
            Some(Cow::Borrowed(_)) => {}
            Some(Cow::Owned(schema)) => edit.replace(index, schema),
            None => edit.remove(index),
        }
    }
    match edit.verdict(&members) {
        Verdict::Instead(text) => Some(text),
        _ => None,
    }
}

/// A schema as the versions with sessions have it, where it can be that.
fn of_old(schema: &str) -> Option<Cow<'_, str>> {
    let members = members(schema)?;
    let mut edit = Edit::default();
    let mut typed = false;
    for (index, member) in members.iter().enumerate() {
        match &*member.name {
            "type" => typed = is_object(member.value),
            "properties" => match properties(member.value) {
                Properties::Objects => {}
                Properties::Booleans => edit.replace(index, objects(member.value)?),
                Properties::None => return None,
            },
            "required" if !is_texts(member.value) => return None,
            _ => {}
        }
    }
    match edit.verdict(&members) {
        _ if !typed => None,
        Verdict::Instead(text) => Some(Cow::Owned(text)),
        _ => Some(Cow::Borrowed(schema)),
    }
}

/// The schemas in `properties`.
enum Properties {
    Objects,
    /// Some of them are true or false.
    Booleans,
    /// They are no schemas.
    None,
}

fn properties(text: &str) -> Properties {
    let Some(members) = members(text) else {
        return Properties::None;
    };
    let mut found = Properties::Objects;
    for member in members {
        match member.value {
            "true" | "false" => found = Properties::Booleans,
            value if value.starts_with('{') => {}
            _ => return Properties::None,
        }
    }
    found
}

/// The same `properties` without schemas that are true or false.
fn objects(text: &str) -> Option<String> {
    let members = members(text)?;
    let mut edit = Edit::default();
    for (index, member) in members.iter().enumerate() {
        match member.value {
            "true" => edit.replace(index, "{}".to_owned()),
            "false" => edit.replace(index, r#"{"not":{}}"#.to_owned()),
            _ => {}
        }
    }
    match edit.verdict(&members) {
        Verdict::Instead(text) => Some(text),
        _ => None,
    }
}

fn is_object(ty: &str) -> bool {
    string(ty).is_some_and(|ty| ty == "object")
}

fn is_texts(value: &str) -> bool {
    serde_json::from_str::<Vec<Cow<'_, str>>>(value).is_ok()
}
