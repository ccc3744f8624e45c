//! Requests to an authorization server, through rmcp.

mod attempt;
mod bearer_token;
mod client;
mod link;
mod manager;
mod provider_requests;
mod renewal;
mod revocation;
mod scopes;

pub(super) use attempt::Attempt;
pub(super) use renewal::refresh;
pub(super) use revocation::revoke;
