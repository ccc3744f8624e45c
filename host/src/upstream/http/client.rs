//! The HTTP clients that all upstreams share, made when one is first needed.

use std::net::IpAddr;
use std::sync::OnceLock;
use std::time::Duration;

use reqwest::{Client, Url, redirect};

use crate::upstream::Lost;

/// How long a connection may take to be made, TLS included.
const CONNECT_TIME: Duration = Duration::from_secs(15);
/// How long a connection that nobody uses is kept.
const IDLE_TIME: Duration = Duration::from_secs(60);
/// After how much silence the other machine is asked whether it still is there:
/// calls may take as long as they like, so nothing else would notice its end.
const ALIVE_TIME: Duration = Duration::from_secs(45);

/// The client for a URL. Connections are kept and shared by all upstreams; what
/// one of them alone may send is added to each request.
///
/// # Errors
/// The system has no root certificates, and TLS is needed.
pub(in crate::upstream) fn client(url: &Url) -> Result<&'static Client, Lost> {
    static CLIENTS: [OnceLock<Client>; 4] = [const { OnceLock::new() }; 4];
    let secure = url.scheme() == "https";
    let direct = is_here(url);
    let [plain, plain_direct, tls, tls_direct] = &CLIENTS;
    let slot = match (secure, direct) {
        (false, false) => plain,
        (false, true) => plain_direct,
        (true, false) => tls,
        (true, true) => tls_direct,
    };
    match slot.get() {
        Some(client) => Ok(client),
        // Two that come at once may both build one; the first is kept.
        None => build(secure, direct).map(|client| slot.get_or_init(|| client)),
    }
}

/// Makes *ring* the process's cryptography, unless something has been chosen.
/// Whatever makes an HTTP client of its own has to call this first.
pub(in crate::upstream) fn choose_cryptography() {
    // The error means that a choice has been made, by us or somebody else.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

fn build(secure: bool, direct: bool) -> Result<Client, Lost> {
    choose_cryptography();
    let mut builder = Client::builder()
        .user_agent(concat!("dormouse/", env!("CARGO_PKG_VERSION")))
        // Followed by hand, because only we know whose headers are whose.
        .redirect(redirect::Policy::none())
        .referer(false)
        .connect_timeout(CONNECT_TIME)
        .pool_idle_timeout(IDLE_TIME)
        .tcp_keepalive(ALIVE_TIME)
        .tcp_nodelay(true);
    if !secure {
        // Reading the system's roots costs time and memory, and fails where there
        // are none: who speaks no TLS has to do with neither.
        builder = builder.tls_certs_only([]);
    }
    if direct {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| {
        Lost::Broken(format!(
            "no TLS connection can be made: {}\n\
             hint: install the system's root certificates (such as the package `ca-certificates`), or name a file of them in `SSL_CERT_FILE`",
            causes(error)
        ))
    })
}

/// Whether a URL leads to this very machine, which no proxy can reach for us.
pub(in crate::upstream) fn is_here(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    match address.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// What has caused an error, without the URL (which may hold a key).
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
    fn this_machine_is_reached_without_a_proxy() {
        for (url, expected) in [
            ("http://127.0.0.1:1/mcp", true),
            ("http://[::1]/", true),
            ("http://[::ffff:127.0.0.1]/", true),
            ("http://localhost:80/", true),
            ("https://a.localhost/", true),
            ("http://127.0.0.1.example.com/", false),
            ("http://10.0.0.1/", false),
            ("https://example.com/localhost", false),
        ] {
            assert_eq!(is_here(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }

    #[test]
    fn a_client_is_made_once() {
        let url = Url::parse("http://127.0.0.1:1/").unwrap();
        let other = Url::parse("http://localhost/x").unwrap();
        assert!(std::ptr::eq(client(&url).unwrap(), client(&other).unwrap()));
    }
}
