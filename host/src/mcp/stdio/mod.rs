//! An agent over stdio: lines of JSON in both directions.

mod backlog;
mod batch;
mod client;
mod conversation;
pub(super) mod input;
mod output;
mod streams;

pub(super) use batch::MAX_BATCH_MESSAGES;
pub use conversation::serve;
pub use streams::{StdioStreams, streams};
