//! Schemas within a schema, and targets of its references.

use serde_json::{Map, Value};

use super::value_size::value_nodes;
use crate::json_schema::references::percent_decoded;

/// Keywords whose value is one schema for the same value.
pub(super) const IN_PLACE: [&str; 4] = ["not", "if", "then", "else"];

/// Keywords whose value is a list of schemas for the same value.
pub(super) const IN_PLACE_LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Keywords whose value is schemas for the same value, by names.
pub(super) const IN_PLACE_MAPS: [&str; 2] = ["dependentSchemas", "dependencies"];

/// Keywords that refer to another schema.
pub(super) const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Keywords for parts that no other keyword has evaluated: to find these, validators evaluate the
/// others again.
pub(super) const UNEVALUATED: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];

/// Least number of times that a validator evaluates the keywords beside such a keyword, and the
/// number of times that it compiles them. For a value, the times are [counted](super::evaluated).
pub(super) const UNEVALUATED_LOOKS: u64 = 3;

/// Target of a reference.
#[derive(Clone, Copy)]
pub(super) enum ReferencedSchema<'a> {
    Schema(&'a Value),
    /// A meta-schema.
    Meta,
}

/// Follows a reference of a schema whose references are pointers from its root
/// (`references`).
pub(super) fn resolve<'a>(root: &'a Value, reference: &str) -> Option<ReferencedSchema<'a>> {
    let Some(fragment) = reference.strip_prefix('#') else {
        return Some(ReferencedSchema::Meta);
    };
    if fragment.is_empty() {
        return Some(ReferencedSchema::Schema(root));
    }
    let found = match fragment.contains('%') {
        true => root.pointer(&percent_decoded(fragment)?),
        false => root.pointer(fragment),
    };
    found.map(ReferencedSchema::Schema)
}

/// Schemas within a schema, by their role.
pub(super) struct SchemaParts<'a> {
    pub(super) in_place: Vec<&'a Value>,
    pub(super) inner: Vec<&'a Value>,
    pub(super) references: Vec<&'a str>,
    pub(super) looks: u64,
    /// Number of other parts: literals, names, patterns.
    pub(super) own: u64,
}

impl<'a> SchemaParts<'a> {
    pub(super) fn of(schema: &'a Map<String, Value>) -> Self {
        let mut parts = Self {
            in_place: Vec::new(),
            inner: Vec::new(),
            references: Vec::new(),
            looks: 1,
            own: 1 + schema.len() as u64,
        };
        for (name, value) in schema {
            let name = name.as_str();
            match value {
                Value::String(to) if REFERENCES.contains(&name) => parts.references.push(to),
                Value::Bool(_) if name == "$recursiveRef" => {}
                Value::Array(schemas) if IN_PLACE_LISTS.contains(&name) => {
                    parts.in_place.extend(schemas);
                }
                Value::Array(schemas) if ["items", "prefixItems"].contains(&name) => {
                    parts.inner.extend(schemas);
                }
                Value::Object(schemas) if IN_PLACE_MAPS.contains(&name) => {
                    // Names of properties may stand in place of a schema.
                    let names = schemas.values().filter(|value| value.is_array());
                    parts.own += names.map(value_nodes).sum::<u64>();
                    parts.in_place.extend(schemas.values());
                }
                Value::Object(schemas) if ["properties", "patternProperties"].contains(&name) => {
                    parts.own += schemas.len() as u64;
                    parts.inner.extend(schemas.values());
                }
                Value::Object(_) | Value::Bool(_) if IN_PLACE.contains(&name) => {
                    parts.in_place.push(value);
                }
                Value::Object(_) | Value::Bool(_) if INNER.contains(&name) => {
                    parts.inner.push(value);
                }
                Value::Array(literals) if ["enum", "required"].contains(&name) => {
                    parts.own += literals.iter().map(value_nodes).sum::<u64>();
                }
                literal if ["const", "dependentRequired"].contains(&name) => {
                    parts.own += value_nodes(literal);
                }
                _ => {}
            }
            if UNEVALUATED.contains(&name) {
                parts.looks = UNEVALUATED_LOOKS;
            }
        }
        parts
    }
}

/// Keywords whose value is one schema for parts of the value.
const INNER: [&str; 7] = [
    "items",
    "additionalItems",
    "additionalProperties",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
];
