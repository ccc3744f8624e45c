//! Dormouse: one MCP server in front of all of a user's MCP servers, each of
//! them read as data until one of its tools is first called.
//!
//! Data flows one way. For listing: `cli`/`mcp` → [`roster`] → `dormouse-catalog`.
//! For calling: `mcp` → [`roster`] → [`runtime`] → [`sandbox`] → [`upstream`]. The catalog
//! cannot reach the runtime, which is what keeps discovery free of instantiation.

pub mod cli;
pub mod control;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
pub mod mcp;
pub mod roster;
pub mod runtime;
pub mod sandbox;
pub mod store;
