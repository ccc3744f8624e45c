//! The fields of forms (MCP `PrimitiveSchemaDefinition`, as of 2025-11-25).

use jsonschema::Validator;
use serde_json::{Map, Value};

use super::{COMBINING, checked, flat, shown, texts, told, validated, validator};

/// Bounds that come in pairs.
const BOUNDS: [(&str, &str); 3] = [
    ("minLength", "maxLength"),
    ("minimum", "maximum"),
    ("minItems", "maxItems"),
];

/// The formats that a text may have.
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];

/// Field of a form.
#[derive(Debug, Clone)]
pub struct Field {
    /// Name in the answer.
    pub name: String,
    /// Title that people see.
    pub title: Option<String>,
    /// Description of what to fill in.
    pub description: Option<String>,
    /// Whether the field has to be filled in.
    pub required: bool,
    /// Value that the field is filled with beforehand.
    pub default: Option<Value>,
    /// Kind of the value.
    pub kind: FieldKind,
    format: Option<String>,
    validator: Validator,
}

/// Kind of value that a field holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldKind {
    /// A text.
    Text,
    /// A number.
    Number,
    /// A whole number.
    Integer,
    /// Yes or no.
    Boolean,
    /// A single one of these choices.
    One(Vec<FieldChoice>),
    /// Any number of these choices.
    Several(Vec<FieldChoice>),
}

/// Choice of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldChoice {
    /// Value in the answer.
    pub value: String,
    /// Title that people see.
    pub title: Option<String>,
}

impl Field {
    pub(super) fn read(name: &str, schema: &Value, required: bool) -> Result<Self, String> {
        let field = schema
            .as_object()
            .ok_or_else(|| format!("is {}, and no object", shown(schema)))?;
        let kind = kind(field)?;
        let text = |name: &str| field.get(name).and_then(Value::as_str).map(str::to_owned);
        let validator = validator(&checked::field(field));
        let validator = validator.map_err(|error| format!("is no schema{}", told(&error)))?;
        let read = Self {
            name: name.to_owned(),
            title: text("title"),
            description: text("description"),
            required,
            default: field.get("default").cloned(),
            kind,
            format: text("format"),
            validator,
        };
        for (least, most) in BOUNDS {
            let [low, high] = [least, most].map(|name| field.get(name));
            let bounds = low
                .and_then(Value::as_f64)
                .zip(high.and_then(Value::as_f64));
            if bounds.is_some_and(|(low, high)| low > high) {
                let [low, high] = [low, high].map(|bound| bound.map(shown).unwrap_or_default());
                return Err(format!(
                    "has a `{least}` of {low} and a `{most}` of {high}, and nothing is both"
                ));
            }
        }
        if let Some(default) = &read.default {
            let wrong = |why| format!("has a `default` that {why}");
            read.check(default).map_err(wrong)?;
        }
        Ok(read)
    }

    /// Returns the format that a text has to have.
    #[must_use]
    pub fn format(&self) -> Option<&str> {
        self.format.as_deref()
    }

    /// Checks a value for the field.
    ///
    /// # Errors
    /// The value does not fit. The error says why: "does not fit…".
    pub fn check(&self, value: &Value) -> Result<(), String> {
        validated(&self.validator, value)
    }
}

fn kind(field: &Map<String, Value>) -> Result<FieldKind, String> {
    const TYPES: &str = "`string`, `number`, `integer` or `boolean`, or `array` where several \
                         of some texts can be chosen";
    let combining = |but: &[&str]| {
        let combining = COMBINING.into_iter().filter(|word| !but.contains(word));
        flat(field, &combining.collect::<Vec<_>>())
    };
    let ty = match field.get("type") {
        Some(Value::String(ty)) => ty.as_str(),
        Some(other) => {
            let other = shown(other);
            return Err(format!("has the type {other}, and fields are {TYPES}"));
        }
        None => {
            combining(&[])?;
            return Err(format!("has no `type`, and fields are {TYPES}"));
        }
    };
    if ty == "string" {
        combining(&["oneOf"])?;
        return text(field);
    }
    combining(&[])?;
    let kind = match ty {
        "number" => FieldKind::Number,
        "integer" => FieldKind::Integer,
        "boolean" => FieldKind::Boolean,
        "array" => return several(field),
        other => return Err(format!("has the type `{other}`, and fields are {TYPES}")),
    };
    match field.contains_key("enum") {
        true => Err(format!(
            "is of the type `{ty}` and has an `enum`, and only a `string` may have one"
        )),
        false => Ok(kind),
    }
}

fn text(field: &Map<String, Value>) -> Result<FieldKind, String> {
    match (field.get("oneOf"), field.get("enum")) {
        (Some(_), Some(_)) => {
            Err("has both an `enum` and a `oneOf`, and one is all that it may have".into())
        }
        (Some(choices), None) => titled("oneOf", choices).map(FieldKind::One),
        (None, Some(choices)) => {
            let mut choices = untitled(choices)?;
            if let Some(names) = field.get("enumNames") {
                let names =
                    texts(names).map_err(|other| format!("has {other} as its `enumNames`"))?;
                if names.len() != choices.len() {
                    return Err(format!(
                        "has `{}` of `enumNames` for `{}` of `enum`",
                        names.len(),
                        choices.len()
                    ));
                }
                for (choice, name) in choices.iter_mut().zip(names) {
                    choice.title = Some(name.to_owned());
                }
            }
            Ok(FieldKind::One(choices))
        }
        (None, None) => match field.get("format") {
            Some(format) if !FORMATS.iter().any(|known| format == known) => Err(format!(
                "has the format {}, and those of MCP are `email`, `uri`, `date` and `date-time`",
                shown(format)
            )),
            _ => Ok(FieldKind::Text),
        },
    }
}

fn several(field: &Map<String, Value>) -> Result<FieldKind, String> {
    const ITEMS: &str = "`{\"type\": \"string\", \"enum\": […]}` or \
                         `{\"anyOf\": [{\"const\": …, \"title\": …}, …]}`";
    let items = field.get("items").and_then(Value::as_object);
    let items = items.ok_or_else(|| format!("has no `items`, which are {ITEMS}"))?;
    let choices = match (items.get("anyOf"), items.get("enum"), items.get("type")) {
        (Some(choices), None, _) => titled("anyOf", choices),
        (None, Some(choices), Some(Value::String(ty))) if ty == "string" => untitled(choices),
        _ => {
            let items = shown(&Value::Object(items.clone()));
            Err(format!("has {items} as its `items`, which are {ITEMS}"))
        }
    };
    choices.map(FieldKind::Several)
}

fn untitled(choices: &Value) -> Result<Vec<FieldChoice>, String> {
    let values =
        texts(choices).map_err(|other| format!("has {other} in its `enum`, and no text"))?;
    if values.is_empty() {
        return Err("has an `enum` of nothing to choose from".into());
    }
    let choice = |value: &str| FieldChoice {
        value: value.to_owned(),
        title: None,
    };
    Ok(values.into_iter().map(choice).collect())
}

fn titled(word: &str, choices: &Value) -> Result<Vec<FieldChoice>, String> {
    let choice = |choice: &Value| {
        let text = |name: &str| choice.get(name).and_then(Value::as_str);
        match (text("const"), text("title")) {
            (Some(value), Some(title)) => Ok(FieldChoice {
                value: value.to_owned(),
                title: Some(title.to_owned()),
            }),
            _ => Err(format!(
                "has {} in its `{word}`, and no `{{\"const\": …, \"title\": …}}` of texts",
                shown(choice)
            )),
        }
    };
    match choices {
        Value::Array(choices) if !choices.is_empty() => choices.iter().map(choice).collect(),
        Value::Array(_) => Err(format!("has a `{word}` of nothing to choose from")),
        other => Err(format!("has {} as its `{word}`, and no list", shown(other))),
    }
}
