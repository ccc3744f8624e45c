//! Reasons for which values cannot be validated with a schema.

/// Reason for which values cannot be validated with a schema, as a predicate of the schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// No JSON Schema, with the fault and its place.
    #[error("is no JSON Schema: {0}")]
    Invalid(String),
    /// A schema of an unknown dialect, or with a reference to something outside of it.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// A schema with which validating any value could take for ever.
    #[error("{0}")]
    TooCostly(String),
}
