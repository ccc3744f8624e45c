//! Connections to upstreams: who has one, how long, and how many there are.

pub(crate) mod callers;
pub(crate) mod connection;
pub(crate) mod connection_handle;
pub(crate) mod connection_room;
pub(crate) mod connector;
pub(crate) mod failure;
pub(crate) mod given_up;
pub(crate) mod idle_connections;
pub(crate) mod links;
pub(crate) mod recent_failures;
pub(crate) mod setup;
pub(crate) mod upstream;
