//! JSON-RPC messages as text.
//!
//! Numbers, the order of members and unknown members stay as they were written: a
//! message is taken apart into parts of its text, and an object is edited by replacing
//! parts of it. Every operation takes time in proportion to the length of the text,
//! whatever is in it, and has caps ([`MessageLimits`]) whose excess is an error of its
//! own. The crate knows nothing of MCP.
//!
//! - [`Message`], [`Envelope`]: a message in its parts;
//! - [`RequestId`]: an id as it was written;
//! - [`Object`]: an object, read and edited member by member;
//! - [`items`], [`each_item`]: the items of an array, up to a number, and one by one;
//! - [`check_structure`]: whether a text is nested too deeply, or has names that readers take
//!   for something else;
//! - [`request`], [`response`], [`error`]: messages to send;
//! - `LineReader`: messages that are lines of a stream (feature `streams`).

#![forbid(unsafe_code)]

mod array;
mod id;
mod limits;
#[cfg(feature = "streams")]
mod lines;
mod message;
mod number;
mod object;
mod structure;
mod text;
mod write;

pub use array::{Items, each_item, items};
pub use id::RequestId;
pub use limits::MessageLimits;
#[cfg(feature = "streams")]
pub use lines::{Line, LineReader};
pub use message::{Envelope, Message, MessageError, Unreadable};
pub use number::{NumberError, check_numbers};
pub use object::{Member, Object, ObjectError, member};
pub use structure::{RESERVED_NAME, StructureError, TextPart, check_structure, text_parts};
pub use text::{is_json, on_one_line, quoted, without_half_characters};
pub use write::{error, notification, request, response};

/// The code of an error for a text that is not JSON.
pub const PARSE_ERROR: i64 = -32700;
/// The code of an error for JSON that is no request.
pub const INVALID_REQUEST: i64 = -32600;
/// The code of an error for a method that does not exist.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The code of an error for parameters that make no sense.
pub const INVALID_PARAMS: i64 = -32602;
/// The code of an error that is not the caller's.
pub const INTERNAL_ERROR: i64 = -32603;
