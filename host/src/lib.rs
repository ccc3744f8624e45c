//! Dormouse: one MCP server in front of all of a user's MCP servers, each of
//! them read as data until one of its tools is first called.
//!
//! Data flows one way. For listing: `cli`/`mcp` → [`roster`] → `dormouse-catalog`. For calling:
//! `mcp` → [`roster`] → `dormouse-runtime` → `dormouse-upstream`. The catalog cannot reach the
//! runtime, which keeps discovery free of instantiation, and neither can `dormouse-config` or
//! `dormouse-upstream`: the table of ARCHITECTURE.md has the allowed dependencies, and the compiler
//! enforces it.

#![forbid(unsafe_code)]

mod child_commands;
pub mod cli;
pub mod control;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
pub mod mcp;
pub mod roster;
pub mod store;
