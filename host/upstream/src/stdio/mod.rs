//! Upstreams that are child processes: their streams, their end, and what they leave behind.

pub(crate) mod child;
mod child_status;
mod command;
#[cfg(unix)]
pub(crate) mod descendants;
mod end;
mod input;
mod output;
pub(crate) mod process;
mod stderr_tail;
