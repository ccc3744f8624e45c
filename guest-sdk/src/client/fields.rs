//! Forms whose fields carry the types of their values, so that the question and the reading of its
//! answer cannot differ.

use std::marker::PhantomData;

use serde_json::{Map, Value, json};

/// Form for a user: a [`Field`], a tuple of fields, or any JSON Schema of one flat object (MCP
/// elicitation) as a `serde_json::Value`.
pub trait Fields {
    /// Type of the answer: the value of a field, a tuple of such values, or for a schema the answer
    /// as it came.
    type Answer;

    /// Returns the JSON Schema of the answer.
    fn schema(&self) -> Value;

    /// Reads the answer.
    ///
    /// # Errors
    /// A value is missing or not of its type; says its name.
    fn read(&self, answer: &Value) -> Result<Self::Answer, String>;
}

/// Field of a form, to be filled in with a `T`.
#[derive(Debug, Clone, PartialEq)]
pub struct Field<T> {
    name: String,
    schema: Map<String, Value>,
    required: bool,
    filled: PhantomData<T>,
}

impl<T: Filled> Field<T> {
    fn new(name: impl Into<String>, schema: Value) -> Self {
        let schema = match schema {
            Value::Object(schema) => schema,
            _ => Map::new(),
        };
        Self {
            name: name.into(),
            schema,
            required: true,
            filled: PhantomData,
        }
    }

    fn with(mut self, keyword: &str, value: impl Into<Value>) -> Self {
        self.schema.insert(keyword.to_owned(), value.into());
        self
    }

    /// Lets the user leave the field out. Limits that are special to its type (a length, a range)
    /// have to be set before.
    #[must_use]
    pub fn optional(self) -> Field<Option<T>> {
        Field {
            name: self.name,
            schema: self.schema,
            required: false,
            filled: PhantomData,
        }
    }

    /// Sets the title that the user sees instead of the name.
    #[must_use]
    pub fn with_title(self, title: impl Into<String>) -> Self {
        self.with("title", title.into())
    }

    /// Sets the description.
    #[must_use]
    pub fn with_description(self, description: impl Into<String>) -> Self {
        self.with("description", description.into())
    }

    /// Sets the value that the field has at first.
    #[must_use]
    pub fn with_default(self, value: impl Into<T>) -> Self
    where
        Value: From<T>,
    {
        let value: T = value.into();
        self.with("default", value)
    }
}

impl Field<String> {
    /// Makes a field for a text.
    #[must_use]
    pub fn text(name: impl Into<String>) -> Self {
        Self::new(name, json!({ "type": "string" }))
    }

    /// Makes a field for one of several texts, each with a title that the user reads instead of it.
    #[must_use]
    pub fn choice<'a>(
        name: impl Into<String>,
        choices: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let schema = json!({ "type": "string", "oneOf": titled(choices) });
        Self::new(name, schema)
    }

    /// Limits the number of characters.
    #[must_use]
    pub fn with_length(self, least: u32, most: u32) -> Self {
        self.with("minLength", least).with("maxLength", most)
    }

    /// Sets a format that MCP knows: `email`, `uri`, `date` or `date-time`.
    #[must_use]
    pub fn with_format(self, format: &str) -> Self {
        self.with("format", format)
    }
}

impl Field<Vec<String>> {
    /// Makes a field for any of several texts, each with a title that the user reads instead of it.
    #[must_use]
    pub fn choices<'a>(
        name: impl Into<String>,
        choices: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let schema = json!({ "type": "array", "items": { "anyOf": titled(choices) } });
        Self::new(name, schema)
    }
}

impl Field<i64> {
    /// Makes a field for a whole number.
    #[must_use]
    pub fn integer(name: impl Into<String>) -> Self {
        Self::new(name, json!({ "type": "integer" }))
    }

    /// Limits the number to those from the one to the other.
    #[must_use]
    pub fn with_range(self, least: i64, most: i64) -> Self {
        self.with("minimum", least).with("maximum", most)
    }
}

impl Field<f64> {
    /// Makes a field for a number.
    #[must_use]
    pub fn number(name: impl Into<String>) -> Self {
        Self::new(name, json!({ "type": "number" }))
    }

    /// Limits the number to those from the one to the other.
    #[must_use]
    pub fn with_range(self, least: f64, most: f64) -> Self {
        self.with("minimum", least).with("maximum", most)
    }
}

impl Field<bool> {
    /// Makes a field for yes or no.
    #[must_use]
    pub fn boolean(name: impl Into<String>) -> Self {
        Self::new(name, json!({ "type": "boolean" }))
    }
}

fn titled<'a>(choices: impl IntoIterator<Item = (&'a str, &'a str)>) -> Value {
    let choices = choices.into_iter();
    choices
        .map(|(value, title)| json!({ "const": value, "title": title }))
        .collect()
}

/// Type of values of a field.
pub trait Filled: Sized {
    /// Returns the value, if there is one of this type.
    fn filled(value: Option<&Value>) -> Option<Self>;
}

impl Filled for String {
    fn filled(value: Option<&Value>) -> Option<Self> {
        value?.as_str().map(str::to_owned)
    }
}

impl Filled for Vec<String> {
    fn filled(value: Option<&Value>) -> Option<Self> {
        let values = value?.as_array()?.iter();
        values.map(|value| String::filled(Some(value))).collect()
    }
}

impl Filled for i64 {
    fn filled(value: Option<&Value>) -> Option<Self> {
        let value = value?;
        // To JSON Schema, `5.0` is an integer, too.
        let float = || {
            let float = value.as_f64()?;
            let whole = float.fract() == 0.0 && float.abs() < 9e18;
            whole.then_some(float as Self)
        };
        value.as_i64().or_else(float)
    }
}

impl Filled for f64 {
    fn filled(value: Option<&Value>) -> Option<Self> {
        value?.as_f64()
    }
}

impl Filled for bool {
    fn filled(value: Option<&Value>) -> Option<Self> {
        value?.as_bool()
    }
}

impl<T: Filled> Filled for Option<T> {
    fn filled(value: Option<&Value>) -> Option<Self> {
        match value {
            None | Some(Value::Null) => Some(None),
            value => T::filled(value).map(Some),
        }
    }
}

impl<T: Filled> Field<T> {
    fn describe(&self, properties: &mut Map<String, Value>, required: &mut Vec<Value>) {
        properties.insert(self.name.clone(), Value::Object(self.schema.clone()));
        if self.required {
            required.push(self.name.as_str().into());
        }
    }

    fn value(&self, answer: &Value) -> Result<T, String> {
        T::filled(answer.get(&self.name))
            .ok_or_else(|| format!("`{}` is missing or not of its type", self.name))
    }
}

impl<T: Filled> Fields for Field<T> {
    type Answer = T;

    fn schema(&self) -> Value {
        let (mut properties, mut required) = (Map::new(), Vec::new());
        self.describe(&mut properties, &mut required);
        object(properties, required)
    }

    fn read(&self, answer: &Value) -> Result<T, String> {
        self.value(answer)
    }
}

impl Fields for Value {
    type Answer = Self;

    fn schema(&self) -> Value {
        self.clone()
    }

    fn read(&self, answer: &Value) -> Result<Self, String> {
        Ok(answer.clone())
    }
}

impl<F: Fields> Fields for &F {
    type Answer = F::Answer;

    fn schema(&self) -> Value {
        F::schema(self)
    }

    fn read(&self, answer: &Value) -> Result<F::Answer, String> {
        F::read(self, answer)
    }
}

macro_rules! tuples {
    ($($($field:ident)+;)*) => {
        $(
            impl<$($field: Filled),+> Fields for ($(Field<$field>,)+) {
                type Answer = ($($field,)+);

                #[allow(non_snake_case, reason = "fields are called by their types here")]
                fn schema(&self) -> Value {
                    let ($($field,)+) = self;
                    let (mut properties, mut required) = (Map::new(), Vec::new());
                    $($field.describe(&mut properties, &mut required);)+
                    object(properties, required)
                }

                #[allow(non_snake_case, reason = "fields are called by their types here")]
                fn read(&self, answer: &Value) -> Result<Self::Answer, String> {
                    let ($($field,)+) = self;
                    Ok(($($field.value(answer)?,)+))
                }
            }
        )*
    };
}

tuples! {
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
}

fn object(properties: Map<String, Value>, required: Vec<Value>) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_one_flat_object_of_mcps_kinds_of_fields() {
        let form = (
            Field::text("mail").with_title("Mail").with_format("email"),
            Field::integer("age").with_range(0, 150).optional(),
            Field::number("size").with_description("In metres"),
            Field::boolean("sure").with_default(false),
            Field::choice("tone", [("kind", "Kind"), ("blunt", "Blunt")]).with_default("kind"),
            Field::choices("days", [("mo", "Monday")]),
            Field::text("name").with_length(1, 40),
        );
        assert_eq!(
            form.schema(),
            json!({
                "type": "object",
                "properties": {
                    "mail": { "type": "string", "title": "Mail", "format": "email" },
                    "age": { "type": "integer", "minimum": 0, "maximum": 150 },
                    "size": { "type": "number", "description": "In metres" },
                    "sure": { "type": "boolean", "default": false },
                    "tone": {
                        "type": "string",
                        "oneOf": [
                            { "const": "kind", "title": "Kind" },
                            { "const": "blunt", "title": "Blunt" },
                        ],
                        "default": "kind",
                    },
                    "days": {
                        "type": "array",
                        "items": { "anyOf": [{ "const": "mo", "title": "Monday" }] },
                    },
                    "name": { "type": "string", "minLength": 1, "maxLength": 40 },
                },
                "required": ["mail", "size", "sure", "tone", "days", "name"],
            })
        );
        let answer = json!({
            "mail": "a@b", "size": 2, "sure": true, "tone": "kind", "days": ["mo"], "name": "Ada"
        });
        let expected = (
            "a@b".to_owned(),
            None,
            2.0,
            true,
            "kind".to_owned(),
            vec!["mo".to_owned()],
            "Ada".to_owned(),
        );
        assert_eq!(form.read(&answer), Ok(expected));
    }

    #[test]
    fn a_field_alone_is_a_form() {
        let age = Field::integer("age");
        assert_eq!(age.read(&json!({ "age": 5 })), Ok(5));
        assert_eq!(age.read(&json!({ "age": 5.0 })), Ok(5));
        for odd in [
            json!({}),
            json!({ "age": 5.5 }),
            json!({ "age": "5" }),
            json!(null),
        ] {
            let error = age.read(&odd).unwrap_err();
            assert_eq!(error, "`age` is missing or not of its type");
        }
        let age = age.optional();
        assert_eq!(age.schema()["required"], json!([]));
        assert_eq!(age.read(&json!({})), Ok(None));
        assert_eq!(age.read(&json!({ "age": null })), Ok(None));
        assert_eq!(age.read(&json!({ "age": 7 })), Ok(Some(7)));
        assert!(age.read(&json!({ "age": "7" })).is_err());
    }
}
