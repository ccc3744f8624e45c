//! Launches of upstreams, as plain data: program or URL, login, and the secrets in them, which
//! nobody is shown.

#![forbid(unsafe_code)]

pub mod environment;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod header_name;
mod here;
mod launch;
mod oauth;
pub mod redaction;
mod redirect;
mod secret;

pub use header_name::is_header_byte;
pub use here::is_here;
pub use launch::{Http, HttpTransport, Launch, Stdio};
pub use oauth::{OAuth, OAuthMistake, OAuthProvider};
pub use redirect::Redirect;
pub use secret::Secret;
