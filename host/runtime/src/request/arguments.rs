//! The arguments of a call.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The arguments of a call.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    /// Values of the arguments by name.
    pub values: Map<String, Value>,
    /// Text from which the values were read, where it has been kept. An adapter gets this text:
    /// numbers may have more digits in it than in the values.
    pub text: Option<Box<RawValue>>,
}

impl From<Map<String, Value>> for Arguments {
    fn from(values: Map<String, Value>) -> Self {
        Self { values, text: None }
    }
}

impl Arguments {
    /// Returns the text of a JSON object.
    pub(crate) fn to_text(&self) -> String {
        match &self.text {
            Some(text) => text.get().to_owned(),
            None => Value::Object(self.values.clone()).to_string(),
        }
    }
}
