//! Clients: what they are sent unasked, what they can be asked, and what they want to hear.

pub(in crate::mcp) mod announce;
pub(in crate::mcp) mod client_connection;
pub(in crate::mcp) mod client_log;
pub(in crate::mcp) mod client_table;
pub(in crate::mcp) mod compatibility;
pub(in crate::mcp) mod level;
pub(in crate::mcp) mod session_client;
pub(in crate::mcp) mod unanswered_questions;
