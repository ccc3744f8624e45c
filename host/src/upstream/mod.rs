//! Connections to the real MCP servers behind bridges.
//!
//! JSON stays JSON here: what an upstream says reaches the agent with every field
//! that nobody here has heard of.

#[expect(dead_code, reason = "nothing connects yet")]
mod channel;
mod gate;
pub mod launch;
mod offered;

pub use channel::Lost;
pub use gate::Gate;
pub use launch::{Http, HttpTransport, Launch, OAuth, Secret, Stdio};
pub use offered::Offered;
