//! Upstreams that are child processes: their streams, their end, and what they leave behind.

pub(crate) mod child;
mod child_status;
#[cfg(unix)]
pub(crate) mod descendants;
mod input;
pub(crate) mod process;
mod stderr_tail;
