//! JSON → component values.
//!
//! A value decodes if and only if its type's JSON Schema accepts it, with one exception that no
//! schema can express: the text of a `list<u8>` has to be canonical base64.

use std::collections::HashSet;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dormouse_text::visible::short_name;
use dormouse_wit::{Case, Field, Function, Type};
use serde_json::{Map, Number, Value};
use wasmtime::component::Val;

use super::allowance::{CountedValues, VALUE_STEPS, spend, spend_memory};
use super::mismatch::Mismatch;

/// Returns the parameters of a function from a tool's arguments. They may take `max_bytes` of
/// memory.
pub(crate) fn arguments(
    function: &Function,
    arguments: &Map<String, Value>,
    max_bytes: u64,
) -> Result<Vec<Val>, Mismatch> {
    let _counted = CountedValues::begin(max_bytes);
    let values = record(function.arguments(), arguments)?;
    if function.spread {
        return Ok(vec![Val::Record(values)]);
    }
    Ok(values.into_iter().map(|(_, value)| value).collect())
}

/// Returns the parameters of a function from texts, as prompts and resource templates get them: a
/// number is its digits, and omitted arguments are absent. They may take `max_bytes` of memory.
pub(crate) fn texts(
    function: &Function,
    texts: &Map<String, Value>,
    max_bytes: u64,
) -> Result<Vec<Val>, Mismatch> {
    let mut values = Map::new();
    for (name, text) in texts {
        let field = function
            .argument(name)
            .ok_or_else(|| Mismatch::new("there is no such argument").below(name))?;
        let Value::String(text) = text else {
            return Err(Mismatch::new(format!("`{text}` is not a string")).below(name));
        };
        values.insert(field.json.clone(), from_text(&field.ty, text));
    }
    arguments(function, &values, max_bytes)
}

/// Converts a text to the JSON of a type. A text that is not of that type stays a string, and is
/// refused as one.
fn from_text(ty: &Type, text: &str) -> Value {
    match ty {
        Type::Option(inner) => from_text(inner, text),
        Type::String | Type::Char | Type::Enum(_) => Value::from(text),
        _ => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)),
    }
}

/// Removes null arguments that are optional: models like to send null for an argument that they
/// leave out, and published schemas say that it may be left out, not that it may be null.
pub(crate) fn drop_nulls(function: &Function, arguments: &mut Map<String, Value>) {
    if !arguments.values().any(Value::is_null) {
        return;
    }
    let optional = function.arguments().iter();
    let optional = optional.filter(|field| matches!(field.ty, Type::Option(_)));
    let optional: HashSet<_> = optional.map(|field| field.json.as_str()).collect();
    arguments.retain(|name, value| !value.is_null() || !optional.contains(name.as_str()));
}

/// Decodes a value of type `ty`.
pub(crate) fn decode(ty: &Type, value: &Value) -> Result<Val, Mismatch> {
    spend(VALUE_STEPS)?;
    spend_memory(1, 0)?;
    let wrong = || Mismatch::new(format!("expected {}, got {}", ty.kind(), shown(value)));
    Ok(match (ty, value) {
        (Type::Bool, Value::Bool(value)) => Val::Bool(*value),
        (Type::S8, Value::Number(n)) => Val::S8(integer(n, ty)?),
        (Type::U8, Value::Number(n)) => Val::U8(integer(n, ty)?),
        (Type::S16, Value::Number(n)) => Val::S16(integer(n, ty)?),
        (Type::U16, Value::Number(n)) => Val::U16(integer(n, ty)?),
        (Type::S32, Value::Number(n)) => Val::S32(integer(n, ty)?),
        (Type::U32, Value::Number(n)) => Val::U32(integer(n, ty)?),
        (Type::S64, Value::Number(n)) => Val::S64(integer(n, ty)?),
        (Type::U64, Value::Number(n)) => Val::U64(integer(n, ty)?),
        (Type::F64, Value::Number(n)) => Val::Float64(n.as_f64().ok_or_else(wrong)?),
        // JSON Schema has one `number`: a number out of a float32's range becomes the nearest
        // float32, like every other number that a float32 cannot hold.
        (Type::F32, Value::Number(n)) => {
            let wide = n.as_f64().ok_or_else(wrong)?;
            Val::Float32((wide as f32).clamp(f32::MIN, f32::MAX))
        }
        (Type::Char, Value::String(text)) => {
            let mut chars = text.chars();
            match (chars.next(), chars.next()) {
                (Some(char), None) => Val::Char(char),
                _ => return Err(wrong()),
            }
        }
        (Type::String, Value::String(text)) => {
            spend_memory(0, text.len())?;
            Val::String(text.clone())
        }
        (Type::Bytes, Value::String(text)) => {
            // The text stands for the bytes until they are in the guest's memory, as a value for
            // each of them would take forty times their memory.
            spend_memory(0, text.len().saturating_mul(2))?;
            STANDARD
                .decode(text)
                .map_err(|error| Mismatch::new(format!("not base64: {error}")))?;
            Val::String(text.clone())
        }
        (Type::List(item), Value::Array(values)) => Val::List(list(item, values)?),
        (Type::FixedList(item, length), Value::Array(values))
            if values.len() == *length as usize =>
        {
            Val::FixedLengthList(list(item, values)?)
        }
        (Type::Tuple(items), Value::Array(values)) if items.len() == values.len() => Val::Tuple(
            items
                .iter()
                .zip(values)
                .enumerate()
                .map(|(index, (item, value))| {
                    decode(item, value).map_err(|error| error.below(&index.to_string()))
                })
                .collect::<Result<_, _>>()?,
        ),
        (Type::Record(fields), Value::Object(members)) => Val::Record(record(fields, members)?),
        (Type::Option(_), Value::Null) => Val::Option(None),
        (Type::Option(inner), value) => Val::Option(Some(Box::new(decode(inner, value)?))),
        (Type::Enum(cases), Value::String(text)) => {
            spend(cases.len())?;
            let name = named(cases, text).ok_or_else(|| one_of(cases, text))?;
            spend_memory(0, name.len())?;
            Val::Enum(name)
        }
        (Type::Flags(flags), Value::Array(values)) => flag_set(flags, values)?,
        (Type::Variant(cases), Value::Object(members)) => {
            let Some(Value::String(tag)) = members.get("tag") else {
                return Err(Mismatch::new("expected a member `tag` that names the case"));
            };
            spend(cases.len())?;
            let case = cases
                .iter()
                .find(|case| case.json == *tag)
                .ok_or_else(|| Mismatch::new(format!("there is no case `{tag}`")))?;
            only(members, &["tag", "value"])?;
            let payload = match (&case.ty, members.get("value")) {
                (Some(ty), Some(value)) => {
                    let value = decode(ty, value).map_err(|error| error.below("value"))?;
                    Some(Box::new(value))
                }
                (None, None) => None,
                (Some(_), None) => {
                    return Err(Mismatch::new(format!("case `{tag}` needs a `value`")));
                }
                (None, Some(_)) => {
                    return Err(Mismatch::new(format!("case `{tag}` takes no `value`")));
                }
            };
            spend_memory(0, case.wit.len())?;
            Val::Variant(case.wit.clone(), payload)
        }
        (Type::Result { ok, err }, Value::Object(members)) => {
            let side = |ty: &Option<Box<Type>>, name: &str, value: &Value| match ty {
                Some(ty) => decode(ty, value)
                    .map(|value| Some(Box::new(value)))
                    .map_err(|error| error.below(name)),
                None if value.is_null() => Ok(None),
                None => Err(Mismatch::new("expected null").below(name)),
            };
            match (members.get("ok"), members.get("err"), members.len()) {
                (Some(value), None, 1) => Val::Result(Ok(side(ok, "ok", value)?)),
                (None, Some(value), 1) => Val::Result(Err(side(err, "err", value)?)),
                _ => return Err(Mismatch::new("expected either `ok` or `err`")),
            }
        }
        (Type::Map(key, item), Value::Object(members)) if **key == Type::String => Val::Map(
            members
                .iter()
                .map(|(key, value)| {
                    let value = decode(item, value).map_err(|error| error.below(key))?;
                    spend_memory(1, key.len())?;
                    Ok((Val::String(key.clone()), value))
                })
                .collect::<Result<_, _>>()?,
        ),
        (Type::Map(key, item), Value::Array(pairs)) if **key != Type::String => Val::Map(
            pairs
                .iter()
                .enumerate()
                .map(|(index, pair)| {
                    let at = |error: Mismatch| error.below(&index.to_string());
                    match pair.as_array().map(Vec::as_slice) {
                        Some([left, right]) => Ok((
                            decode(key, left).map_err(|error| at(error.below("0")))?,
                            decode(item, right).map_err(|error| at(error.below("1")))?,
                        )),
                        _ => Err(at(Mismatch::new("expected a pair of key and value"))),
                    }
                })
                .collect::<Result<_, _>>()?,
        ),
        _ => return Err(wrong()),
    })
}

/// Decodes the fields of a record, in declared order, as the component model has them.
fn record(fields: &[Field], members: &Map<String, Value>) -> Result<Vec<(String, Val)>, Mismatch> {
    spend(fields.len() * (members.len() + VALUE_STEPS))?;
    let known: Vec<&str> = fields.iter().map(|field| field.json.as_str()).collect();
    only(members, &known)?;
    fields
        .iter()
        .map(|field| {
            let given = members.get(&field.json).or(field.default.as_ref());
            let value = match (given, &field.ty) {
                (Some(value), ty) => decode(ty, value).map_err(|error| error.below(&field.json))?,
                (None, Type::Option(_)) => Val::Option(None),
                (None, _) => return Err(Mismatch::new(format!("`{}` is missing", field.json))),
            };
            spend_memory(1, field.wit.len())?;
            Ok((field.wit.clone(), value))
        })
        .collect()
}

fn list(item: &Type, values: &[Value]) -> Result<Vec<Val>, Mismatch> {
    values
        .iter()
        .enumerate()
        .map(|(index, value)| decode(item, value).map_err(|error| error.below(&index.to_string())))
        .collect()
}

fn only(members: &Map<String, Value>, known: &[&str]) -> Result<(), Mismatch> {
    match members.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(Mismatch::new(format!("there is no `{key}`"))),
        None => Ok(()),
    }
}

fn flag_set(flags: &[Case], values: &[Value]) -> Result<Val, Mismatch> {
    let mut set = Vec::with_capacity(values.len());
    for (index, value) in values.iter().enumerate() {
        let at = |error: Mismatch| error.below(&index.to_string());
        spend(VALUE_STEPS + flags.len() + set.len()).map_err(at)?;
        let text = value.as_str().ok_or_else(|| {
            at(Mismatch::new(format!(
                "expected a string, got {}",
                shown(value)
            )))
        })?;
        let name = named(flags, text).ok_or_else(|| at(one_of(flags, text)))?;
        spend_memory(1, name.len()).map_err(at)?;
        if set.contains(&name) {
            return Err(at(Mismatch::new(format!("`{text}` is there twice"))));
        }
        set.push(name);
    }
    Ok(Val::Flags(set))
}

fn named(cases: &[Case], text: &str) -> Option<String> {
    let case = cases.iter().find(|case| case.json == text)?;
    Some(case.wit.clone())
}

/// Most cases that a message names.
const MAX_NAMED_CASES: usize = 50;

fn one_of(cases: &[Case], text: &str) -> Mismatch {
    let mut message = format!("`{}` is none of these:", short_name(text));
    for case in cases.iter().take(MAX_NAMED_CASES) {
        // Writing to a string cannot fail.
        let _ = write!(message, " `{}`", short_name(&case.json));
    }
    if let Some(more @ 1..) = cases.len().checked_sub(MAX_NAMED_CASES) {
        let _ = write!(message, " and {more} more");
    }
    Mismatch::new(message)
}

/// Decodes an integer of a WIT type. JSON Schema counts `5.0` as an integer, and models do write
/// it.
fn integer<T: TryFrom<i128>>(number: &Number, ty: &Type) -> Result<T, Mismatch> {
    let wide = match (number.as_i64(), number.as_u64(), number.as_f64()) {
        (Some(n), ..) => i128::from(n),
        (_, Some(n), _) => i128::from(n),
        // Whole floats of this size convert exactly; larger ones are out of the
        // range of every integer type anyway.
        (_, _, Some(n)) if n.fract() == 0.0 && n.abs() < 1e30 => n as i128,
        _ => {
            return Err(Mismatch::new(format!(
                "`{number}` is not a whole number of type {}",
                ty.kind()
            )));
        }
    };
    T::try_from(wide)
        .map_err(|_| Mismatch::new(format!("`{number}` is out of the range of {}", ty.kind())))
}

/// Returns a value, shortened, for a message.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "an array".into(),
        Value::Object(_) => "an object".into(),
        other => {
            let text: String = other.to_string().chars().take(60).collect();
            format!("`{text}`")
        }
    }
}
