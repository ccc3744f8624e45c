//! Values: JSON ↔ component model, by the type tree of a declaration (DESIGN §4).

mod decode;
mod encode;
mod result;

#[cfg(test)]
mod tests;

pub(crate) use decode::{arguments, drop_nulls};
pub(crate) use result::tool_result;
