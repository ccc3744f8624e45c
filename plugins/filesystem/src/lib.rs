//! The tools of the reference filesystem server, inside granted folders.
//!
//! This file only binds the tools of `wit/` to the functions behind them.

pub mod date;
pub mod error;
pub mod info;
pub mod media;
pub mod paths;
pub mod read;
pub mod text;
pub mod write;
