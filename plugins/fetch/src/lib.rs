//! The tool and the prompt of the reference fetch server, with the grants of the host in place of
//! rules of its own about addresses.
//!
//! Each file is about one noun, and knows nothing of WebAssembly, except `http` and `plugin`; so
//! nearly everything is tested natively.

pub mod content_coding;
pub mod fetcher;
#[cfg(target_family = "wasm")]
mod http;
pub mod page;
#[cfg(target_family = "wasm")]
mod plugin;
pub mod response;
pub mod robots;
