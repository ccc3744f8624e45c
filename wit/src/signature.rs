//! Signatures: short ones for models to read, and comparison of functions.

use std::collections::HashSet;

use serde_json::Value;

use crate::contract;
use crate::declaration::Function;
use crate::types::{Field, Type};

/// Longest compact signature, in bytes.
const MAX_LENGTH: usize = 1000;
/// Most levels of nested objects that it shows.
const MAX_DEPTH: usize = 4;
/// Most values of an enum that it lists.
const MAX_VALUES: usize = 12;

/// Returns a tool's signature on one line, from any JSON Schema:
/// `get_current_time(timezone: string) -> {timezone: string, is_dst: boolean}`. `?` marks members
/// that are not required, `…` an omission.
#[must_use]
pub fn compact(name: &str, input_schema: &Value, output_schema: Option<&Value>) -> String {
    let mut line = SignatureText(String::new());
    line.push(name);
    line.push("(");
    line.members(input_schema, 0);
    line.push(")");
    if let Some(schema) = output_schema {
        line.push(" -> ");
        line.schema(schema, 0);
    }
    line.cut()
}

/// Returns a parameter as it stands in a signature: `timezone: string`, or `timezone?: string` where
/// it is not required.
#[must_use]
pub fn compact_parameter(name: &str, schema: &Value, is_required: bool) -> String {
    let mut line = SignatureText(String::new());
    line.member(name, schema, is_required, 0);
    line.cut()
}

/// Text that stops growing soon after it has reached [`MAX_LENGTH`]. No part of a schema is looked at
/// twice for it, so that none costs more than reading it once.
struct SignatureText(String);

impl SignatureText {
    fn push(&mut self, text: &str) {
        if !self.is_full() {
            self.0.extend(text.chars().take(MAX_LENGTH));
        }
    }

    fn is_full(&self) -> bool {
        self.0.len() > MAX_LENGTH
    }

    fn cut(self) -> String {
        let mut text = self.0;
        if text.len() > MAX_LENGTH {
            let end = (0..=MAX_LENGTH)
                .rev()
                .find(|end| text.is_char_boundary(*end))
                .unwrap_or(0);
            text.truncate(end);
            text.push('…');
        }
        text
    }

    /// Adds a name as it is, or in quotes where it could be mistaken.
    fn name(&mut self, name: &str) {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '.');
        if !name.is_empty() && name.chars().all(plain) {
            self.push(name);
        } else {
            self.push(&Value::from(name).to_string());
        }
    }

    fn members(&mut self, schema: &Value, depth: usize) {
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.into_iter().flatten();
        let required: HashSet<_> = required.filter_map(Value::as_str).collect();
        let properties = schema.get("properties").and_then(Value::as_object);
        for (index, (name, property)) in properties.into_iter().flatten().enumerate() {
            if self.is_full() {
                return;
            }
            if index > 0 {
                self.push(", ");
            }
            self.member(name, property, required.contains(name.as_str()), depth);
        }
    }

    fn member(&mut self, name: &str, schema: &Value, is_required: bool, depth: usize) {
        self.name(name);
        self.push(if is_required { ": " } else { "?: " });
        self.schema(schema, depth);
    }

    fn schema(&mut self, schema: &Value, depth: usize) {
        if self.is_full() {
            return;
        }
        if depth > MAX_DEPTH {
            self.push("…");
            return;
        }
        let alternatives = |name: &str| schema.get(name).and_then(Value::as_array);
        if let Some(value) = schema.get("const") {
            self.push(&value.to_string());
        } else if let Some(values) = alternatives("enum") {
            for (index, value) in values.iter().take(MAX_VALUES).enumerate() {
                self.push(if index > 0 { "|" } else { "" });
                self.push(&value.to_string());
            }
            self.push(if values.len() > MAX_VALUES {
                "|…"
            } else {
                ""
            });
        } else if let Some(schemas) = alternatives("anyOf").or_else(|| alternatives("oneOf")) {
            for (index, schema) in schemas.iter().take(MAX_VALUES).enumerate() {
                self.push(if index > 0 { "|" } else { "" });
                self.schema(schema, depth + 1);
            }
            self.push(if schemas.len() > MAX_VALUES {
                "|…"
            } else {
                ""
            });
        } else if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            self.name(reference.rsplit('/').next().unwrap_or(reference));
        } else {
            match schema.get("type") {
                Some(Value::Array(types)) => {
                    let mut told = HashSet::new();
                    let types = types.iter().filter_map(Value::as_str).take(MAX_VALUES);
                    let types = types.filter(|ty| told.insert(*ty));
                    for (index, ty) in types.enumerate() {
                        self.push(if index > 0 { "|" } else { "" });
                        self.typed(ty, schema, depth);
                    }
                }
                Some(Value::String(ty)) => self.typed(ty, schema, depth),
                _ if schema.get("properties").is_some() => self.typed("object", schema, depth),
                _ => self.push("any"),
            }
        }
    }

    fn typed(&mut self, ty: &str, schema: &Value, depth: usize) {
        match ty {
            "object"
                if schema
                    .get("properties")
                    .and_then(Value::as_object)
                    .is_some_and(|map| !map.is_empty()) =>
            {
                self.push("{");
                self.members(schema, depth + 1);
                self.push("}");
            }
            "object" => match schema.get("additionalProperties") {
                Some(values @ Value::Object(_)) => {
                    self.push("{[key]: ");
                    self.schema(values, depth + 1);
                    self.push("}");
                }
                _ => self.push("object"),
            },
            "array" => {
                if let Some(items) = schema.get("prefixItems").and_then(Value::as_array) {
                    self.push("[");
                    for (index, item) in items.iter().enumerate() {
                        if self.is_full() {
                            return;
                        }
                        self.push(if index > 0 { ", " } else { "" });
                        self.schema(item, depth + 1);
                    }
                    self.push("]");
                    return;
                }
                let mut item = SignatureText(String::new());
                match schema.get("items") {
                    Some(items @ Value::Object(_)) => item.schema(items, depth + 1),
                    _ => item.push("any"),
                }
                let union = item.0.contains('|') && !item.0.starts_with(['{', '[']);
                self.push(if union { "(" } else { "" });
                self.push(&item.0);
                self.push(if union { ")[]" } else { "[]" });
            }
            other => self.name(other),
        }
    }
}

/// Checks that two functions are the same as WIT sees them: names and types of the parameters, and
/// the result. JSON names and defaults may differ.
///
/// # Errors
/// Text on the first difference between `declared`, as promised, and `found`, in the component.
pub fn same_signature(declared: &Function, found: &Function) -> Result<(), String> {
    same_fields("parameter", &declared.params, &found.params)?;
    match (&declared.result, &found.result) {
        (None, None) => Ok(()),
        (Some(declared), Some(found)) => same_type("the result", declared, found),
        (declared, found) => Err(differs(
            "the result",
            optional_kind(declared.as_ref()),
            optional_kind(found.as_ref()),
        )),
    }
}

fn same_fields(what: &str, declared: &[Field], found: &[Field]) -> Result<(), String> {
    if declared.len() != found.len() {
        return Err(differs(
            &format!("the number of {what}s"),
            &declared.len().to_string(),
            &found.len().to_string(),
        ));
    }
    for (declared, found) in declared.iter().zip(found) {
        if declared.wit != found.wit {
            return Err(differs(
                &format!("the name of a {what}"),
                &declared.wit,
                &found.wit,
            ));
        }
        same_type(
            &format!("{what} `{}`", declared.wit),
            &declared.ty,
            &found.ty,
        )?;
    }
    Ok(())
}

fn same_type(place: &str, declared: &Type, found: &Type) -> Result<(), String> {
    let part = |what: &str| format!("{place}, {what}");
    match (declared, found) {
        (Type::List(declared), Type::List(found)) => same_type(&part("item"), declared, found),
        (Type::Option(declared), Type::Option(found)) => same_type(&part("value"), declared, found),
        (Type::FixedList(declared, n), Type::FixedList(found, m)) if n == m => {
            same_type(&part("item"), declared, found)
        }
        (Type::Map(key, value), Type::Map(found_key, found_value)) => {
            same_type(&part("key"), key, found_key)?;
            same_type(&part("value"), value, found_value)
        }
        (Type::Tuple(declared), Type::Tuple(found)) if declared.len() == found.len() => {
            let items = declared.iter().zip(found).enumerate();
            items
                .into_iter()
                .try_for_each(|(i, (d, f))| same_type(&part(&format!("item {i}")), d, f))
        }
        (Type::Record(declared), Type::Record(found)) => {
            same_fields("field", declared, found).map_err(|error| part(&error))
        }
        (Type::Enum(declared), Type::Enum(found)) | (Type::Flags(declared), Type::Flags(found)) => {
            let names = |cases: &[crate::Case]| {
                cases
                    .iter()
                    .map(|case| case.wit.clone())
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            let (declared, found) = (names(declared), names(found));
            if declared == found {
                Ok(())
            } else {
                Err(differs(&part("cases"), &declared, &found))
            }
        }
        (Type::Variant(declared), Type::Variant(found)) => {
            if declared.len() != found.len() {
                return Err(differs(
                    &part("number of cases"),
                    &declared.len().to_string(),
                    &found.len().to_string(),
                ));
            }
            declared
                .iter()
                .zip(found)
                .try_for_each(|(declared, found)| {
                    if declared.wit != found.wit {
                        return Err(differs(&part("name of a case"), &declared.wit, &found.wit));
                    }
                    same_optional(
                        &part(&format!("case `{}`", declared.wit)),
                        declared.ty.as_ref(),
                        found.ty.as_ref(),
                    )
                })
        }
        (
            Type::Result { ok, err },
            Type::Result {
                ok: found_ok,
                err: found_err,
            },
        ) => {
            same_optional(&part("ok"), ok.as_deref(), found_ok.as_deref())?;
            same_optional(&part("err"), err.as_deref(), found_err.as_deref())
        }
        (declared, found) if declared == found => Ok(()),
        // To WIT, `list<content>` is a list like any other, and so are the others
        // that the contract gives a meaning.
        (declared, found) => match (contract::plain(declared), contract::plain(found)) {
            (Some(plain), None) if plain.kind() == found.kind() => same_type(place, &plain, found),
            (None, Some(plain)) if plain.kind() == declared.kind() => {
                same_type(place, declared, &plain)
            }
            _ => Err(differs(place, declared.kind(), found.kind())),
        },
    }
}

fn same_optional(place: &str, declared: Option<&Type>, found: Option<&Type>) -> Result<(), String> {
    match (declared, found) {
        (None, None) => Ok(()),
        (Some(declared), Some(found)) => same_type(place, declared, found),
        _ => Err(differs(
            place,
            optional_kind(declared),
            optional_kind(found),
        )),
    }
}

fn optional_kind(ty: Option<&Type>) -> &'static str {
    ty.map_or("nothing", Type::kind)
}

fn differs(place: &str, declared: &str, found: &str) -> String {
    format!("{place} is `{declared}` in the declaration and `{found}` in the component")
}

#[cfg(test)]
mod tests;
