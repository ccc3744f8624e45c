//! Messages of clients as they were read, and the memory that they take.

pub(in crate::mcp) mod client_message;
pub(in crate::mcp) mod client_request;
pub(in crate::mcp) mod error_object;
pub(in crate::mcp) mod message_room;
pub(in crate::mcp) mod outgoing_message;
pub(in crate::mcp) mod request_context;
