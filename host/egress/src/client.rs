//! HTTP clients, which all who may reach the same share, made when one is first needed.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use dormouse_launch::is_here;
use parking_lot::Mutex;
use reqwest::{Client, ClientBuilder, Url, redirect, retry};
use tokio::sync::Semaphore;

use crate::error::CONFIGURE;
use crate::resolver::{FilteredResolver, LimitedResolver};
use crate::{AddressKind, EgressError, Reach, causes, shown_url};

/// Time that a connection may take to be made, TLS included.
const CONNECT_TIME: Duration = Duration::from_secs(15);
/// Time for which an unused connection is kept.
const IDLE_TIME: Duration = Duration::from_secs(60);
/// Silence after which the other machine is asked whether it is still there: calls may take as long
/// as they like, so nothing else would notice its end.
const ALIVE_TIME: Duration = Duration::from_secs(45);

/// Most unused connections of one plugin to one host that are kept: as many as a plugin has in flight
/// that asks for many things at once, or it would make new ones for most of its requests.
const MAX_IDLE_PER_HOST: usize = 32;

/// Time for which they are kept: their hosts may keep Dormouse busy with them.
const PLUGIN_IDLE_TIME: Duration = Duration::from_secs(15);

/// Most bytes of responses of one HTTP/2 connection that are kept until the plugin reads them, and of
/// one response.
const HTTP2_WINDOW_BYTES: u32 = 256 << 10;

/// Most bytes of the headers of one response.
const MAX_HEADER_BYTES: u32 = 64 << 10;

/// Time that a request of a login may take.
const LOGIN_TIME: Duration = Duration::from_secs(30);

/// Properties in which clients differ. There are few, so all clients are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ClientKind {
    pub(crate) secure: bool,
    pub(crate) direct: bool,
    pub(crate) reach: Reach,
}

/// Returns the client for a URL that may lead so far. Connections are kept and shared by all
/// upstreams; headers of one of them alone are added to each request.
///
/// # Errors
/// The system has no root certificates, and TLS is needed; or the URL leads too far.
pub fn client(url: &Url, reach: Reach) -> Result<Client, EgressError> {
    static CLIENTS: LazyLock<Mutex<HashMap<ClientKind, Client>>> = LazyLock::new(Mutex::default);
    if !reach.allows_url(url) {
        return Err(EgressError::OutOfReach {
            url: shown_url(url),
            kind: AddressKind::of_url(url),
        });
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
    let mut builder = build(kind).http1_only();
    if let Some(resolver) = resolver(kind) {
        builder = builder.dns_resolver(resolver);
    }
    let client = made(builder)?;
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
pub fn named_hosts_client(
    reach: Reach,
    hosts: &[String],
    secure: bool,
    hint: &'static str,
) -> Result<Client, EgressError> {
    let builder = basic().http1_only().timeout(LOGIN_TIME).https_only(secure);
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

/// Creates a client for the requests of one plugin, with connections of its own. To hosts that are
/// granted exactly unused ones are kept, and such a host may be this machine by an address of the
/// internet. Lookups of names take one of these permits each.
///
/// # Errors
/// The system has no root certificates, and TLS is needed.
pub(crate) fn plugin_client(
    kind: ClientKind,
    is_exact: bool,
    lookups: Arc<Semaphore>,
) -> Result<Client, EgressError> {
    made(plugin_builder(kind, is_exact, lookups))
}

pub(crate) fn plugin_builder(
    kind: ClientKind,
    is_exact: bool,
    lookups: Arc<Semaphore>,
) -> ClientBuilder {
    let mut builder = build(kind)
        // What is sent again counts (`GrantedHttp::send`).
        .retry(retry::never())
        .pool_max_idle_per_host(if is_exact { MAX_IDLE_PER_HOST } else { 0 })
        .pool_idle_timeout(PLUGIN_IDLE_TIME)
        .http2_initial_connection_window_size(HTTP2_WINDOW_BYTES)
        .http2_initial_stream_window_size(HTTP2_WINDOW_BYTES)
        .http2_max_header_list_size(MAX_HEADER_BYTES);
    if let Some(resolver) = resolver(kind) {
        let kind_of = match is_exact {
            true => AddressKind::of,
            false => AddressKind::of_other_machines,
        };
        builder = builder.dns_resolver(Arc::new(LimitedResolver {
            resolver,
            kind_of,
            lookups,
        }));
    }
    builder
}

/// Returns the resolver of names that may not lead anywhere.
fn resolver(kind: ClientKind) -> Option<Arc<FilteredResolver>> {
    let is_filtered = kind.reach != Reach::Configured;
    is_filtered.then(|| FilteredResolver::new(kind.reach, &[], CONFIGURE))
}

fn build(kind: ClientKind) -> ClientBuilder {
    let mut builder = basic();
    if !kind.secure {
        // Reading the system's roots costs time and memory, and fails where there
        // are none: who speaks no TLS has to do with neither.
        builder = builder.tls_certs_only([]);
    }
    if kind.direct {
        builder = builder.no_proxy();
    }
    builder
}

fn made(builder: ClientBuilder) -> Result<Client, EgressError> {
    builder
        .build()
        .map_err(|error| EgressError::NoTls(causes(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_leads_nobody_to_this_machine() {
        let url = Url::parse("http://0.0.0.0:1/admin?key=secret").unwrap();
        assert!(client(&url, Reach::Configured).is_ok());
        let why = client(&url, Reach::Public).unwrap_err().to_string();
        assert!(why.contains("`http://0.0.0.0:1/admin`"), "{why}");
    }
}
