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

/// Creates a client for the requests of one plugin, with connections of its own, which are kept
/// when they are unused or not. Lookups of names take one of these permits each.
///
/// # Errors
/// The system has no root certificates, and TLS is needed.
pub(crate) fn plugin_client(
    kind: ClientKind,
    keeps_unused: bool,
    lookups: Arc<Semaphore>,
) -> Result<Client, EgressError> {
    made(plugin_builder(kind, keeps_unused, lookups))
}

fn plugin_builder(kind: ClientKind, keeps_unused: bool, lookups: Arc<Semaphore>) -> ClientBuilder {
    let mut builder = build(kind)
        // One that its host has refused over HTTP/2 would be sent again, which nobody counts.
        .retry(retry::never())
        .pool_max_idle_per_host(if keeps_unused { MAX_IDLE_PER_HOST } else { 0 })
        .pool_idle_timeout(PLUGIN_IDLE_TIME)
        .http2_initial_connection_window_size(HTTP2_WINDOW_BYTES)
        .http2_initial_stream_window_size(HTTP2_WINDOW_BYTES)
        .http2_max_header_list_size(MAX_HEADER_BYTES);
    if let Some(resolver) = resolver(kind) {
        builder = builder.dns_resolver(Arc::new(LimitedResolver { resolver, lookups }));
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
    use std::io::{self, Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// Types of frames of HTTP/2.
    const HEADERS: u8 = 1;
    const RST_STREAM: u8 = 3;
    const SETTINGS: u8 = 4;

    /// Flag of settings that are acknowledged.
    const ACK: u8 = 1;

    /// Code of an error by which a host says that it has not looked at a request.
    const REFUSED_STREAM: u32 = 7;

    /// Returns a frame of HTTP/2.
    fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
        let length = u8::try_from(payload.len()).unwrap();
        [&[0, 0, length, kind, flags, 0, 0, 0, stream], payload].concat()
    }

    /// Refuses each request of a connection, and counts them.
    fn refuse_each(mut stream: TcpStream, requests: &AtomicU32) -> io::Result<()> {
        stream.read_exact(&mut [0; 24])?;
        stream.write_all(&frame(SETTINGS, 0, 0, &[]))?;
        loop {
            let mut head = [0; 9];
            stream.read_exact(&mut head)?;
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
            stream.read_exact(&mut vec![0; usize::try_from(length).unwrap()])?;
            match (head[3], head[4]) {
                (SETTINGS, 0) => stream.write_all(&frame(SETTINGS, ACK, 0, &[]))?,
                (HEADERS, _) => {
                    requests.fetch_add(1, Ordering::AcqRel);
                    let code = REFUSED_STREAM.to_be_bytes();
                    stream.write_all(&frame(RST_STREAM, 0, head[8], &code))?;
                }
                _ => {}
            }
        }
    }

    /// A host that says that it has refused a request may have read it.
    #[tokio::test]
    async fn a_request_of_a_plugin_that_its_host_refuses_is_not_sent_again() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let requests = Arc::<AtomicU32>::default();
        let counted = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // It ends with its connection.
                let _ = refuse_each(stream, &counted);
            }
        });
        let kind = ClientKind {
            secure: false,
            direct: true,
            reach: Reach::Configured,
        };
        let builder = plugin_builder(kind, true, Arc::new(Semaphore::new(1)));
        let client = made(builder.http2_prior_knowledge()).unwrap();
        let refused = client.get(url).send().await.unwrap_err();
        let refused = causes(refused);
        assert!(refused.contains("refused stream"), "{refused}");
        assert_eq!(requests.load(Ordering::Acquire), 1);
    }

    #[test]
    fn a_server_leads_nobody_to_this_machine() {
        let url = Url::parse("http://0.0.0.0:1/admin?key=secret").unwrap();
        assert!(client(&url, Reach::Configured).is_ok());
        let why = client(&url, Reach::Public).unwrap_err().to_string();
        assert!(why.contains("`http://0.0.0.0:1/admin`"), "{why}");
    }
}
