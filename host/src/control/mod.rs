//! The control socket, through which `dormouse status`, `restart` and every edit of the
//! configuration reach the running hosts.
//!
//! Each host listens on a Unix domain socket (a named pipe on Windows) of its own, in a folder that
//! only its user can look into. The protocol is JSON-RPC 2.0, one message a line:
//!
//! | method | parameters | result |
//! |---|---|---|
//! | `status` | none | a [`Status`](crate::roster::Status) |
//! | `reload` | `{"config": path}`, optional | `{"reloaded": bool}`: false in a host of another configuration; with a `warning` where the user's own file cannot be read, and only all else was |
//! | `restart` | `{"server": name, "config": path}`, the path optional | `{"restarted": bool}`: false where there is no such server, too |

mod client;
mod methods;
mod place;
mod server;
mod wire;

pub use client::{HostAnswer, RequestError, RunningHost, ask_all, ask_all_within, hosts};
pub use server::{ControlSocketGuard, Socket};
pub use wire::RpcError;

#[cfg(test)]
mod tests;
