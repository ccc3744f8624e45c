//! An agent over stdio: lines of JSON in both directions.

mod backlog;
mod batch;
mod client;
mod in_flight;
pub(super) mod incoming;
pub(super) mod input;
mod output;
mod server;
mod streams;

pub(super) use batch::MAX_BATCH_MESSAGES;
pub use server::serve;
pub use streams::{Streams, streams};
