//! Network for guests: HTTP as far as it is granted; every other access is refused, with the reason.
//! The only place that decides on a guest's access to the network.

use std::fmt;
use std::sync::Arc;

use dormouse_egress::{GrantedHttp, GrantedReach, HttpRefusal};
use dormouse_policy::{HttpGrant, Limits};
use dormouse_text::log_text::escaped;
use parking_lot::Mutex;
use url::Url;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi::p2::bindings::sockets::ip_name_lookup::{Network, ResolveAddressStream};
use wasmtime_wasi::p2::bindings::sockets::network::{ErrorCode, IpAddressFamily};
use wasmtime_wasi::p2::{TcpSocket, UdpSocket};

use super::Output;
use super::wasi::WASI_VERSION;

/// Most destinations of one instance that are logged, each once: a guest may try many.
const MAX_LOGGED_DESTINATIONS: usize = 8;

/// Most bytes of a destination that are shown: names of the internet have at most 253.
const MAX_SHOWN_BYTES: usize = 320;

/// Most bytes of a destination that are searched for secrets: more than any secret has that begins
/// in the shown part.
const MAX_READ_BYTES: usize = 64 << 10;

/// Longest URL of a request, in bytes.
const MAX_URL_BYTES: usize = 32 << 10;

/// NetworkUse of a store whose guest may try to reach the network.
pub(crate) trait NetworkState: Send + 'static {
    /// Returns the gate that decides on its access.
    fn network(&mut self) -> &NetworkGate;

    /// Asks the user for a grant, and waits for the answer. What they have granted is open then.
    fn ask_for_grant(&mut self, wanted: HttpGrant) -> impl Future<Output = ()> + Send;
}

/// Destination on the network that a guest tries to reach otherwise than by HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Destination<'a> {
    /// Addresses of a host, by its name.
    Name(&'a str),
    /// Any address, by a TCP connection.
    Tcp,
    /// Any address, by UDP datagrams.
    Udp,
}

impl fmt::Display for Destination<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "a lookup of the name `{name}`"),
            Self::Tcp => f.write_str("a TCP socket"),
            Self::Udp => f.write_str("a UDP socket"),
        }
    }
}

/// Decides on one instance's access to the network: HTTP as far as it is granted, and nothing else.
#[derive(Clone)]
pub(crate) struct NetworkGate {
    shared: Arc<Shared>,
}

struct Shared {
    server: String,
    output: Output,
    http: Arc<GrantedHttp>,
    max_requests: u32,
    max_bytes: u64,
    state: Mutex<NetworkUse>,
}

/// NetworkUse of the running call.
#[derive(Default)]
struct NetworkUse {
    logged: Vec<String>,
    refused: Option<String>,
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
        output: Output,
        http: Arc<GrantedHttp>,
        limits: &Limits,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                server: server.to_owned(),
                output,
                http,
                max_requests: limits.http_requests,
                max_bytes: limits.http_bytes,
                state: Mutex::default(),
            }),
        }
    }

    /// Begins another call: earlier refusals are not the cause of its failure, and what was sent
    /// before does not count.
    pub(crate) fn begin(&self) {
        let mut state = self.shared.state.lock();
        let logged = std::mem::take(&mut state.logged);
        *state = NetworkUse {
            logged,
            ..NetworkUse::default()
        };
    }

    /// Returns the last refusal of the running call, as text for the reader of its error.
    pub(crate) fn refused(&self) -> Option<String> {
        self.shared.state.lock().refused.clone()
    }

    /// Returns the requests that are granted.
    pub(crate) fn http(&self) -> &GrantedHttp {
        &self.shared.http
    }

    /// Returns the URL of an HTTP request, and how far the request may reach.
    ///
    /// # Errors
    /// The request is refused; with the reason, for the author of the guest.
    pub(crate) fn judge(&self, method: &str, url: &str) -> Result<(Url, GrantedReach), String> {
        if url.len() > MAX_URL_BYTES {
            let why = format!("its URL has more than {MAX_URL_BYTES} bytes");
            return Err(self.refuse_url(url, &why));
        }
        let once = self.shared.state.lock().once.clone();
        let parsed = match Url::parse(url) {
            Ok(parsed) => parsed,
            Err(error) => return Err(self.refuse_url(url, &format!("its URL is none: {error}"))),
        };
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(self.refuse_url(url, "its URL has a user name"));
        }
        let reach = self.shared.http.reach(method, &parsed, &once);
        let reach = reach.map_err(|refused| self.refuse_http(&parsed, &refused))?;
        Ok((parsed, reach))
    }

    /// Returns the grant that the user may be asked for, so that a request is sent that is not
    /// granted.
    pub(crate) fn askable(&self, method: &str, url: &str) -> Option<HttpGrant> {
        let url = Some(url).filter(|url| url.len() <= MAX_URL_BYTES)?;
        let url = Url::parse(url).ok()?;
        let is_plain = url.username().is_empty() && url.password().is_none();
        let once = self.shared.state.lock().once.clone();
        let is_granted = self.shared.http.reach(method, &url, &once).is_ok();
        (is_plain && !is_granted)
            .then(|| self.shared.http.askable(method, &url))
            .flatten()
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
    pub(crate) fn refuse_http(&self, url: &Url, refused: &HttpRefusal) -> String {
        let server = &self.shared.server;
        let mut why = format!("server `{server}`: {refused}");
        if let Some(wanted) = refused.wanted() {
            let wanted = self.shown(wanted);
            why.push_str(&format!(
                "\nhint: `dormouse grant {server} --grant-http '{wanted}'` allows it"
            ));
        }
        self.refuse_url(url.as_str(), &why)
    }

    /// Refuses an HTTP request for another reason.
    pub(crate) fn refuse_url(&self, url: &str, why: &str) -> String {
        let wanted = self.shown(&shown_origin(url));
        self.refuse_for(&format!("an HTTP request to `{wanted}`"), why)
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

/// Result of a function of `wasi:sockets`.
type Answer<T> = Result<T, ErrorCode>;

/// Replaces wasmtime's functions that reach the network with ones that refuse.
///
/// # Errors
/// They cannot be defined.
pub(super) fn add_to_linker<T: NetworkState>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    linker
        .instance(&format!("wasi:sockets/tcp-create-socket@{WASI_VERSION}"))?
        .func_wrap(
            "create-tcp-socket",
            |mut store, (_,): (IpAddressFamily,)| {
                store.data_mut().network().refuse(Destination::Tcp);
                let refused: Answer<Resource<TcpSocket>> = Err(ErrorCode::AccessDenied);
                Ok((refused,))
            },
        )?;
    linker
        .instance(&format!("wasi:sockets/udp-create-socket@{WASI_VERSION}"))?
        .func_wrap(
            "create-udp-socket",
            |mut store, (_,): (IpAddressFamily,)| {
                store.data_mut().network().refuse(Destination::Udp);
                let refused: Answer<Resource<UdpSocket>> = Err(ErrorCode::AccessDenied);
                Ok((refused,))
            },
        )?;
    linker
        .instance(&format!("wasi:sockets/ip-name-lookup@{WASI_VERSION}"))?
        .func_wrap(
            "resolve-addresses",
            |mut store, (_, name): (Resource<Network>, String)| {
                let destination = Destination::Name(&name);
                store.data_mut().network().refuse(destination);
                let refused: Answer<Resource<ResolveAddressStream>> =
                    Err(ErrorCode::PermanentResolverFailure);
                Ok((refused,))
            },
        )
}

#[cfg(test)]
mod tests {
    use dormouse_egress::PluginSecrets;
    use dormouse_policy::Grants;
    use dormouse_tests::logged::logged;

    use super::*;
    use crate::sandbox::GivenSecrets;

    fn gate() -> NetworkGate {
        let limits = Limits {
            http_requests: 2,
            http_bytes: 10,
            ..Limits::default()
        };
        let granted = ["GET https://granted.example".parse().unwrap()];
        let http = Arc::new(GrantedHttp::new(&granted, PluginSecrets::default()));
        let secrets = GivenSecrets::new(&Grants::default(), &Arc::default(), &http);
        let output = Output::new("net", 1000, secrets);
        NetworkGate::new("net", output, http, &limits)
    }

    #[test]
    fn a_refusal_names_what_was_to_be_reached_and_nothing_secret_of_it() {
        let long = "x".repeat(10_000);
        for (destination, expected) in [
            (
                Destination::Name("a.example"),
                "a lookup of the name `a.example` was refused: ",
            ),
            (Destination::Tcp, "a TCP socket was refused: "),
            (Destination::Udp, "a UDP socket was refused: "),
        ] {
            let gate = gate();
            let reason = gate.refuse(destination);
            assert!(reason.starts_with(expected), "{reason}");
            assert!(reason.contains("plugins have no sockets"), "{reason}");
            assert_eq!(gate.refused(), Some(reason));
            gate.begin();
            assert_eq!(gate.refused(), None);
        }
        assert!(gate().refuse(Destination::Name(&long)).len() < 600);
        for (url, expected) in [
            (
                "https://a.example:8080/x?key=secret",
                "an HTTP request to `https://a.example:8080` was refused: server `net`: it is not \
                 granted\n\
                 hint: `dormouse grant net --grant-http 'https://a.example:8080'` allows it",
            ),
            (
                "https://me:secret@a.example",
                "an HTTP request to `https://a.example` was refused: its URL has a user name",
            ),
            (
                "https://a\u{1b}[1m",
                r"an HTTP request to `https://a\u{1b}[1m` was refused: its URL is none",
            ),
            (
                "http://granted.example/",
                "an HTTP request to `http://granted.example` was refused: server `net`: it is not",
            ),
        ] {
            let gate = gate();
            let reason = gate.judge("GET", url).unwrap_err();
            assert!(reason.starts_with(expected), "{reason}");
            assert!(!reason.contains("secret"), "{reason}");
            assert_eq!(gate.refused(), Some(reason));
        }
        let long = format!("https://granted.example/{}", "x".repeat(MAX_URL_BYTES));
        assert!(gate().judge("GET", &long).is_err());
        assert!(gate().judge("POST", "https://granted.example/").is_err());
        assert!(gate().judge("GET", "https://granted.example/").is_ok());
    }

    #[test]
    fn a_call_sends_and_reads_so_much_and_no_more() {
        let gate = gate();
        for _ in 0..2 {
            assert_eq!([(); 2].map(|()| gate.take_request()), [Ok(()), Ok(())]);
            let refused = gate.take_request().unwrap_err();
            assert!(refused.contains("more than 2 HTTP requests"), "{refused}");
            assert_eq!(gate.take_bytes(10), Ok(()));
            let refused = gate.take_bytes(1).unwrap_err();
            assert!(
                refused.contains("`http_bytes` in `[servers.net.limits]`"),
                "{refused}"
            );
            assert_eq!(gate.refused(), Some(refused));
            gate.begin();
        }
    }

    #[test]
    fn each_destination_is_logged_once_and_only_so_many() {
        let (lines, _guard) = logged();
        let gate = gate();
        for _ in 0..100 {
            gate.refuse(Destination::Tcp);
        }
        assert_eq!(lines.lines().len(), 1, "{:?}", lines.lines());
        for number in 0..100 {
            let _ = gate.judge("GET", &format!("https://host{number}.example"));
        }
        assert_eq!(lines.lines().len(), MAX_LOGGED_DESTINATIONS);
        let expected = "server `net`: an HTTP request to `https://host0.example`";
        assert!(lines.lines()[1].contains(expected));
    }
}
