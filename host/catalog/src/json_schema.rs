//! JSON Schemas of tools: what validating with one may take, and validating within bounds.

mod bounded;
mod cost;
mod error;
mod messages;
mod patterns;
mod problems;
mod references;
mod rewrite;
mod validator;

pub(crate) use bounded::without_large_patterns;
pub use bounded::{check_schema, too_costly};
pub use error::SchemaError;
pub(crate) use patterns::has_patterns;
pub use problems::{Problems, SchemaProblem};
pub use validator::{BoundedValidator, validator};
