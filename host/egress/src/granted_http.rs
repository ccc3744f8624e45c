//! HTTP requests of one plugin, as far as its user has granted them.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use dormouse_launch::is_here;
use dormouse_policy::{HostPattern, HttpGrant, grant_of_origin};
use http::Response;
use http_body::Body;
use http_body_util::BodyDataStream;
use parking_lot::Mutex;
use reqwest::header::HeaderMap;
use reqwest::{Client, Method, Request, Url};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::client::{ClientKind, plugin_client};
use crate::host_name::{is_local_name, literal};
use crate::proxies::has_proxy;
use crate::resolver::OutOfReach;
use crate::{AddressKind, EgressError, Reach, SessionGrants, causes};

/// Most requests of one plugin that are on their way, or whose responses are being read. More wait.
const MAX_OPEN_REQUESTS: usize = 128;

/// Grants of HTTP requests of one plugin, and its connections, which nobody else uses.
pub struct GrantedHttp {
    grants: Vec<HttpGrant>,
    /// Grants that the plugin asks for.
    requested: Vec<HttpGrant>,
    session: Arc<SessionGrants>,
    clients: Mutex<HashMap<ClientKind, Client>>,
    open: Arc<Semaphore>,
}

/// Reason why a request is not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpRefusal {
    /// No grant allows it; with the one that would, as it is written.
    #[error("it is not granted")]
    NotGranted(Option<String>),
    /// It is granted by a pattern alone, and a proxy would resolve its name; with the grant that
    /// would allow it.
    #[error(
        "it is granted only by a pattern, and through a proxy only names go that are granted \
         exactly"
    )]
    Proxy(Option<String>),
    /// Its host is at an address that its grant does not reach; with the grant that would.
    #[error("its host is {kind}, which its grant does not allow")]
    OutOfReach {
        /// Kind of the address.
        kind: AddressKind,
        /// The grant that would allow it, as it is written; none where nothing does.
        wanted: Option<String>,
    },
}

/// Reason why there is no response.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The request was not sent.
    #[error(transparent)]
    Refused(#[from] HttpRefusal),
    /// No connection could be made; with the causes.
    #[error("no connection could be made: {0}")]
    Connect(String),
    /// The request failed; with the causes.
    #[error("the request failed: {0}")]
    Failed(String),
    /// There is no client for it.
    #[error(transparent)]
    Client(#[from] EgressError),
}

/// A request of a plugin.
pub struct PluginRequest<B> {
    /// Its method.
    pub method: Method,
    /// Its URL, by which it was judged.
    pub url: Url,
    /// Its headers; that of the host is the URL's.
    pub headers: HeaderMap,
    /// Its body.
    pub body: B,
}

/// Room of a request among those that are open, until its response has been read.
pub struct OpenRequest(
    #[allow(dead_code, reason = "held until it is dropped")] OwnedSemaphorePermit,
);

impl HttpRefusal {
    /// Returns the grant that would allow the request, as it is written.
    #[must_use]
    pub fn wanted(&self) -> Option<&str> {
        let (Self::NotGranted(wanted) | Self::Proxy(wanted) | Self::OutOfReach { wanted, .. }) =
            self;
        wanted.as_deref()
    }
}

impl GrantedHttp {
    /// Returns the requests that these grants allow.
    #[must_use]
    pub fn new(grants: &[HttpGrant]) -> Self {
        Self {
            grants: grants.to_vec(),
            requested: Vec::new(),
            session: Arc::default(),
            clients: Mutex::default(),
            open: Arc::new(Semaphore::new(MAX_OPEN_REQUESTS)),
        }
    }

    /// Makes the user one who can be asked for what the plugin asks for, and whose answers are kept.
    #[must_use]
    pub fn asking(self, requested: &[HttpGrant], session: Arc<SessionGrants>) -> Self {
        Self {
            requested: requested.to_vec(),
            session,
            ..self
        }
    }

    /// Returns how far a request may reach, if it is granted, or if the user has granted it just
    /// this once.
    ///
    /// # Errors
    /// It is not granted, or its URL says that it leads further.
    pub fn reach(&self, method: &str, url: &Url, once: &[HttpGrant]) -> Result<Reach, HttpRefusal> {
        let session = self.session.granted();
        let grants = self.grants.iter().chain(&session).chain(once);
        reach_by(grants, method, url, has_proxy())
    }

    /// Returns the grant that the user may be asked for, so that a request is sent: one that the
    /// plugin asks for, for this host alone, and that they have not refused.
    #[must_use]
    pub fn askable(&self, method: &str, url: &Url) -> Option<HttpGrant> {
        let is_proxied = has_proxy();
        let mut requested = self.requested.iter().filter(|one| one.allows(method, url));
        let requested = requested.find(|requested| {
            // An address of this machine or its network is never a host that a pattern means.
            let is_pattern = !matches!(requested.host(), HostPattern::Exact(_));
            reach_of(requested, url).allows_url(url) && !(is_pattern && is_proxied)
        })?;
        let wanted = requested.narrowed_to(url);
        self.is_askable(&wanted).then_some(wanted)
    }

    /// Checks whether the user has neither refused a grant nor given it for as long as the host runs.
    #[must_use]
    pub fn is_askable(&self, wanted: &HttpGrant) -> bool {
        self.session.may_ask(wanted) && !wanted.is_within(&self.session.granted())
    }

    /// Waits until the request is one of those that may be open.
    pub async fn open(&self) -> Option<OpenRequest> {
        // It is never closed.
        let permit = Arc::clone(&self.open).acquire_owned().await.ok()?;
        Some(OpenRequest(permit))
    }

    /// Sends a request that may reach so far. Redirects are not followed: each hop is a request of
    /// its own.
    ///
    /// # Errors
    /// There is no response. Addresses are judged as the connection is made.
    pub async fn send<B>(
        &self,
        request: PluginRequest<B>,
        reach: Reach,
    ) -> Result<Response<reqwest::Body>, SendError>
    where
        B: Body<Data = Bytes, Error: std::error::Error + Send + Sync> + Send + Unpin + 'static,
    {
        let PluginRequest {
            method,
            url,
            headers,
            body,
        } = request;
        let client = self.client(&url, reach)?;
        let mut request = Request::new(method, url.clone());
        *request.headers_mut() = headers;
        if !body.is_end_stream() {
            let body = BodyDataStream::new(body);
            *request.body_mut() = Some(reqwest::Body::wrap_stream(body));
        }
        let answered = client.execute(request).await;
        answered.map(Response::from).map_err(|error| {
            if let Some(beyond) = OutOfReach::in_causes(&error) {
                return out_of_reach(AddressKind::of(beyond.address), &url).into();
            }
            match error.is_connect() {
                true => SendError::Connect(causes(error)),
                false => SendError::Failed(causes(error)),
            }
        })
    }

    fn client(&self, url: &Url, reach: Reach) -> Result<Client, EgressError> {
        let kind = ClientKind {
            secure: url.scheme() == "https",
            direct: is_here(url),
            reach,
        };
        let mut clients = self.clients.lock();
        if let Some(client) = clients.get(&kind) {
            return Ok(client.clone());
        }
        let client = plugin_client(kind)?;
        clients.insert(kind, client.clone());
        Ok(client)
    }
}

/// Returns how far a request may reach by one of these grants.
fn reach_by<'g>(
    grants: impl Iterator<Item = &'g HttpGrant>,
    method: &str,
    url: &Url,
    is_proxied: bool,
) -> Result<Reach, HttpRefusal> {
    let mut refused = HttpRefusal::NotGranted(wanted(url, false));
    for grant in grants.filter(|one| one.allows(method, url)) {
        let is_exact = matches!(grant.host(), HostPattern::Exact(_));
        if is_proxied && !is_exact {
            refused = HttpRefusal::Proxy(wanted(url, grant.is_private()));
            continue;
        }
        let reach = reach_of(grant, url);
        if reach.allows_url(url) {
            return Ok(reach);
        }
        refused = out_of_reach(AddressKind::of_url(url), url);
    }
    Err(refused)
}

/// Returns how far requests of a grant may reach.
fn reach_of(grant: &HttpGrant, url: &Url) -> Reach {
    let is_exact = matches!(grant.host(), HostPattern::Exact(_));
    match is_exact {
        // The address itself is granted.
        true if literal(url).is_some() => Reach::Configured,
        true if is_local_name(url) => Reach::And(AddressKind::Loopback),
        _ if grant.is_private() => Reach::And(AddressKind::Private),
        _ => Reach::Public,
    }
}

fn out_of_reach(kind: AddressKind, url: &Url) -> HttpRefusal {
    let is_address = literal(url).is_some() || is_local_name(url);
    let wanted = match kind {
        _ if is_address => wanted(url, false),
        AddressKind::Private => wanted(url, true),
        // A name that leads there is somebody's trick.
        _ => None,
    };
    HttpRefusal::OutOfReach { kind, wanted }
}

/// Returns the grant of all requests to a URL's host, as it is written.
fn wanted(url: &Url, is_private: bool) -> Option<String> {
    let grant = grant_of_origin(url)?.to_string();
    Some(match is_private {
        true => format!("{grant} private"),
        false => grant,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn granted(grants: &[&str]) -> GrantedHttp {
        let grants: Vec<_> = grants.iter().map(|grant| grant.parse().unwrap()).collect();
        GrantedHttp::new(&grants)
    }

    #[test]
    fn a_request_reaches_as_far_as_its_grant_says() {
        use AddressKind::{LinkLocal, Loopback, Private, Reserved};
        let not = |wanted: &str| Err(HttpRefusal::NotGranted(Some(wanted.to_owned())));
        let beyond = |kind, wanted: &str| {
            let wanted = (!wanted.is_empty()).then(|| wanted.to_owned());
            Err(HttpRefusal::OutOfReach { kind, wanted })
        };
        for (grant, url, expected) in [
            ("https://a.example", "https://a.example/", Ok(Reach::Public)),
            (
                "https://a.example",
                "https://b.example/",
                not("https://b.example"),
            ),
            (
                "https://a.example",
                "http://a.example:8/",
                not("http://a.example:8"),
            ),
            (
                "https://a.example private",
                "https://a.example/",
                Ok(Reach::And(Private)),
            ),
            (
                "http://127.0.0.1:8",
                "http://127.0.0.1:8/",
                Ok(Reach::Configured),
            ),
            (
                "http://127.0.0.1:8",
                "http://127.0.0.1:9/",
                not("http://127.0.0.1:9"),
            ),
            (
                "http://localhost",
                "http://localhost/",
                Ok(Reach::And(Loopback)),
            ),
            ("http://*", "http://a.example/", Ok(Reach::Public)),
            ("http://*", "http://1.1.1.1/", Ok(Reach::Public)),
            (
                "http://*",
                "http://localhost/",
                beyond(Loopback, "http://localhost"),
            ),
            (
                "http://*",
                "http://127.0.0.1/",
                beyond(Loopback, "http://127.0.0.1"),
            ),
            ("http://*", "http://0/", beyond(Reserved, "http://0.0.0.0")),
            (
                "http://*",
                "http://10.1.2.3/",
                beyond(Private, "http://10.1.2.3"),
            ),
            (
                "http://*",
                "http://169.254.169.254/x",
                beyond(LinkLocal, "http://169.254.169.254"),
            ),
            (
                "http://*",
                "http://[::ffff:127.0.0.1]/",
                beyond(Loopback, "http://[::ffff:7f00:1]"),
            ),
            (
                "http://* private",
                "http://127.0.0.1/",
                beyond(Loopback, "http://127.0.0.1"),
            ),
            (
                "http://* private",
                "http://10.1.2.3/",
                Ok(Reach::And(Private)),
            ),
        ] {
            let found = reach_by(
                granted(&[grant]).grants.iter(),
                "GET",
                &Url::parse(url).unwrap(),
                false,
            );
            assert_eq!(found, expected, "{grant}: {url}");
        }
    }

    #[test]
    fn through_a_proxy_go_only_names_that_are_granted_exactly() {
        let url = Url::parse("https://b.a.example/").unwrap();
        let wanted = Some("https://b.a.example".to_owned());
        for (grants, expected) in [
            (&["https://*"][..], Err(HttpRefusal::Proxy(wanted.clone()))),
            (&["https://*.a.example"], Err(HttpRefusal::Proxy(wanted))),
            (&["https://*", "https://b.a.example"], Ok(Reach::Public)),
        ] {
            let found = reach_by(granted(grants).grants.iter(), "GET", &url, true);
            assert_eq!(found, expected, "{grants:?}");
        }
    }

    #[test]
    fn the_user_is_asked_for_what_the_plugin_asks_for_and_for_nothing_else() {
        let requested = [
            "GET https://*",
            "https://api.example/v1",
            "http://127.0.0.1:8",
        ];
        let requested = requested.map(|request| request.parse().unwrap());
        let session = Arc::<SessionGrants>::default();
        let http = granted(&[]).asking(&requested, Arc::clone(&session));
        let askable = |method, url| {
            let url = Url::parse(url).unwrap();
            http.askable(method, &url).map(|grant| grant.to_string())
        };
        for (method, url, expected) in [
            ("GET", "https://a.example/x", Some("GET https://a.example")),
            ("POST", "https://a.example/x", None),
            (
                "POST",
                "https://api.example/v1/x",
                Some("https://api.example/v1"),
            ),
            ("GET", "http://127.0.0.1:8/", Some("http://127.0.0.1:8")),
            ("GET", "https://127.0.0.1/", None),
            ("GET", "https://localhost/", None),
            ("GET", "https://10.0.0.1/", None),
            ("GET", "https://169.254.169.254/", None),
            ("GET", "http://a.example/", None),
        ] {
            assert_eq!(askable(method, url).as_deref(), expected, "{method} {url}");
        }
        session.refuse(&"GET https://a.example".parse().unwrap());
        assert_eq!(askable("GET", "https://a.example/y"), None);
        assert!(askable("GET", "https://b.example/").is_some());
        let url = Url::parse("https://b.example/").unwrap();
        assert!(http.reach("GET", &url, &[]).is_err());
        let once = ["GET https://b.example".parse().unwrap()];
        assert_eq!(http.reach("GET", &url, &once), Ok(Reach::Public));
        session.grant("GET https://b.example".parse().unwrap());
        assert_eq!(http.reach("GET", &url, &[]), Ok(Reach::Public));
        assert!(http.reach("POST", &url, &[]).is_err());
    }

    /// Whoever answers for a name may say that it is at any address.
    #[tokio::test]
    async fn a_name_is_judged_by_the_address_that_is_connected_to() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let url = Url::parse(&format!("http://localhost:{port}/")).unwrap();
        let request = PluginRequest {
            method: Method::GET,
            url,
            headers: HeaderMap::new(),
            body: http_body_util::Empty::new(),
        };
        let granted = granted(&["http://*"]);
        let refused = granted.send(request, Reach::Public).await.unwrap_err();
        let SendError::Refused(HttpRefusal::OutOfReach { kind, .. }) = refused else {
            panic!("{refused}");
        };
        assert_eq!(kind, AddressKind::Loopback);
        let nobody = tokio::time::timeout(std::time::Duration::from_millis(100), listener.accept());
        assert!(nobody.await.is_err());
    }
}
