//! Values: JSON ↔ component model, by the type tree of a declaration.

mod allowance;
mod byte_lists;
mod bytes;
mod case_index;
mod decode;
mod encode;
mod json_size;
mod left_out;
mod mismatch;
mod prompt;
mod resource;
mod result;
mod uncounted;

#[cfg(test)]
mod tests;

pub(crate) use byte_lists::{address_and_length, byte_lists, byte_lists_of_params, into_values};
pub(crate) use bytes::base64_in;
pub(crate) use decode::{arguments, drop_nulls, texts};
pub(crate) use json_size::{json_memory, json_size, written_bytes};
pub(crate) use prompt::prompt_result;
pub(crate) use resource::resource_result;
pub(crate) use result::tool_result;
pub(crate) use uncounted::{MAX_NESTED_FACTOR, flags_factor, uncounted_factor};
