//! The part of a form's schema that answers are checked against: only what forms may say. The rest
//! of JSON Schema could cost whatever the form's author likes.

use serde_json::{Map, Value, json};

/// The keywords of fields whose values are no schemas.
const PLAIN: [&str; 14] = [
    "type",
    "enum",
    "const",
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
];

/// Makes the schema of a field.
pub(super) fn field(field: &Map<String, Value>) -> Value {
    let mut checked = plain(field);
    if let Some(choices) = field.get("oneOf") {
        checked.insert("enum".into(), constants(choices));
    }
    if let Some(unique) = field.get("uniqueItems") {
        checked.insert("uniqueItems".into(), unique.clone());
    }
    if let Some(Value::Object(items)) = field.get("items") {
        let choices = match (items.get("anyOf"), items.get("enum")) {
            (Some(choices), _) => Some(constants(choices)),
            (None, choices) => choices.cloned(),
        };
        let choices = choices.map(|choices| json!({ "enum": choices }));
        checked.extend(choices.map(|choices| ("items".to_owned(), choices)));
    }
    checked.into()
}

/// Makes the schema of a form.
pub(super) fn form(form: &Value) -> Value {
    let mut fields = Map::new();
    if let Some(Value::Object(properties)) = form.get("properties") {
        fields.extend(properties.iter().map(|(name, schema)| {
            let schema = schema.as_object().map_or_else(|| schema.clone(), field);
            (name.clone(), schema)
        }));
    }
    let mut checked = json!({ "type": "object", "properties": fields });
    if let Some(checked) = checked.as_object_mut() {
        for name in ["required", "additionalProperties"] {
            // A schema of what a form does not ask for says nothing of an answer to it.
            if let Some(value) = form.get(name).filter(|value| !value.is_object()) {
                checked.insert(name.into(), value.clone());
            }
        }
    }
    checked
}

fn plain(field: &Map<String, Value>) -> Map<String, Value> {
    let kept = PLAIN.iter().filter_map(|name| {
        let value = field.get(*name)?;
        Some(((*name).to_owned(), value.clone()))
    });
    kept.collect()
}

/// Returns the values that can be chosen.
fn constants(choices: &Value) -> Value {
    let choices = choices.as_array().into_iter().flatten();
    choices
        .filter_map(|choice| choice.get("const").cloned())
        .collect()
}
