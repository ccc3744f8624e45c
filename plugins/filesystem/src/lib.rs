//! The tools of the reference filesystem server, inside granted folders.
//!
//! This file only binds the tools of `wit/` to the functions behind them.

pub mod collate;
pub mod date;
pub mod diff;
pub mod edit;
pub mod error;
pub mod glob;
#[cfg(target_family = "wasm")]
pub mod grants;
pub mod info;
pub mod list;
pub mod media;
pub mod paths;
pub mod read;
pub mod scan;
pub mod search;
pub mod text;
pub mod tree;
pub mod walk;
pub mod write;
