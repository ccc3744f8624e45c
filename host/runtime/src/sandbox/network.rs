//! Network for guests: HTTP as far as it is granted; every other access is refused, with the reason.
//! The only place that decides on a guest's access to the network.

mod destination;
mod sockets;

use std::sync::Arc;
use std::time::Duration;

use dormouse_egress::{GrantedHttp, GrantedReach, HttpRefusal};
use dormouse_policy::{HttpGrant, Limits};
use dormouse_text::log_text::escaped;
use dormouse_text::shell_word::shell_word;
use dormouse_upstream::auth::NotLoggedIn;
use hyper::HeaderMap;
use parking_lot::Mutex;
use url::Url;

use self::destination::Destination;
pub(super) use self::sockets::add_to_linker;
use super::InstanceOutput;

/// Most destinations of one instance that are logged, each once: a guest may try many.
const MAX_LOGGED_DESTINATIONS: usize = 8;

/// Most bytes of a destination that are shown: names of the internet have at most 253.
const MAX_SHOWN_BYTES: usize = 320;

/// Most bytes of a destination that are searched for secrets: more than any secret has that begins
/// in the shown part.
const MAX_READ_BYTES: usize = 64 << 10;

/// Longest URL of a request, in bytes.
const MAX_URL_BYTES: usize = 32 << 10;

/// Longest method of a request, in bytes: those that are registered have at most 17.
const MAX_METHOD_BYTES: usize = 64;

/// Methods that ask for something else than the resource that the URL names. Some servers take small
/// letters for capitals.
const REFUSED_METHODS: [&str; 2] = ["CONNECT", "TRACE"];

/// State of a store whose guest may try to reach the network.
pub(crate) trait NetworkState: Send + 'static {
    /// Returns the gate that decides on its access.
    fn network(&mut self) -> &NetworkGate;

    /// Asks the user for a grant, and waits for the answer. What they have granted is open then.
    fn ask_for_grant(&mut self, wanted: HttpGrant) -> impl Future<Output = ()> + Send;

    /// Has the user log in at these providers, by their names, where they are not logged in there.
    ///
    /// # Errors
    /// They are not logged in; with the reason.
    fn log_in(
        &mut self,
        providers: Vec<String>,
    ) -> impl Future<Output = Result<(), NotLoggedIn>> + Send;

    /// Asks the user for secrets that a request with that URL and these headers would have and that have
    /// no text, and waits for the answer.
    fn ask_for_secrets(&mut self, url: Url, headers: HeaderMap) -> impl Future<Output = ()> + Send;
}

/// HTTP request that is denied as it is.
pub(crate) struct DeniedRequest {
    url: String,
    why: String,
    /// Grant that the user may be asked for, with which it would be sent.
    pub(crate) askable: Option<HttpGrant>,
}

/// Decides on one instance's access to the network: HTTP as far as it is granted, and nothing else.
#[derive(Clone)]
pub(crate) struct NetworkGate {
    shared: Arc<SharedNetwork>,
}

struct SharedNetwork {
    server: String,
    output: InstanceOutput,
    http: Arc<GrantedHttp>,
    max_requests: u32,
    max_bytes: u64,
    /// Time of one call.
    call_time: Duration,
    state: Mutex<NetworkUse>,
}

/// Use of the network by the running call.
#[derive(Default)]
struct NetworkUse {
    logged: Vec<String>,
    refused: Option<String>,
    /// Reason, with a link in it, why the user is not logged in where a request needs it.
    not_logged_in: Option<String>,
    /// HTTP requests that were sent.
    requests: u32,
    /// Bytes of their bodies, and of those of their responses.
    bytes: u64,
    /// Grants that the user has given for this call.
    once: Vec<HttpGrant>,
}

impl NetworkGate {
    pub(crate) fn new(
        server: &str,
        output: InstanceOutput,
        http: Arc<GrantedHttp>,
        limits: &Limits,
    ) -> Self {
        Self {
            shared: Arc::new(SharedNetwork {
                server: server.to_owned(),
                output,
                http,
                max_requests: limits.http_requests,
                max_bytes: limits.http_bytes,
                call_time: limits.timeout,
                state: Mutex::default(),
            }),
        }
    }

    /// Begins another call: earlier refusals are not the cause of its failure, what was sent before
    /// does not count, and commands of secrets that have failed are run again.
    pub(crate) fn begin(&self) {
        self.shared.http.secrets().forget_failures();
        let mut state = self.shared.state.lock();
        let logged = std::mem::take(&mut state.logged);
        *state = NetworkUse {
            logged,
            ..NetworkUse::default()
        };
    }

    /// Whether anything is granted for the running call alone.
    pub(crate) fn has_granted_once(&self) -> bool {
        !self.shared.state.lock().once.is_empty()
    }

    /// Returns the last refusal of the running call, as text for the reader of its error.
    pub(crate) fn refused(&self) -> Option<String> {
        self.shared.state.lock().refused.clone()
    }

    /// Returns the reason, with a link in it for the user of the running call alone, why a request
    /// that needed a login was not sent.
    pub(crate) fn not_logged_in(&self) -> Option<String> {
        self.shared.state.lock().not_logged_in.clone()
    }

    /// Forgets that a request has lacked a login.
    pub(crate) fn forget_missing_login(&self) {
        self.shared.state.lock().not_logged_in = None;
    }

    /// Returns the requests that are granted.
    pub(crate) fn http(&self) -> &GrantedHttp {
        &self.shared.http
    }

    /// Returns the time that one call may take, where it has no progress.
    pub(crate) fn call_time(&self) -> Duration {
        self.shared.call_time
    }

    /// Returns an HTTP request's URL, and how far it may reach.
    ///
    /// # Errors
    /// The request is denied.
    pub(crate) fn judge(
        &self,
        method: &str,
        url: &str,
    ) -> Result<(Url, GrantedReach), Box<DeniedRequest>> {
        let denied = |why: String, askable| {
            let url = url.to_owned();
            Box::new(DeniedRequest { url, why, askable })
        };
        let is_refused = |refused: &&str| refused.eq_ignore_ascii_case(method);
        if REFUSED_METHODS.iter().any(is_refused) {
            let why = "no plugin sends a request of that method";
            return Err(denied(why.to_owned(), None));
        }
        if method.len() > MAX_METHOD_BYTES {
            let why = format!("its method has more than {MAX_METHOD_BYTES} bytes");
            return Err(denied(why, None));
        }
        if url.len() > MAX_URL_BYTES {
            let why = format!("its URL has more than {MAX_URL_BYTES} bytes");
            return Err(denied(why, None));
        }
        let parsed =
            Url::parse(url).map_err(|error| denied(format!("its URL is none: {error}"), None))?;
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(denied("its URL has a user name".to_owned(), None));
        }
        let http = &self.shared.http;
        let once = self.shared.state.lock().once.clone();
        match http.reach(method, &parsed, &once) {
            Ok(reach) => Ok((parsed, reach)),
            Err(refused) => Err(denied(self.why(&refused), http.askable(method, &parsed))),
        }
    }

    /// Checks whether the user may still be asked for a grant.
    pub(crate) fn is_askable(&self, wanted: &HttpGrant) -> bool {
        self.shared.http.is_askable(wanted)
    }

    /// Grants requests for the running call.
    pub(crate) fn grant_once(&self, granted: HttpGrant) {
        self.shared.state.lock().once.push(granted);
    }

    /// Counts a request.
    ///
    /// # Errors
    /// The call has sent enough of them; with the reason.
    pub(crate) fn take_request(&self) -> Result<(), String> {
        let max = self.shared.max_requests;
        let mut state = self.shared.state.lock();
        if state.requests >= max {
            let what = format!("more than {max} HTTP requests in one call");
            let refused = self.beyond_limit(&what, "http_requests");
            return Err(self.keep(&mut state, refused));
        }
        state.requests += 1;
        Ok(())
    }

    /// Counts bytes of a body.
    ///
    /// # Errors
    /// The call has sent and read enough of them; with the reason.
    pub(crate) fn take_bytes(&self, bytes: usize) -> Result<(), String> {
        let max = self.shared.max_bytes;
        let mut state = self.shared.state.lock();
        state.bytes = state.bytes.saturating_add(bytes as u64);
        if state.bytes > max {
            let what = format!("more than {max} bytes over HTTP in one call");
            let refused = self.beyond_limit(&what, "http_bytes");
            return Err(self.keep(&mut state, refused));
        }
        Ok(())
    }

    /// Refuses access to a destination, and logs that once for each. Returns the reason, for the
    /// author of the guest.
    pub(crate) fn refuse(&self, destination: Destination<'_>) -> String {
        let why = "plugins have no sockets, and there is no grant for them\n\
                   hint: requests over HTTP can be granted";
        let wanted = self.shown(&destination.to_string());
        self.refuse_for(&wanted, why)
    }

    /// Refuses an HTTP request. Returns the reason, with what would allow it.
    pub(crate) fn refuse_request(&self, denied: &DeniedRequest) -> String {
        self.refuse_url(&denied.url, &denied.why)
    }

    /// Refuses an HTTP request that was judged before, because of where its host is. Returns the
    /// reason, with what would allow it.
    pub(crate) fn refuse_http(&self, url: &Url, refused: &HttpRefusal) -> String {
        self.refuse_url(url.as_str(), &self.why(refused))
    }

    /// Returns why a request is refused, and what would allow it.
    fn why(&self, refused: &HttpRefusal) -> String {
        let server = &self.shared.server;
        let mut why = format!("server `{server}`: {refused}");
        if let Some(wanted) = refused.wanted() {
            let wanted = shell_word(self.shown(wanted));
            why.push_str(&format!(
                "\nhint: `dormouse grant {server} --grant-http {wanted}` allows it"
            ));
        }
        why
    }

    /// Refuses an HTTP request for another reason.
    pub(crate) fn refuse_url(&self, url: &str, why: &str) -> String {
        let wanted = self.shown(&shown_origin(url));
        self.refuse_for(&format!("an HTTP request to `{wanted}`"), why)
    }

    /// Refuses an HTTP request that needs a login. Returns the reason for the guest. It is not logged,
    /// and what is kept for the user of the call may have a link in it that nobody else is given.
    pub(crate) fn refuse_without_login(&self, url: &str, why: &NotLoggedIn) -> String {
        let wanted = self.shown(&shown_origin(url));
        let reason = |why: &str| format!("an HTTP request to `{wanted}` was not sent: {why}");
        let mut state = self.shared.state.lock();
        let of_user = self.keep(&mut state, reason(&why.to_string()));
        state.not_logged_in = why.has_link().then_some(of_user);
        reason(why.without_link())
    }

    /// Returns the reason why a request has failed, for the author of the guest.
    pub(crate) fn failed(&self, url: &Url, why: &str) -> String {
        let wanted = self.shown(&shown_origin(url.as_str()));
        format!("an HTTP request to `{wanted}` has failed: {why}")
    }

    /// Returns a text as it may be shown: without secrets, and not too long.
    fn shown(&self, text: &str) -> String {
        let read = text.floor_char_boundary(MAX_READ_BYTES);
        let read = text.get(..read).unwrap_or(text);
        let shown = self.shared.output.redact_beginning(read, MAX_SHOWN_BYTES);
        escaped(&shown)
    }

    fn refuse_for(&self, wanted: &str, why: &str) -> String {
        let reason = format!("{wanted} was refused: {why}");
        let mut state = self.shared.state.lock();
        if !state.logged.iter().any(|logged| logged == wanted)
            && state.logged.len() < MAX_LOGGED_DESTINATIONS
        {
            let line = reason.replace("\nhint: ", "; ");
            tracing::warn!("server `{}`: {line}", self.shared.server);
            state.logged.push(wanted.to_owned());
        }
        self.keep(&mut state, reason)
    }

    fn beyond_limit(&self, what: &str, key: &str) -> String {
        let server = &self.shared.server;
        format!(
            "{what} were refused\n\
             hint: `{key}` in `[servers.{server}.limits]` allows more"
        )
    }

    fn keep(&self, state: &mut NetworkUse, reason: String) -> String {
        state.refused = Some(reason.clone());
        reason
    }
}

/// Returns the scheme, host and port of a URL that a guest has written.
fn shown_origin(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("https", url));
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    // The part before the `@` is a password at worst.
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}")
}

#[cfg(test)]
mod tests;
