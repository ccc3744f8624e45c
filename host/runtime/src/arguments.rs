//! The arguments of a call.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The arguments of a call.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    /// What they are.
    pub values: Map<String, Value>,
    /// The text that they were read from, where somebody has kept it. An adapter gets
    /// that: numbers may have more digits in it than the values have.
    pub text: Option<Box<RawValue>>,
}

impl From<Map<String, Value>> for Arguments {
    fn from(values: Map<String, Value>) -> Self {
        Self { values, text: None }
    }
}

impl Arguments {
    /// The text of a JSON object.
    pub(super) fn to_text(&self) -> String {
        match &self.text {
            Some(text) => text.get().to_owned(),
            None => Value::Object(self.values.clone()).to_string(),
        }
    }
}
