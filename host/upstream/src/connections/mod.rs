//! Connections to upstreams: who has one, how long, and how many there are.

pub(crate) mod callers;
pub(crate) mod connection;
mod connection_handle;
mod connection_room;
pub(crate) mod connector;
pub(crate) mod failure;
mod given_up;
mod idle_connections;
mod links;
mod recent_failures;
pub(crate) mod setup;
pub(crate) mod upstream;
