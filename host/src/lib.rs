//! Dormouse: one MCP server in front of all of a user's MCP servers, each of
//! them read as data until one of its tools is first called.
//!
//! Data flows one way. For listing: `cli`/`mcp` → [`roster`] → `dormouse-catalog`.
//! For calling: `mcp` → [`roster`] → `dormouse-runtime` → `dormouse-upstream`. The catalog
//! cannot reach the runtime, which is what keeps discovery free of instantiation, and neither can
//! `dormouse-config` or `dormouse-upstream`: the table of ARCHITECTURE.md says who knows whom, and
//! the compiler holds it.

#![forbid(unsafe_code)]

pub mod cli;
mod compile_command;
pub mod control;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
pub mod mcp;
pub mod roster;
pub mod store;
