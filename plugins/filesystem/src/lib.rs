//! The tools of the reference filesystem server, inside granted folders.
//!
//! Each file is about one noun, and knows nothing of WebAssembly, except `grants`, `plugin` and a
//! part of `content` and `scan`; so nearly everything is tested natively.

pub mod collate;
pub mod content;
pub mod date;
pub mod diff;
pub mod error;
#[cfg(test)]
mod fixture;
pub mod glob;
#[cfg(target_family = "wasm")]
pub mod grants;
pub mod paths;
#[cfg(target_family = "wasm")]
mod plugin;
pub mod scan;
pub mod text;
pub mod tools;
pub mod walk;
