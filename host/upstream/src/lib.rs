//! Connections to the real MCP servers behind bridges.
//!
//! JSON stays JSON here: the messages of an upstream reach the agent with every field, known here
//! or not.

#![forbid(unsafe_code)]

pub mod auth;
mod callers;
mod channel;
mod child;
mod connection;
mod connection_room;
mod connections;
mod connector;
#[cfg(unix)]
mod descendants;
mod discover;
mod early_questions;
mod failure;
mod first_request;
mod follow;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod given_up;
mod handshake;
mod http;
mod idle_connections;
mod inbound;
mod input;
mod introduction;
mod known_roots;
mod large;
mod level;
mod links;
mod list_changes;
mod listen;
mod lists;
mod message;
mod offered;
mod peer;
mod process;
mod read_room;
pub mod reaper;
mod recent_failures;
mod self_description;
mod server_secrets;
mod status;
mod stderr_tail;
mod subscriptions;
mod upstream_policy;

#[cfg(test)]
mod tests;

pub use channel::Lost;
pub use connections::{RETIRED, Setup, StoppedIdle, Upstream, whose_state};
pub use connector::Connector;
pub use discover::discover;
pub use failure::Failure;
pub use first_request::{FirstRequest, Reaction, Reactions};
pub use handshake::MODERN;
pub use large::without_blocking;
pub use message::Refusal;
pub use offered::Offered;
pub use status::{Connected, Status};
pub use subscriptions::Subscription;
pub use upstream_policy::UpstreamPolicy;
