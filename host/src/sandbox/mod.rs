//! What a guest may do. Grants and limits are plain data, and every decision is
//! a pure function of them; `wasi` and `output` wire the decisions into WASI.

pub mod grants;
pub mod limits;
mod output;
mod wasi;

pub use grants::{FsGrant, FsMode, Grants};
pub use limits::Limits;
pub(crate) use output::Output;
pub use wasi::GrantError;
pub(crate) use wasi::{context, judge};
