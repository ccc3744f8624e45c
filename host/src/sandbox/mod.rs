//! What a guest may do. Grants and limits are plain data, and every decision is
//! a pure function of them; the other files of this module wire the decisions
//! into WASI.

pub mod grants;
pub mod limits;

pub use grants::{FsGrant, FsMode, Grants};
pub use limits::Limits;
