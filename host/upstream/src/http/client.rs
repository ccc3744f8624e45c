//! The HTTP clients that all upstreams share, made when one is first needed.

use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::Duration;

use dormouse_launch::is_here;
use parking_lot::Mutex;
use reqwest::{Client, ClientBuilder, Url, redirect};

use super::Endpoint;
use super::address::{AddressKind, FilteredResolver, Reach};
use crate::Lost;

/// Time that a connection may take to be made, TLS included.
const CONNECT_TIME: Duration = Duration::from_secs(15);
/// Time for which an unused connection is kept.
const IDLE_TIME: Duration = Duration::from_secs(60);
/// Silence after which the other machine is asked whether it is still there: calls may take as long
/// as they like, so nothing else would notice its end.
const ALIVE_TIME: Duration = Duration::from_secs(45);

/// Time that a request of a login may take.
const LOGIN_TIME: Duration = Duration::from_secs(30);

/// Hint of a refusal to follow a URL that a server names.
const CONFIGURE: &str = "if that is meant, configure that URL";

/// Properties in which clients differ. There are few, so all clients are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct ClientKind {
    secure: bool,
    direct: bool,
    reach: Reach,
}

/// Returns the client for a URL that may lead so far. Connections are kept and shared by all
/// upstreams; headers of one of them alone are added to each request.
///
/// # Errors
/// The system has no root certificates, and TLS is needed; or the URL leads too far.
pub(crate) fn client(url: &Url, reach: Reach) -> Result<Client, Lost> {
    static CLIENTS: LazyLock<Mutex<HashMap<ClientKind, Client>>> = LazyLock::new(Mutex::default);
    if !reach.allows_url(url) {
        let kind = AddressKind::of_url(url);
        return Err(Lost::Broken(format!(
            "`{}` is {kind}, where what a server names may not lead\n\
             hint: {CONFIGURE}",
            Endpoint::shown(url)
        )));
    }
    let kind = ClientKind {
        secure: url.scheme() == "https",
        direct: is_here(url),
        reach,
    };
    let mut clients = CLIENTS.lock();
    if let Some(client) = clients.get(&kind) {
        return Ok(client.clone());
    }
    let client = build(kind)?;
    clients.insert(kind, client.clone());
    Ok(client)
}

/// Makes *ring* the process's cryptography, unless something has been chosen. Code that makes an
/// HTTP client of its own has to call this first.
fn choose_cryptography() {
    // The error means that a choice has been made, by us or somebody else.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Creates the client of a login, whose requests go to the internet, as far as `reach` says, and to
/// `hosts` wherever these are. Other addresses are refused with that hint, and with `secure` all
/// that is not reached over TLS.
///
/// # Errors
/// The system has no root certificates.
pub(crate) fn named_hosts_client(
    reach: Reach,
    hosts: &[String],
    secure: bool,
    hint: &'static str,
) -> Result<Client, Lost> {
    let builder = basic().timeout(LOGIN_TIME).https_only(secure);
    let builder = builder.dns_resolver(FilteredResolver::new(reach, hosts, hint));
    made(builder)
}

fn basic() -> ClientBuilder {
    choose_cryptography();
    Client::builder()
        .user_agent(concat!("dormouse/", env!("CARGO_PKG_VERSION")))
        // Followed by hand, because only we know whose headers are whose.
        .redirect(redirect::Policy::none())
        .referer(false)
        .connect_timeout(CONNECT_TIME)
        .pool_idle_timeout(IDLE_TIME)
        .tcp_keepalive(ALIVE_TIME)
        .tcp_nodelay(true)
}

fn build(kind: ClientKind) -> Result<Client, Lost> {
    let mut builder = basic();
    if kind.reach != Reach::Configured {
        builder = builder.dns_resolver(FilteredResolver::new(kind.reach, &[], CONFIGURE));
    }
    if !kind.secure {
        // Reading the system's roots costs time and memory, and fails where there
        // are none: who speaks no TLS has to do with neither.
        builder = builder.tls_certs_only([]);
    }
    if kind.direct {
        builder = builder.no_proxy();
    }
    made(builder)
}

fn made(builder: ClientBuilder) -> Result<Client, Lost> {
    builder.build().map_err(|error| {
        Lost::Broken(format!(
            "no TLS connection can be made: {}\n\
             hint: install the system's root certificates (such as the package `ca-certificates`), or name a file of them in `SSL_CERT_FILE`",
            causes(error)
        ))
    })
}

/// Returns the causes of an error, without the URL (which may hold a key).
pub(super) fn causes(error: reqwest::Error) -> String {
    let error = error.without_url();
    // Its own words ("error sending request") say nothing that the reader does not
    // know; what caused it does.
    let mut parts: Vec<String> = Vec::new();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        let text = inner.to_string();
        if parts.last().is_none_or(|last| !last.contains(&text)) {
            parts.push(text);
        }
        cause = inner.source();
    }
    match parts.is_empty() {
        true => error.to_string(),
        false => parts.join(": "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_leads_nobody_to_this_machine() {
        let url = Url::parse("http://0.0.0.0:1/admin?key=secret").unwrap();
        assert!(client(&url, Reach::Configured).is_ok());
        let Err(Lost::Broken(why)) = client(&url, Reach::Public) else {
            panic!("it is reached");
        };
        assert!(why.contains("`http://0.0.0.0:1/admin`"), "{why}");
    }
}
