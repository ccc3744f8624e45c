//! Words of a JSON Schema of arguments: names and descriptions of parameters, and the values
//! that they may have.

use serde_json::Value;

/// Longest schema that is read, in bytes: a longer one says nothing.
const MAX_SCHEMA_BYTES: usize = 1 << 20;

/// Deepest level of nested parameters that is read.
const MAX_DEPTH: usize = 8;

/// Most characters of texts that are taken of one schema, for names and for the rest.
const MAX_BYTES: usize = 16 << 10;

/// Texts of a schema, each kind separated by line feeds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SchemaWords {
    /// Names of parameters.
    pub(crate) names: String,
    /// Their titles, descriptions, choices and examples.
    pub(crate) descriptions: String,
}

impl SchemaWords {
    /// Reads a schema: nothing where it is no JSON.
    pub(crate) fn read(schema: &str) -> Self {
        let mut words = Self::default();
        if schema.len() <= MAX_SCHEMA_BYTES
            && let Ok(schema) = serde_json::from_str::<Value>(schema)
        {
            words.add_parameters(&schema, 0);
        }
        words
    }

    /// Adds what the parameters of an object are called and said to be.
    fn add_parameters(&mut self, schema: &Value, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        if let Some(Value::Object(properties)) = schema.get("properties") {
            for (name, parameter) in properties {
                add(&mut self.names, name);
                self.add_texts(parameter);
                self.add_parameters(parameter, depth + 1);
            }
        }
        if let Some(items) = schema.get("items") {
            self.add_texts(items);
            self.add_parameters(items, depth + 1);
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            if let Some(Value::Array(schemas)) = schema.get(key) {
                for schema in schemas {
                    self.add_texts(schema);
                    self.add_parameters(schema, depth + 1);
                }
            }
        }
        for key in ["$defs", "definitions"] {
            if let Some(Value::Object(schemas)) = schema.get(key) {
                for schema in schemas.values() {
                    self.add_parameters(schema, depth + 1);
                }
            }
        }
    }

    fn add_texts(&mut self, parameter: &Value) {
        if let Some(Value::String(text)) = parameter.get("description") {
            add(&mut self.descriptions, text);
        }
        for key in ["enum", "examples"] {
            if let Some(Value::Array(values)) = parameter.get(key) {
                let texts = values.iter().filter_map(Value::as_str);
                texts.for_each(|text| add(&mut self.descriptions, text));
            }
        }
    }
}

fn add(texts: &mut String, text: &str) {
    let room = MAX_BYTES.saturating_sub(texts.len());
    let (text, _) = text.split_at(text.floor_char_boundary(room));
    texts.push_str(text);
    texts.push('\n');
}
