//! The MCP server that agents see.
//!
//! Over [`stdio`] the protocol is Dormouse's own, in its two eras (a handshake up to 2025-11-25, none
//! from 2026-07-28 on): see [`lifecycle`]. A request goes from there to [`server`], and one over
//! [`http`] as well. Results that are JSON text already go out unchanged.

mod calls;
mod client;
mod common;
mod exposure;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
pub mod http;
mod lifecycle;
mod messages;
mod methods;
mod schema_checks;
mod server;
mod session;
mod stdio;

#[cfg(test)]
mod tests;

pub use client::client_table::announced_name;
pub use exposure::{CostsForClient, add_token_costs, count_deciding_texts, keep_counting};
pub use stdio::{StdioStreams, serve, streams};
