//! The arguments of a call, and checking them against a tool's input schema before
//! anything is instantiated.

use std::fmt::Write as _;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::error::Cause;

/// How many problems are listed: enough to mend a call in one go, few enough not
/// to drown a model in a list that it made itself.
const LISTED: usize = 20;

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

/// A compiled input schema.
pub(super) struct Checker {
    validator: Option<jsonschema::Validator>,
    signature: String,
}

impl Checker {
    /// A schema that is none checks nothing: the types of the function are still
    /// checked when the arguments are converted.
    pub(super) fn new(tool: &str, schema: &Value) -> Self {
        let validator = jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            // Linear in the length of its input: a pattern cannot hang a call.
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .build(schema)
            .inspect_err(|error| tracing::warn!("the input schema of `{tool}` is not one: {error}"))
            .ok();
        Self {
            validator,
            signature: dormouse_wit::signature::compact(tool, schema, None),
        }
    }

    /// Every problem at once, with JSON pointers, and the signature to mend them by.
    pub(super) fn check(&self, arguments: &Map<String, Value>) -> Result<(), Cause> {
        let Some(validator) = &self.validator else {
            return Ok(());
        };
        let value = Value::Object(arguments.clone());
        let mut problems = String::new();
        let mut more = 0_usize;
        for (index, error) in validator.iter_errors(&value).enumerate() {
            if index >= LISTED {
                more += 1;
                continue;
            }
            let pointer = error.instance_path().to_string();
            // The values in the validator's words, in the marks that all of
            // Dormouse's errors have.
            let message: String = error.to_string().chars().take(300).collect();
            let message = message.replace(['"', '\''], "`");
            // Writing to a string cannot fail.
            let _ = writeln!(problems, "- `{pointer}`: {message}");
        }
        if more > 0 {
            let _ = writeln!(problems, "- and {more} more");
        }
        if problems.is_empty() {
            Ok(())
        } else {
            Err(self.problem(problems.trim_end()))
        }
    }

    /// A problem found elsewhere, with the same signature.
    pub(super) fn problem(&self, problems: impl Into<String>) -> Cause {
        Cause::Arguments {
            problems: problems.into(),
            signature: self.signature.clone(),
        }
    }
}
