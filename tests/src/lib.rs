//! Basis of the end-to-end tests and the benches: paths of the built files, a home of its own for
//! each test, and a small MCP client that can be told to do what no SDK would.

pub mod artifacts;
pub mod captured_tools;
pub mod client;
pub mod compiled;
pub mod component;
pub mod compressed;
pub mod fuzz;
pub mod github_api;
pub mod growth;
pub mod guard;
pub mod home;
pub mod http;
pub mod kept_login;
pub mod keyring;
pub mod logged;
pub mod name_server;
pub mod oauth;
pub mod peak_memory;
pub mod processes;
pub mod proxy;
pub mod recording_host;
pub mod retrieval;
pub mod sdk;
mod sdk_process;
#[cfg(unix)]
pub mod telltale_links;
pub mod upstream;
pub mod wait;
pub mod web;
pub mod wire;

pub use client::Client;
pub use home::Home;
pub use sdk::Sdk;
pub use upstream::Upstream;
