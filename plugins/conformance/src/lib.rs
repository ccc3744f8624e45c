//! Plugin with all that the official conformance suite of MCP asks a server for: its checks then go
//! through the whole host and a real component.
//!
//! Names, texts and the ids of questions are those of the suite
//! (npm `@modelcontextprotocol/conformance`, 0.2 line).

mod completion;
mod files;
mod prompts;
mod questions;
mod resources;
mod schemas;
mod tools;

/// Implements each interface of `wit/`, in the file of its name.
struct Fixtures;

dormouse_sdk::plugin!(Fixtures);
