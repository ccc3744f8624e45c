//! The forms that MCP knows (`requestedSchema` of an elicitation): flat objects of
//! fields that every client can show.
//!
//! A plugin's form is read before anybody is asked. Clients know no more of JSON Schema
//! than this; shown anything else, one fails, and another lets its user fill in what is
//! refused afterwards.

use serde_json::{Map, Value};

/// What of JSON Schema combines schemas or refers to others, which no form may.
const COMBINING: [&str; 7] = [
    "$ref",
    "$dynamicRef",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
];

/// Bounds that come in pairs.
const BOUNDS: [(&str, &str); 3] = [
    ("minLength", "maxLength"),
    ("minimum", "maximum"),
    ("minItems", "maxItems"),
];

/// The formats that a text may have.
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];

/// A form: what is to be filled in.
#[derive(Debug, Clone)]
pub struct Form {
    /// Its fields, in the order in which they were declared.
    pub fields: Vec<Field>,
}

/// One field of a form.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its name in the answer.
    pub name: String,
    /// What people call it.
    pub title: Option<String>,
    /// What is to be filled in.
    pub description: Option<String>,
    /// Whether it has to be filled in.
    pub required: bool,
    /// What it is filled with beforehand.
    pub default: Option<Value>,
    /// What it holds.
    pub kind: Kind,
    schema: Value,
}

/// What a field holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A text.
    Text,
    /// A number.
    Number,
    /// A whole number.
    Integer,
    /// Yes or no.
    Boolean,
    /// One of these.
    One(Vec<Choice>),
    /// Any of these.
    Several(Vec<Choice>),
}

/// What can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What it is in the answer.
    pub value: String,
    /// What people call it.
    pub title: Option<String>,
}

impl Form {
    /// The form that a schema is.
    ///
    /// # Errors
    /// Why it is none of MCP's, without a subject: "its `type` is …".
    pub fn read(schema: &Value) -> Result<Self, String> {
        let form = schema
            .as_object()
            .ok_or_else(|| format!("it is {}, and a form is an object", shown(schema)))?;
        match form.get("type") {
            Some(Value::String(ty)) if ty == "object" => {}
            Some(other) => {
                let other = shown(other);
                return Err(format!(
                    "its `type` is {other}, and that of a form is `object`"
                ));
            }
            None => return Err("it has no `type`, and that of a form is `object`".into()),
        }
        flat(form, &COMBINING).map_err(|why| format!("it {why}"))?;
        let fields = match form.get("properties") {
            Some(Value::Object(fields)) => fields,
            Some(other) => {
                let other = shown(other);
                return Err(format!("its `properties` are {other}, and no object"));
            }
            None => {
                return Err(
                    "it has no `properties`, which are `{}` where there is nothing to fill in"
                        .into(),
                );
            }
        };
        let required = match form.get("required") {
            Some(names) => texts(names)
                .map_err(|other| format!("its `required` has {other}, and no names of fields"))?,
            None => Vec::new(),
        };
        if let Some(name) = required.iter().find(|name| !fields.contains_key(**name)) {
            return Err(format!("`{name}` is required, and there is no such field"));
        }
        let fields = fields.iter().map(|(name, schema)| {
            let field = Field::read(name, schema, required.contains(&name.as_str()));
            field.map_err(|why| format!("its field `{name}` {why}"))
        });
        let fields = fields.collect::<Result<_, _>>()?;
        // Whatever is left that no schema of JSON may say.
        validator(schema).map_err(|error| format!("it is no schema{}", told(&error)))?;
        Ok(Self { fields })
    }
}

impl Field {
    fn read(name: &str, schema: &Value, required: bool) -> Result<Self, String> {
        let field = schema
            .as_object()
            .ok_or_else(|| format!("is {}, and no object", shown(schema)))?;
        let kind = kind(field)?;
        let text = |name: &str| field.get(name).and_then(Value::as_str).map(str::to_owned);
        let read = Self {
            name: name.to_owned(),
            title: text("title"),
            description: text("description"),
            required,
            default: field.get("default").cloned(),
            kind,
            schema: schema.clone(),
        };
        validator(schema).map_err(|error| format!("is no schema{}", told(&error)))?;
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

    /// The format that a text has to have.
    #[must_use]
    pub fn format(&self) -> Option<&str> {
        self.schema.get("format")?.as_str()
    }

    /// Sees whether the field may be filled with that.
    ///
    /// # Errors
    /// Why not: "does not fit…".
    pub fn check(&self, value: &Value) -> Result<(), String> {
        fits(&self.schema, value)
    }
}

fn kind(field: &Map<String, Value>) -> Result<Kind, String> {
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
        "number" => Kind::Number,
        "integer" => Kind::Integer,
        "boolean" => Kind::Boolean,
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

fn text(field: &Map<String, Value>) -> Result<Kind, String> {
    match (field.get("oneOf"), field.get("enum")) {
        (Some(_), Some(_)) => {
            Err("has both an `enum` and a `oneOf`, and one is all that it may have".into())
        }
        (Some(choices), None) => titled("oneOf", choices).map(Kind::One),
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
            Ok(Kind::One(choices))
        }
        (None, None) => match field.get("format") {
            Some(format) if !FORMATS.iter().any(|known| format == known) => Err(format!(
                "has the format {}, and those of MCP are `email`, `uri`, `date` and `date-time`",
                shown(format)
            )),
            _ => Ok(Kind::Text),
        },
    }
}

fn several(field: &Map<String, Value>) -> Result<Kind, String> {
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
    choices.map(Kind::Several)
}

fn untitled(choices: &Value) -> Result<Vec<Choice>, String> {
    let values =
        texts(choices).map_err(|other| format!("has {other} in its `enum`, and no text"))?;
    if values.is_empty() {
        return Err("has an `enum` of nothing to choose from".into());
    }
    let choice = |value: &str| Choice {
        value: value.to_owned(),
        title: None,
    };
    Ok(values.into_iter().map(choice).collect())
}

fn titled(word: &str, choices: &Value) -> Result<Vec<Choice>, String> {
    let choice = |choice: &Value| {
        let text = |name: &str| choice.get(name).and_then(Value::as_str);
        match (text("const"), text("title")) {
            (Some(value), Some(title)) => Ok(Choice {
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

/// Sees that nothing in a schema combines others.
fn flat(schema: &Map<String, Value>, combining: &[&str]) -> Result<(), String> {
    match combining.iter().find(|word| schema.contains_key(**word)) {
        Some(word) => Err(format!("has `{word}`, which no form may have")),
        None => Ok(()),
    }
}

/// The texts of a list, or what is none.
fn texts(list: &Value) -> Result<Vec<&str>, String> {
    let items = list.as_array().ok_or_else(|| shown(list))?;
    let texts = items.iter();
    texts
        .map(|item| item.as_str().ok_or_else(|| shown(item)))
        .collect()
}

/// Sees whether a value is what a schema wants.
///
/// # Errors
/// Why it is not: "does not fit…".
pub(super) fn fits(schema: &Value, value: &Value) -> Result<(), String> {
    let validator =
        validator(schema).map_err(|error| format!("cannot be checked{}", told(&error)))?;
    let checked = validator.validate(value);
    checked.map_err(|error| format!("does not fit{}", told(&error)))
}

/// A schema that answers are held against, formats too.
///
/// # Errors
/// It is none.
pub(super) fn validator(
    schema: &Value,
) -> Result<jsonschema::Validator, jsonschema::ValidationError<'static>> {
    jsonschema::options()
        // Linear in the length of its input: a pattern cannot hang an answer.
        .with_pattern_options(jsonschema::PatternOptions::regex())
        .should_validate_formats(true)
        .build(schema)
}

/// What a validator says of a value, with the marks that all of Dormouse's errors have,
/// and where in it that is: " at `/a`: `1` is …".
fn told(error: &jsonschema::ValidationError<'_>) -> String {
    // A quotation mark in the value itself is none of the validator's.
    const VALUE: &str = "\0";
    let told = error.masked_with(VALUE).to_string();
    let told: String = told.replace(['"', '\''], "`").chars().take(300).collect();
    let told = told.replace(VALUE, &shown(error.instance()));
    match error.instance_path().as_str() {
        "" => format!(": {told}"),
        place => format!(" at `{place}`: {told}"),
    }
}

/// A value for a message: short.
pub(super) fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.chars().count() {
        0..=80 => format!("`{text}`"),
        _ => format!("`{}…`", text.chars().take(79).collect::<String>()),
    }
}

#[cfg(test)]
mod tests;
