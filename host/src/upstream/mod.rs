//! Connections to the real MCP servers behind bridges.
//!
//! JSON stays JSON here: what an upstream says reaches the agent with every field
//! that nobody here has heard of.

pub mod auth;
mod callers;
mod channel;
mod child;
mod connection;
mod connection_room;
mod connections;
#[cfg(unix)]
mod descendants;
mod discover;
mod failure;
mod first_request;
mod follow;
mod gate;
mod given_up;
mod handshake;
mod http;
mod hub;
mod idle_connections;
mod inbound;
mod input;
mod introduction;
mod large;
mod level;
mod links;
mod listen;
mod lists;
mod message;
mod offered;
mod peer;
mod process;
mod read_room;
pub mod reaper;
mod self_description;
mod server_secrets;
mod status;
mod subscriptions;
mod trouble;
mod words;

#[cfg(test)]
pub(crate) mod tests;

pub use channel::Lost;
pub(crate) use connections::RETIRED;
pub(crate) use connections::whose_state;
pub use connections::{Setup, StoppedIdle, Upstream};
pub use discover::discover;
pub use failure::Failure;
pub use first_request::{FirstRequest, Reaction, Reactions};
pub use gate::Gate;
pub(crate) use handshake::MODERN;
#[cfg(any(test, fuzzing))]
pub(crate) use http::fuzz;
pub use hub::Hub;
pub(crate) use large::without_blocking;
pub use message::Refusal;
pub use offered::Offered;
pub use status::{Connected, Status};
pub use subscriptions::Subscription;
