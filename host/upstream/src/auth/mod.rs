//! Logging in to upstreams that want to know their user: OAuth, on first use only.
//!
//! Nothing is done at start, and no browser is opened: for an upstream that refuses a call, the
//! host gets a link ([`PendingLogin`]), which the user follows if they like. The tokens lie in the
//! [`store`], which all hosts share. rmcp speaks the protocol ([`server`]). Plugins have logins at
//! providers that their user has named ([`provider`]).

mod authorization;
mod callback;
mod credentials;
mod endpoints;
mod error_text;
mod failure;
mod given_token;
mod logins;
mod metadata;
mod not_logged_in;
mod peer_user;
mod pending;
mod provider;
mod reach;
mod server;
#[cfg(target_os = "linux")]
mod socket_diag;
mod store;
#[cfg(test)]
mod tests;
mod user_login;

pub use failure::LoginFailure;
pub(crate) use logins::Logins;
pub use not_logged_in::NotLoggedIn;
pub use pending::PendingLogin;
pub use store::KeptLoginSummary;
pub use user_login::Auth;
