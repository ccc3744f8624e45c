//! Connections to the real MCP servers behind bridges.
//!
//! JSON stays JSON here: the messages of an upstream reach the agent with every field, known here
//! or not.

#![forbid(unsafe_code)]

pub mod auth;
mod connections;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod http;
mod listing;
mod messages;
mod opening;
pub mod reaper;
mod server_secrets;
mod status;
mod stdio;
mod upstream_policy;

#[cfg(test)]
mod tests;

pub use connections::connector::Connector;
pub use connections::failure::Failure;
pub use connections::setup::Setup;
pub use connections::upstream::{RETIRED, StoppedIdle, Upstream, whose_state};
pub use listing::judged_items::JudgedItems;
pub use listing::offered::{Offered, UntoldLists};
pub use listing::subscriptions::Subscription;
pub use messages::channel::Lost;
pub use messages::forwarded_request::ForwardedRequest;
pub use messages::large::{SHOWING_TIMES, without_blocking};
pub use messages::message::Refusal;
pub use opening::discover::discover;
pub use opening::first_request::{FirstRequest, Reaction, Reactions};
pub use opening::introduction::MODERN;
pub use status::{Connected, UpstreamStatus};
pub use upstream_policy::UpstreamPolicy;

pub use dormouse_egress::secret_text;
