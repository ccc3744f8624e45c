//! The tools of the reference GitHub server, over GitHub's REST API. The token is the host's to put
//! in; it is never in here.
//!
//! `plugin` has a line or two for each tool. Each other file is about one noun, and knows nothing of
//! WebAssembly, except `http`; so nearly everything is tested natively.

#[cfg(target_family = "wasm")]
mod http;
pub mod members;
#[cfg(target_family = "wasm")]
mod plugin;
pub mod request;
pub mod response;
