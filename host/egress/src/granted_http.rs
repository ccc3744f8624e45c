//! HTTP requests of one plugin, as far as its user has granted them.

mod begun_body;
mod charset;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod granted_reach;
mod masked_response;
mod send_error;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use dormouse_launch::is_here;
use dormouse_policy::HttpGrant;
use http::header::{ACCEPT_ENCODING, CONTENT_LENGTH, HeaderName, HeaderValue, IF_RANGE, RANGE};
use http::{Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyDataStream, BodyExt as _};
use parking_lot::Mutex;
use reqwest::header::HeaderMap;
use reqwest::{Client, Method, Request, Url};

pub use self::begun_body::BegunBody;
pub use self::granted_reach::GrantedReach;
use self::granted_reach::{out_of_reach, reach_by, reach_to};
use self::masked_response::masked;
pub use self::send_error::{HttpRefusal, SendError};
use crate::client::{ClientKind, plugin_client};
use crate::proxies::has_proxy;
use crate::reading_threads::on_plugin_reading_thread;
use crate::request_room::{OpenRequest, RequestRoom};
use crate::resolver::OutOfReach;
use crate::secrets::{MaskedBody, PluginSecrets, PutSecrets, ResponseMask, SecretError};
use crate::{EgressError, SessionGrants, causes};

/// Name of `Range` in an older proposal, which some hosts still take for it.
const REQUEST_RANGE: HeaderName = HeaderName::from_static("request-range");

/// Coding of a response that was not compressed.
const IDENTITY: HeaderValue = HeaderValue::from_static("identity");

/// Grants of HTTP requests of one plugin, the secrets in them, and its connections, which nobody else
/// uses.
pub struct GrantedHttp {
    grants: Vec<HttpGrant>,
    /// Grants that the plugin asks for.
    requested: Vec<HttpGrant>,
    session: Arc<SessionGrants>,
    secrets: Arc<PluginSecrets>,
    /// Clients, those of hosts that are granted exactly and others.
    clients: Mutex<HashMap<(ClientKind, bool), Client>>,
    room: RequestRoom,
}

/// A request of a plugin.
pub struct PluginHttpRequest<B> {
    /// Its method.
    pub method: Method,
    /// Its URL, by which it was judged.
    pub url: Url,
    /// Its headers; that of the host is the URL's.
    pub headers: HeaderMap,
    /// Its body.
    pub body: B,
    /// Its room. It stays open where nobody waits for the response any more, until that thread has come
    /// to it which carries it out.
    pub open: OpenRequest,
}

impl Default for GrantedHttp {
    /// Returns no requests at all.
    fn default() -> Self {
        Self::new(&[], PluginSecrets::default())
    }
}

impl GrantedHttp {
    /// Returns the requests that these grants allow, with these secrets in them.
    #[must_use]
    pub fn new(grants: &[HttpGrant], secrets: PluginSecrets) -> Self {
        Self {
            grants: grants.to_vec(),
            requested: Vec::new(),
            session: Arc::default(),
            secrets: Arc::new(secrets),
            clients: Mutex::default(),
            room: RequestRoom::default(),
        }
    }

    /// Makes them share that room with other requests of their server.
    #[must_use]
    pub fn in_room(self, room: RequestRoom) -> Self {
        Self { room, ..self }
    }

    /// Makes the user one who can be asked for what the plugin asks for, and whose answers are kept.
    #[must_use]
    pub fn asking(self, requested: &[HttpGrant], session: Arc<SessionGrants>) -> Self {
        // An address of this machine or its network is never a host that a pattern means, whatever the
        // plugin writes behind it.
        let requested = requested.iter().cloned().map(|one| match one.is_exact() {
            true => one,
            false => one.without_private(),
        });
        Self {
            requested: requested.collect(),
            session,
            ..self
        }
    }

    /// Returns the secrets in its requests.
    #[must_use]
    pub fn secrets(&self) -> &PluginSecrets {
        &self.secrets
    }

    /// Returns how far a request may reach, if it is granted, or if the user has granted it just
    /// this once.
    ///
    /// # Errors
    /// It is not granted, or its URL says that it leads further.
    pub fn reach(
        &self,
        method: &str,
        url: &Url,
        once: &[HttpGrant],
    ) -> Result<GrantedReach, HttpRefusal> {
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
            reach_to(requested, url).is_ok() && (requested.is_exact() || !is_proxied)
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
        self.room.open().await
    }

    /// Sends a request that may reach so far, with the secrets that its host gets, which are hidden in
    /// the response. Redirects are not followed: each hop is a request of its own. One that only asks
    /// for something is sent once more where its host has refused the token of a login, there is another
    /// one now, and `may_repeat` says so.
    ///
    /// # Errors
    /// There is no response. Addresses are judged as the connection is made.
    pub async fn send<B>(
        &self,
        request: PluginHttpRequest<B>,
        granted: GrantedReach,
        may_repeat: impl Fn() -> bool + Send,
    ) -> Result<Response<MaskedBody<BegunBody>>, SendError>
    where
        B: Body<Data = Bytes, Error: std::error::Error + Send + Sync> + Send + Unpin + 'static,
    {
        let PluginHttpRequest {
            method,
            url,
            headers,
            body,
            open,
        } = request;
        let client = self.client(&url, granted)?;
        let (mut request, put) = self.with_secrets(&method, &url, headers.clone()).await?;
        let has_body = !body.is_end_stream();
        let has_sent_data = Arc::new(AtomicBool::new(false));
        if has_body {
            let has_sent_data = Arc::clone(&has_sent_data);
            let body = body.map_frame(move |frame| {
                has_sent_data.store(true, Ordering::Release);
                frame
            });
            let body = BodyDataStream::new(body);
            *request.body_mut() = Some(reqwest::Body::wrap_stream(body));
        } else {
            remove_length(&mut request);
        }
        // A host may write what it was sent, also meanwhile, into what ends a connection, too, and into its
        // certificate.
        let quiet = |error| match error {
            SendError::Connect(_) if self.secrets.goes_any_to(&url) => {
                SendError::Connect(NO_ANSWER.to_owned())
            }
            SendError::Failed(_) if self.secrets.goes_any_to(&url) => {
                SendError::Failed(NO_HTTP.to_owned())
            }
            error => error,
        };
        let only_asks = || {
            matches!(method, Method::GET | Method::HEAD) && !has_sent_data.load(Ordering::Acquire)
        };
        let mut answered = self.execute(&client, request, &url, &open).await;
        let status = answered.as_ref().ok().map(Response::status);
        if status == Some(StatusCode::UNAUTHORIZED)
            && self.secrets.are_replaced(&put).await?
            && only_asks()
            && may_repeat()
        {
            let (mut again, _) = self.with_secrets(&method, &url, headers).await?;
            remove_length(&mut again);
            // Its connection may be the one of the next.
            drop(answered);
            answered = self.execute(&client, again, &url, &open).await;
        }
        let response = answered.map_err(quiet)?;
        masked(response, ResponseMask::new(&self.secrets, &url))
    }

    /// Sends a request, and waits for the head of its response.
    async fn execute(
        &self,
        client: &Client,
        request: Request,
        url: &Url,
        open: &OpenRequest,
    ) -> Result<Response<BegunBody>, SendError> {
        let sent = client.execute(request);
        let open = open.clone();
        let begun = async move {
            let _open = open;
            Ok(BegunBody::of(Response::from(sent.await?)).await)
        };
        let answered = on_plugin_reading_thread(self.room.server(), begun).await;
        answered.map_err(|error: reqwest::Error| {
            if let Some(beyond) = OutOfReach::in_causes(&error) {
                return out_of_reach(beyond.kind, url).into();
            }
            match error.is_connect() {
                true => SendError::Connect(causes(error)),
                false => SendError::Failed(causes(error)),
            }
        })
    }

    /// Returns a request without a body, with the secrets in it that its host gets.
    async fn with_secrets(
        &self,
        method: &Method,
        url: &Url,
        mut headers: HeaderMap,
    ) -> Result<(Request, PutSecrets), SecretError> {
        let mut sent_url = url.clone();
        let put = self.secrets.put_into(&mut sent_url, &mut headers).await?;
        if self.secrets.goes_any_to(url) {
            headers.insert(ACCEPT_ENCODING, IDENTITY);
            // A part of a response may begin or end within a secret, and what is in another character
            // set is not found.
            for name in [RANGE, IF_RANGE, REQUEST_RANGE] {
                headers.remove(name);
            }
            charset::remove_asked(&mut headers);
        }
        let mut request = Request::new(method.clone(), sent_url);
        *request.headers_mut() = headers;
        Ok((request, put))
    }

    fn client(&self, url: &Url, granted: GrantedReach) -> Result<Client, EgressError> {
        let kind = ClientKind {
            secure: url.scheme() == "https",
            direct: is_here(url),
            reach: granted.reach,
        };
        let key = (kind, granted.is_exact);
        let mut clients = self.clients.lock();
        if let Some(client) = clients.get(&key) {
            return Ok(client.clone());
        }
        let client = plugin_client(kind, granted.is_exact, Arc::clone(&self.room.lookups))?;
        clients.insert(key, client.clone());
        Ok(client)
    }
}

/// Errors of requests to a host that gets a secret, which it may repeat in what it answers.
const NO_ANSWER: &str = "its host does not answer, or not over HTTP/1.1, or its name, address or \
                         certificate is wrong";
const NO_HTTP: &str = "its host has ended the connection, or has not answered as HTTP has it";

/// Takes the length of a body out of a request that has none: its host would take the beginning of the
/// next request on the connection for the body.
fn remove_length(request: &mut Request) {
    let headers = request.headers_mut();
    if headers
        .get(CONTENT_LENGTH)
        .is_some_and(|length| length != "0")
    {
        headers.remove(CONTENT_LENGTH);
    }
}

#[cfg(test)]
mod tests;
