//! HTTP clients, which all who may reach the same share, made when one is first needed.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use dormouse_launch::is_here;
use parking_lot::Mutex;
use reqwest::{Client, ClientBuilder, Url, redirect};
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
    let mut builder = build(kind);
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
    let builder = basic().timeout(LOGIN_TIME).https_only(secure);
    let builder = builder.dns_resolver(FilteredResolver::new(reach, hosts, hint));
    made(builder)
}

fn basic() -> ClientBuilder {
    choose_cryptography();
    Client::builder()
        .user_agent(concat!("dormouse/", env!("CARGO_PKG_VERSION")))
        // What HTTP/2 keeps of heads that are no answer yet has no bound.
        .http1_only()
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
    let mut builder = build(kind)
        .pool_max_idle_per_host(if is_exact { MAX_IDLE_PER_HOST } else { 0 })
        .pool_idle_timeout(PLUGIN_IDLE_TIME);
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
    made(builder)
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
    use std::io::{Read as _, Write as _};

    use super::*;

    /// What HTTP/2 has waiting of a response has no bound.
    #[tokio::test]
    async fn hosts_are_offered_http_1_1_alone_and_one_that_speaks_http_2_alone_is_said_to() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://{}/", listener.local_addr().unwrap());
        let host = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut hello = vec![0; 4096];
            let length = stream.read(&mut hello).unwrap();
            hello.truncate(length);
            // An alert: it is fatal that there is no such protocol.
            stream.write_all(&[21, 3, 3, 0, 2, 2, 120]).unwrap();
            hello
        });
        let kind = ClientKind {
            secure: false,
            direct: true,
            reach: Reach::Configured,
        };
        let client = made(build(kind)).unwrap();
        let why = causes(client.get(url).send().await.unwrap_err());
        assert!(why.contains("it does not speak HTTP/1.1"), "{why}");
        let hello = host.join().unwrap();
        let offered = b"\0\x09\x08http/1.1";
        let mut places = hello.windows(offered.len());
        assert!(places.any(|place| place == offered), "{hello:?}");
    }

    #[test]
    fn a_server_leads_nobody_to_this_machine() {
        let url = Url::parse("http://0.0.0.0:1/admin?key=secret").unwrap();
        assert!(client(&url, Reach::Configured).is_ok());
        let why = client(&url, Reach::Public).unwrap_err().to_string();
        assert!(why.contains("`http://0.0.0.0:1/admin`"), "{why}");
    }
}
