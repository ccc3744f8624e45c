//! Calls of tools and other requests to plugins, from their beginning to their answer: what they say
//! and ask meanwhile, and how long they may wait for it.

pub(in crate::mcp) mod call_listener;
pub(in crate::mcp) mod in_flight_call;
pub(in crate::mcp) mod leased_sessions;
pub(in crate::mcp) mod pending_questions;
pub(in crate::mcp) mod plugin_request;
pub(in crate::mcp) mod relay;
pub(in crate::mcp) mod suspended_calls;
