//! Upstreams that speak MCP over HTTP.

mod credentials;

pub(in crate::upstream) use credentials::Credentials;
