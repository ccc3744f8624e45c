//! Tags that limit a value: `@minimum`, `@maximum`, `@pattern`, `@format`.

use serde_json::{Number, Value};

use super::accept::integer;
use super::tags::Tag;
use crate::notes::Notes;
use crate::pattern_size;
use crate::schema::bounds;
use crate::types::Type;

/// Returns the JSON Schema keyword and value of a constraint tag on a type.
pub(crate) fn constraint(
    tag: &Tag,
    ty: &Type,
    notes: &Notes,
) -> Result<(&'static str, Value), String> {
    let unfit = || format!("`@{}` does not go with `{}`", tag.name, ty.kind());
    if matches!(tag.name.as_str(), "pattern" | "format") {
        if *ty != Type::String {
            return Err(unfit());
        }
        if tag.text.is_empty() {
            return Err(format!("`@{}` needs a text after it", tag.name));
        }
        let keyword = if tag.name == "pattern" {
            regular(&tag.text)?;
            "pattern"
        } else {
            "format"
        };
        return Ok((keyword, Value::from(tag.text.as_str())));
    }
    // Of text and lists it is the length that is limited.
    let (least, most) = match ty {
        Type::String => ("minLength", "maxLength"),
        Type::List(_) => ("minItems", "maxItems"),
        Type::F32 | Type::F64 => ("minimum", "maximum"),
        _ if bounds(ty).is_some() => ("minimum", "maximum"),
        _ => return Err(unfit()),
    };
    let number: Number = serde_json::from_str(&tag.text)
        .map_err(|_| format!("`@{} {}` is not a number", tag.name, tag.text))?;
    let (low, high) = match (ty, bounds(ty)) {
        (Type::String | Type::List(_), _) => (0, i128::from(u32::MAX)),
        (_, Some((low, high))) => (
            low.as_number().and_then(integer).unwrap_or(0),
            high.as_number().and_then(integer).unwrap_or(0),
        ),
        _ => return in_order(tag, number, least, most, notes),
    };
    if !integer(&number).is_some_and(|number| (low..=high).contains(&number)) {
        return Err(format!(
            "`@{} {number}` is outside what `{}` can hold: an integer from `{low}` to `{high}`",
            tag.name,
            ty.kind()
        ));
    }
    in_order(tag, number, least, most, notes)
}

/// Refuses a pattern that the host could not match arguments with.
fn regular(pattern: &str) -> Result<(), String> {
    if !pattern_size::is_read(pattern) {
        let beginning: String = pattern.chars().take(80).collect();
        return Err(format!(
            "`@pattern {beginning}…` takes so much memory that the host would not match it: it is \
             longer than {} bytes, or has too many classes such as `\\p{{L}}` and `\\d`",
            pattern_size::MAX_PATTERN_LENGTH
        ));
    }
    match regex_syntax::parse(pattern) {
        Ok(_) => Ok(()),
        Err(error) => {
            // The first lines show the pattern again, with a mark below it.
            let error = error.to_string();
            let why = error.lines().last().unwrap_or_default();
            let why = why.trim_start_matches("error: ");
            Err(format!(
                "`@pattern {pattern}` is no regular expression that the host knows: {why}"
            ))
        }
    }
}

/// Refuses a minimum above the maximum.
fn in_order(
    tag: &Tag,
    number: Number,
    least: &'static str,
    most: &'static str,
    notes: &Notes,
) -> Result<(&'static str, Value), String> {
    let is_least = tag.name == "minimum";
    let (keyword, other) = if is_least {
        (least, most)
    } else {
        (most, least)
    };
    let value = number.as_f64().unwrap_or(f64::NAN);
    let crossed = notes
        .constraints
        .get(other)
        .and_then(Value::as_f64)
        .is_some_and(|other| {
            if is_least {
                value > other
            } else {
                value < other
            }
        });
    if crossed {
        return Err(format!("`@{} {number}` leaves no value at all", tag.name));
    }
    Ok((keyword, Value::Number(number)))
}
