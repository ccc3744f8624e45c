//! Google Calendar over its REST API. The user logs in at Google through the host, which puts the
//! token into the requests; it is never in here.
//!
//! `plugin` has a line or two for each tool. `request` knows nothing of WebAssembly, so that it is
//! tested natively; `http` sends what it makes.

#[cfg(target_family = "wasm")]
mod http;
#[cfg(target_family = "wasm")]
mod plugin;
pub mod request;
