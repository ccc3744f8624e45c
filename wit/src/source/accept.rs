//! Checks that a `@default` or an `@example` is a value that its tool accepts.

use serde_json::{Number, Value};

use crate::notes::Notes;
use crate::schema::bounds;
use crate::types::{Field, Type};

/// Checks a value by the same rules as the schema, except for `pattern` and `format`, which need a
/// regular expression engine.
///
/// # Errors
/// Text on the mismatch, with its place in the value.
pub(crate) fn accept(ty: &Type, notes: &Notes, value: &Value) -> Result<(), String> {
    let wrong = |what: &str| Err(format!("`{value}` is not {what}"));
    if let (Some((minimum, maximum)), Value::Number(number)) = (bounds(ty), value) {
        let Some(found) = integer(number) else {
            return wrong("an integer");
        };
        let within = as_integer(&minimum) <= Some(found) && Some(found) <= as_integer(&maximum);
        if !within {
            return wrong(&format!("between `{minimum}` and `{maximum}`"));
        }
        return limits(notes, found as f64, value, "minimum", "maximum");
    }
    match (ty, value) {
        (Type::Bool, Value::Bool(_)) => Ok(()),
        (Type::F32 | Type::F64, Value::Number(number)) => limits(
            notes,
            number.as_f64().unwrap_or(f64::NAN),
            value,
            "minimum",
            "maximum",
        ),
        (Type::String, Value::String(text)) => limits(
            notes,
            text.chars().count() as f64,
            value,
            "minLength",
            "maxLength",
        ),
        (Type::Char, Value::String(text)) if text.chars().count() == 1 => Ok(()),
        (Type::Bytes, Value::String(_)) => Ok(()),
        (Type::Option(_), Value::Null) => Ok(()),
        (Type::Option(inner), _) => accept(inner, notes.part(0), value),
        (Type::List(item), Value::Array(values)) => {
            limits(notes, values.len() as f64, value, "minItems", "maxItems")?;
            each(values, |_| Some((&**item, notes.part(0))))
        }
        (Type::FixedList(item, n), Value::Array(values)) if values.len() == *n as usize => {
            each(values, |_| Some((&**item, notes.part(0))))
        }
        (Type::Tuple(items), Value::Array(values)) if values.len() == items.len() => {
            each(values, |index| Some((items.get(index)?, notes.part(index))))
        }
        (Type::Record(fields), Value::Object(_)) => accept_object(fields, notes, value),
        (Type::Enum(cases), Value::String(text)) if cases.iter().any(|case| case.json == *text) => {
            Ok(())
        }
        (Type::Flags(flags), Value::Array(values)) => {
            for (index, value) in values.iter().enumerate() {
                if !flags.iter().any(|flag| *value == flag.json) {
                    return Err(format!("`{value}` is none of the flags"));
                }
                if values.iter().take(index).any(|other| other == value) {
                    return Err(format!("`{value}` is there twice"));
                }
            }
            Ok(())
        }
        (Type::Variant(cases), Value::Object(members)) => {
            let tag = members.get("tag");
            let found = cases
                .iter()
                .enumerate()
                .find(|(_, case)| tag.is_some_and(|tag| *tag == case.json));
            let Some((index, case)) = found else {
                return wrong("one of the variant's cases");
            };
            match (&case.ty, members.get("value"), members.len()) {
                (None, None, 1) => Ok(()),
                (Some(ty), Some(value), 2) => accept(ty, notes.part(index).part(0), value),
                _ => wrong(&format!("the case `{}`", case.json)),
            }
        }
        (Type::Result { ok, err }, Value::Object(members)) if members.len() == 1 => {
            let (side, index, value) = match (members.get("ok"), members.get("err")) {
                (Some(value), _) => (ok, 0, value),
                (_, Some(value)) => (err, 1, value),
                _ => return wrong("`{\"ok\": …}` or `{\"err\": …}`"),
            };
            match side {
                Some(ty) => accept(ty, notes.part(index), value),
                None if value.is_null() => Ok(()),
                None => wrong("null inside"),
            }
        }
        (Type::Map(key, item), Value::Object(members)) if **key == Type::String => members
            .values()
            .try_for_each(|value| accept(item, notes.part(1), value)),
        (Type::Map(key, item), Value::Array(pairs)) if **key != Type::String => pairs
            .iter()
            .try_for_each(|pair| match pair.as_array().map(Vec::as_slice) {
                Some([first, second]) => {
                    accept(key, notes.part(0), first)?;
                    accept(item, notes.part(1), second)
                }
                _ => Err(format!("`{pair}` is not a pair")),
            }),
        _ => wrong(&format!("of type `{}`", ty.kind())),
    }
}

/// Checks the object of a tool's arguments, or of a record.
///
/// # Errors
/// Text on the mismatch, with its place in the value.
pub(crate) fn accept_object(fields: &[Field], notes: &Notes, value: &Value) -> Result<(), String> {
    let Value::Object(members) = value else {
        return Err(format!("`{value}` is not an object"));
    };
    if let Some(name) = members
        .keys()
        .find(|name| !fields.iter().any(|field| field.json == **name))
    {
        return Err(format!("there is no `{name}`"));
    }
    for (index, field) in fields.iter().enumerate() {
        let notes = notes.part(index);
        match (members.get(&field.json), &field.ty) {
            (Some(value), Type::Option(inner)) if !notes.nullable => {
                accept(inner, notes.part(0), value)
            }
            (Some(value), ty) => accept(ty, notes, value),
            (None, Type::Option(_)) => Ok(()),
            (None, _) if field.default.is_some() => Ok(()),
            (None, _) => return Err(format!("`{}` is missing", field.json)),
        }
        .map_err(|error| format!("in `{}`: {error}", field.json))?;
    }
    Ok(())
}

fn each<'a>(
    values: &[Value],
    part: impl Fn(usize) -> Option<(&'a Type, &'a Notes)>,
) -> Result<(), String> {
    values
        .iter()
        .enumerate()
        .try_for_each(|(index, value)| match part(index) {
            Some((ty, notes)) => {
                accept(ty, notes, value).map_err(|error| format!("in [{index}]: {error}"))
            }
            None => Ok(()),
        })
}

fn limits(notes: &Notes, found: f64, value: &Value, least: &str, most: &str) -> Result<(), String> {
    let limit = |name: &str| notes.constraints.get(name).and_then(Value::as_f64);
    if limit(least).is_some_and(|limit| found < limit) {
        return Err(format!("`{value}` is below the {least}"));
    }
    if limit(most).is_some_and(|limit| found > limit) {
        return Err(format!("`{value}` is above the {most}"));
    }
    Ok(())
}

/// Returns a JSON number as an integer, if it is one: JSON Schema counts `5.0` as 5.
pub(crate) fn integer(number: &Number) -> Option<i128> {
    let whole = number
        .as_i64()
        .map(i128::from)
        .or_else(|| number.as_u64().map(i128::from));
    whole.or_else(|| {
        number
            .as_f64()
            .filter(|n| n.fract() == 0.0)
            .map(|n| n as i128)
    })
}

fn as_integer(value: &Value) -> Option<i128> {
    value.as_number().and_then(integer)
}
