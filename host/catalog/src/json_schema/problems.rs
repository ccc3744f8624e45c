//! Problems of values with a schema.

use jsonschema::ValidationError;

use super::messages::{shown_path, told};

/// Problems of a value with a schema.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Problems {
    /// The first problems.
    pub listed: Vec<SchemaProblem>,
    /// Number of further problems.
    pub more: usize,
}

impl Problems {
    /// Checks whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.more == 0
    }
}

/// A problem of a value with a schema.
#[derive(Debug, PartialEq, Eq)]
pub struct SchemaProblem {
    /// Place in the value, as a JSON pointer.
    pub pointer: String,
    /// Description of the problem, with values in backticks.
    pub message: String,
}

impl SchemaProblem {
    pub(super) fn of(error: &ValidationError<'_>) -> Self {
        Self {
            pointer: shown_path(error),
            message: told(&error.to_string()),
        }
    }
}
