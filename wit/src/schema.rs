//! Types → JSON Schema 2020-12.
//!
//! | WIT | schema |
//! |---|---|
//! | `bool`, `string` | boolean, string |
//! | `char` | string of length 1 |
//! | `u8` … `s64` | integer with the type's minimum and maximum |
//! | `f32`, `f64` | number; number or null in results, where NaN and ±∞ leave as null |
//! | `list<u8>` | string, contentEncoding base64 |
//! | `list<T>`, `list<T, N>`, `tuple` | array; of N items; prefixItems |
//! | `record` | object without additional properties |
//! | `option<T>` | T or null; as a field, not required |
//! | `enum`, `flags` | string enum; array of unique ones |
//! | `variant` | oneOf of `{"tag": …, "value": …}` |
//! | `result` inside a value | oneOf of `{"ok": …}` and `{"err": …}`, null where there is no type |
//! | `map<K, V>` | object where K is string, else array of pairs |

use serde_json::{Map, Value, json};

use crate::notes::Notes;
use crate::types::{Case, Field, Type, VariantCase};

/// Purpose of a schema, where that makes a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// The plain mapping: every value that converts.
    Value,
    /// Arguments that an agent is told to send.
    Arguments,
    /// Results that an agent gets.
    Result,
}

/// Returns the schema of every JSON value that converts to a WIT value of type `ty`.
#[must_use]
pub fn schema(ty: &Type) -> Value {
    Value::Object(of(ty, Notes::NONE, Side::Value))
}

/// Returns the schema of every JSON value that a WIT value of type `ty` converts to: that of
/// [`schema`], but floats may be null.
#[must_use]
pub fn result_schema(ty: &Type) -> Value {
    Value::Object(of(ty, Notes::NONE, Side::Result))
}

/// Returns a tool's `inputSchema`: an object with `fields` as its properties.
pub(crate) fn input(fields: &[Field], notes: &Notes) -> Map<String, Value> {
    object(fields, notes, Side::Arguments)
}

/// Returns a tool's `outputSchema`, if it has one: a record is its own schema, text and content
/// blocks have none, any other type is wrapped as `{"result": …}`.
pub(crate) fn output(ty: &Type, notes: &Notes) -> Option<Map<String, Value>> {
    match ty {
        Type::String | Type::Content | Type::Contents | Type::Messages | Type::Embedded => None,
        Type::Record(_) => Some(of(ty, notes, Side::Result)),
        _ => Some(members(json!({
            "type": "object",
            "properties": { "result": of(ty, notes, Side::Result) },
            "required": ["result"],
            "additionalProperties": false,
        }))),
    }
}

/// Returns the schema of a type with its notes.
fn of(ty: &Type, notes: &Notes, side: Side) -> Map<String, Value> {
    let mut schema = match ty {
        Type::Option(inner) => nullable(of(inner, notes.part(0), side)),
        Type::F32 | Type::F64 if side == Side::Result => {
            let mut number = members(json!({ "type": ["number", "null"] }));
            number.extend(notes.constraints());
            number
        }
        _ => {
            let mut plain = plain(ty, notes, side);
            plain.extend(notes.constraints());
            plain
        }
    };
    describe(&mut schema, notes);
    schema
}

fn plain(ty: &Type, notes: &Notes, side: Side) -> Map<String, Value> {
    let part = |index: usize, ty: &Type| of(ty, notes.part(index), side);
    if let Some((minimum, maximum)) = bounds(ty) {
        return members(json!({ "type": "integer", "minimum": minimum, "maximum": maximum }));
    }
    members(match ty {
        Type::Bool => json!({ "type": "boolean" }),
        Type::F32 | Type::F64 => json!({ "type": "number" }),
        Type::Char => json!({ "type": "string", "minLength": 1, "maxLength": 1 }),
        Type::Bytes => json!({ "type": "string", "contentEncoding": "base64" }),
        Type::List(item) => json!({ "type": "array", "items": part(0, item) }),
        Type::FixedList(item, n) => {
            json!({ "type": "array", "items": part(0, item), "minItems": n, "maxItems": n })
        }
        Type::Tuple(items) => {
            let items = items
                .iter()
                .enumerate()
                .map(|(i, item)| part(i, item))
                .collect();
            tuple(items)
        }
        Type::Record(fields) => return object(fields, notes, side),
        Type::Enum(cases) => json!({ "type": "string", "enum": names(cases) }),
        Type::Flags(flags) => json!({
            "type": "array",
            "items": { "type": "string", "enum": names(flags) },
            "uniqueItems": true,
        }),
        Type::Variant(cases) => {
            let cases = cases.iter().enumerate();
            let one_of: Vec<_> = cases
                .map(|(i, case)| variant(case, notes.part(i), side))
                .collect();
            json!({ "oneOf": one_of })
        }
        Type::Result { ok, err } => {
            let side_of = |name: &str, index: usize, ty: Option<&Type>| {
                let value =
                    ty.map_or_else(|| members(json!({ "type": "null" })), |ty| part(index, ty));
                json!({
                    "type": "object",
                    "properties": { name: value },
                    "required": [name],
                    "additionalProperties": false,
                })
            };
            json!({ "oneOf": [
                side_of("ok", 0, ok.as_deref()),
                side_of("err", 1, err.as_deref()),
            ] })
        }
        Type::Map(key, value) if **key == Type::String => {
            json!({ "type": "object", "additionalProperties": part(1, value) })
        }
        Type::Map(key, value) => {
            json!({ "type": "array", "items": tuple(vec![part(0, key), part(1, value)]) })
        }
        // Content blocks are MCP's own and never described by a schema of ours;
        // as a value they are just an object or a list.
        Type::Content => json!({ "type": "object" }),
        Type::Contents | Type::Messages | Type::Embedded => json!({ "type": "array" }),
        // The rest are strings and what was dealt with above.
        _ => json!({ "type": "string" }),
    })
}

fn object(fields: &[Field], notes: &Notes, side: Side) -> Map<String, Value> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (index, field) in fields.iter().enumerate() {
        let notes = notes.part(index);
        let mut property = match &field.ty {
            // Nearly every published server lets an optional argument be left
            // out and says nothing of null, so that is what agents are told.
            // One that takes null says so with `default: null`.
            Type::Option(inner) if side == Side::Arguments && !notes.nullable => {
                let mut property = of(inner, notes.part(0), side);
                describe(&mut property, notes);
                property
            }
            ty => of(ty, notes, side),
        };
        if side == Side::Arguments {
            if let Some(default) = &field.default {
                property.insert("default".into(), default.clone());
            } else if notes.nullable {
                property.insert("default".into(), Value::Null);
            }
        }
        properties.insert(field.json.clone(), Value::Object(property));
        let optional = matches!(field.ty, Type::Option(_))
            || (side != Side::Result && field.default.is_some());
        if !optional {
            required.push(Value::from(field.json.as_str()));
        }
    }
    let mut schema = members(json!({ "type": "object", "properties": properties }));
    if !required.is_empty() {
        schema.insert("required".into(), Value::Array(required));
    }
    schema.insert("additionalProperties".into(), Value::Bool(false));
    schema
}

fn variant(case: &VariantCase, notes: &Notes, side: Side) -> Value {
    let mut properties = members(json!({ "tag": { "const": case.json } }));
    let mut required = vec!["tag"];
    if let Some(ty) = &case.ty {
        properties.insert("value".into(), Value::Object(of(ty, notes.part(0), side)));
        required.push("value");
    }
    let mut schema = members(json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    }));
    describe(&mut schema, notes);
    Value::Object(schema)
}

fn tuple(items: Vec<Map<String, Value>>) -> Value {
    let n = items.len();
    json!({ "type": "array", "prefixItems": items, "minItems": n, "maxItems": n })
}

fn nullable(schema: Map<String, Value>) -> Map<String, Value> {
    members(json!({ "anyOf": [schema, { "type": "null" }] }))
}

/// Adds the title and the description. Those that are there already are of the type, and give way
/// to those of the place where the type is used.
fn describe(schema: &mut Map<String, Value>, notes: &Notes) {
    if let Some(text) = &notes.title {
        schema.insert("title".into(), Value::from(text.as_str()));
    }
    if let Some(text) = &notes.description {
        schema.insert("description".into(), Value::from(text.as_str()));
    }
}

fn names(cases: &[Case]) -> Vec<&str> {
    cases.iter().map(|case| case.json.as_str()).collect()
}

/// Returns the least and the greatest value of an integer type.
pub(crate) fn bounds(ty: &Type) -> Option<(Value, Value)> {
    let (minimum, maximum) = match ty {
        Type::S8 => (i64::from(i8::MIN), i64::from(i8::MAX)),
        Type::U8 => (0, i64::from(u8::MAX)),
        Type::S16 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        Type::U16 => (0, i64::from(u16::MAX)),
        Type::S32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        Type::U32 => (0, i64::from(u32::MAX)),
        Type::S64 => (i64::MIN, i64::MAX),
        Type::U64 => return Some((Value::from(0), Value::from(u64::MAX))),
        _ => return None,
    };
    Some((Value::from(minimum), Value::from(maximum)))
}

fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
