//! Bridge in front of every MCP server that is not a plugin itself: hands each request on to the
//! one upstream that it has, and the answer back, as they are.
//!
//! The bridge has no network, no files and no memory of earlier calls. Authors who want less of an
//! upstream, or something else, write a plugin of their own: the contract is the same.

#[cfg(target_family = "wasm")]
mod plugin;
