//! The MCP server that agents see.
//!
//! Over [`stdio`] the protocol is Dormouse's own, in its two eras (a handshake up to 2025-11-25, none
//! from 2026-07-28 on): see [`lifecycle`]. A request goes from there to [`handler`], and one over
//! [`http`] as well. Results that are JSON text already go out unchanged.

mod announce;
mod call_listener;
mod client;
mod client_connection;
mod client_log;
mod client_notification;
mod client_request;
mod commands;
mod common;
mod compatibility;
mod completion;
mod error_object;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod handler;
pub mod http;
mod in_flight_call;
mod instructions;
mod leased_sessions;
mod level;
mod lifecycle;
mod listen;
mod message_room;
mod original;
mod pages;
mod pending_questions;
mod plugin_request;
mod prompts;
mod relay;
mod request_context;
mod request_params;
mod resources;
mod result;
mod session;
mod stdio;
mod suspended_calls;
mod tools;
mod trust;
mod unanswered_questions;

#[cfg(test)]
mod tests;

pub use stdio::{Streams, serve, streams};
