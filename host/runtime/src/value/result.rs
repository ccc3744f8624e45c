//! Results of a tool's function → MCP `CallToolResult`.

use dormouse_wit::Type;
use serde_json::{Map, Value};
use wasmtime::component::Val;

use super::bytes::base64_of;
use super::encode::{encode, part};
use super::left_out::LeftOutHints;
use crate::hint;

/// Converts a tool's result: a record becomes structured content and text, a string text, content
/// blocks stay content blocks, any other value becomes `{"result": …}`. The error side of a
/// `result` is a tool error, with content blocks if it has these.
///
/// `server` is the server's name for the log.
pub(crate) fn tool_result(server: &str, ty: Option<&Type>, value: Option<Val>) -> Value {
    let left_out = LeftOutHints::new(server);
    match (ty, value) {
        (
            Some(Type::Result {
                err: Some(content), ..
            }),
            Some(Val::Result(Err(Some(error)))),
        ) if is_content(content) => called(blocks(&left_out, *error), true),
        (ty, value) => match either(ty, value) {
            Ok((ty, value)) => success(&left_out, ty, value),
            Err(text) => called(vec![text_block(text)], true),
        },
    }
}

/// Makes a `CallToolResult` of content blocks.
fn called(content: Vec<Value>, is_error: bool) -> Value {
    // Moved: the macro would copy it.
    let mut members = Map::new();
    members.insert("content".into(), Value::Array(content));
    members.insert("isError".into(), Value::Bool(is_error));
    Value::Object(members)
}

fn success(left_out: &LeftOutHints<'_>, ty: Option<&Type>, value: Option<Val>) -> Value {
    match (ty, value) {
        (Some(content), Some(value)) if is_content(content) => {
            called(blocks(left_out, value), false)
        }
        (Some(Type::String), Some(Val::String(text))) => called(vec![text_block(text)], false),
        (Some(ty @ Type::Record(_)), Some(value)) => structured(encode(ty, value)),
        (Some(ty), Some(value)) => structured(Value::Object(Map::from_iter([(
            "result".to_owned(),
            encode(ty, value),
        )]))),
        _ => called(Vec::new(), false),
    }
}

/// Checks whether values of a type are content blocks.
fn is_content(ty: &Type) -> bool {
    matches!(ty, Type::Content | Type::Contents)
}

/// Returns content blocks, one or several.
fn blocks(left_out: &LeftOutHints<'_>, value: Val) -> Vec<Value> {
    let block = |content| block(left_out, content);
    match value {
        Val::List(contents) => contents.into_iter().map(block).collect(),
        content => vec![block(content)],
    }
}

fn structured(value: Value) -> Value {
    let mut members = Map::new();
    let content = vec![text_block(value.to_string())];
    members.insert("content".into(), Value::Array(content));
    members.insert("structuredContent".into(), value);
    members.insert("isError".into(), Value::Bool(false));
    Value::Object(members)
}

fn text_block(text: String) -> Value {
    let mut members = Map::new();
    members.insert("type".into(), Value::from("text"));
    members.insert("text".into(), Value::from(text));
    Value::Object(members)
}

/// Returns the ok side of a result, or the text of its error side.
pub(super) fn either(
    ty: Option<&Type>,
    value: Option<Val>,
) -> Result<(Option<&Type>, Option<Val>), String> {
    match (ty, value) {
        (Some(Type::Result { err, .. }), Some(Val::Result(Err(error)))) => {
            Err(error_text(err.as_deref(), error.map(|error| *error)))
        }
        (Some(Type::Result { ok, .. }), Some(Val::Result(Ok(value)))) => {
            Ok((ok.as_deref(), value.map(|value| *value)))
        }
        (ty, value) => Ok((ty, value)),
    }
}

fn error_text(ty: Option<&Type>, error: Option<Val>) -> String {
    match part(ty, error) {
        Value::String(text) if !text.trim().is_empty() => text,
        Value::Null | Value::String(_) => "the plugin failed and did not say why".to_owned(),
        other => other.to_string(),
    }
}

/// Converts a `content` of `dormouse:plugin/types` to an MCP content block.
pub(super) fn block(left_out: &LeftOutHints<'_>, value: Val) -> Value {
    let Val::Variant(case, Some(payload)) = value else {
        return Value::Null;
    };
    let Val::Record(fields) = *payload else {
        return Value::Null;
    };
    let kind = if case == "resource-link" {
        "resource_link"
    } else {
        &case
    };
    let mut members = Map::new();
    members.insert("type".into(), Value::from(kind));
    let mut parts = flat(left_out, fields);
    // An embedded resource has its parts in an object of its own; all other blocks are flat.
    if case == "resource" {
        let annotations = parts.shift_remove("annotations");
        members.insert("resource".into(), Value::Object(parts));
        members.extend(annotations.map(|hints| ("annotations".to_owned(), hints)));
    } else {
        members.append(&mut parts);
    }
    Value::Object(members)
}

/// Returns the parts of a content block, under MCP's names.
pub(super) fn flat(left_out: &LeftOutHints<'_>, fields: Vec<(String, Val)>) -> Map<String, Value> {
    let mut members = Map::new();
    for (name, value) in fields {
        match plain(left_out, &name, value) {
            Some(Value::Object(body)) if name == "body" => members.extend(body),
            Some(value) => {
                members.insert(camel(&name), value);
            }
            None => {}
        }
    }
    members
}

/// Returns the JSON of a part of a content block; none where it is absent, empty or invalid. Lists
/// of bytes that were read by their addresses are texts already.
fn plain(left_out: &LeftOutHints<'_>, name: &str, value: Val) -> Option<Value> {
    let odd = |why: &String| left_out.add(why);
    Some(match value {
        Val::Option(None) => return None,
        Val::Option(Some(value)) => return plain(left_out, name, *value),
        Val::List(items) if name == "data" => Value::from(base64_of(&items)),
        Val::List(items) if items.is_empty() => return None,
        Val::List(items) => items
            .into_iter()
            .filter_map(|item| plain(left_out, "", item))
            .collect(),
        Val::Enum(case) => Value::from(case),
        Val::String(when) if name == "last-modified" => {
            let checked = hint::last_modified(&when).inspect_err(odd);
            return checked.ok().map(|()| Value::from(when));
        }
        Val::String(text) => Value::from(text),
        Val::U64(n) => Value::from(n),
        // The only floats in content.
        Val::Float64(n) => return hint::priority(n).inspect_err(odd).ok(),
        Val::Variant(case, Some(payload)) => {
            let body = match *payload {
                Val::List(bytes) => base64_of(&bytes),
                Val::String(text) => text,
                _ => return None,
            };
            Value::Object(Map::from_iter([(case, Value::from(body))]))
        }
        Val::Record(fields) => Value::Object(
            fields
                .into_iter()
                .filter_map(|(name, value)| Some((camel(&name), plain(left_out, &name, value)?)))
                .collect(),
        ),
        _ => return None,
    })
}

/// Converts a kebab-case name of WIT to a camelCase name of MCP.
fn camel(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for (index, word) in name.split('-').enumerate() {
        let mut chars = word.chars();
        match chars.next() {
            Some(first) if index > 0 => {
                out.push(first.to_ascii_uppercase());
                out.push_str(chars.as_str());
            }
            _ => out.push_str(word),
        }
    }
    out
}
