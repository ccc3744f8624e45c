//! Requests over HTTP to the outside: one client for all of them, and one decision on which
//! addresses they may reach.
//!
//! - [`client`], [`named_hosts_client`]: the clients, by how far they reach;
//! - [`GrantedHttp`]: requests of one plugin, as far as they are granted;
//! - [`RequestRoom`]: how many of a server's are open at once;
//! - [`on_upstream_reading_thread`]: the threads on which connections are read, those of upstreams; plugins'
//!   have theirs wherever they are sent;
//! - [`PluginSecrets`]: secrets in them, which the plugin never sees;
//! - [`SentSecrets`]: what of them hosts may have, for as long as this process runs;
//! - [`LoginToken`]: those of them that come from a login;
//! - [`Reach`], [`AddressKind`]: which addresses that is;
//! - [`is_of_own_network`], [`literal`]: what a URL says of where it leads;
//! - [`is_forbidden_header`]: headers that no plugin writes;
//! - [`redirect_target`]: redirects that are followed;
//! - [`EgressError`], [`causes`], [`shown_url`]: what is said of a request that was not sent or has
//!   failed.

#![forbid(unsafe_code)]

mod address_kind;
mod cause;
mod client;
mod error;
mod forbidden_header;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod granted_http;
mod host_name;
mod longer_hint;
mod own_address;
mod own_network;
mod proxies;
mod question_turns;
mod reach;
mod reading_threads;
mod redirect;
mod request_room;
mod resolver;
mod secrets;
mod session_grants;
mod shown_url;

pub use address_kind::AddressKind;
pub use cause::causes;
pub use client::{client, named_hosts_client};
pub use error::EgressError;
pub use forbidden_header::is_forbidden_header;
pub use granted_http::{
    BegunBody, GrantedHttp, GrantedReach, HttpRefusal, PluginHttpRequest, SendError,
};
pub use host_name::literal;
pub use own_network::{is_for_internet, is_of_own_network};
pub use question_turns::QuestionTurns;
pub use reach::Reach;
pub use reading_threads::on_upstream_reading_thread;
pub use redirect::redirect_target;
pub use request_room::{OpenRequest, RequestRoom};
pub use secrets::{
    ClientSecret, LoginFuture, LoginToken, MaskedBody, MaskedBodyError, PluginSecrets, SecretError,
    SentSecrets, secret_text,
};
pub use session_grants::SessionGrants;
pub use shown_url::shown_url;
