//! Target of the redirect of one login: a port of this machine, which the browser comes back to.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dormouse_launch::Redirect;
use dormouse_text::visible::visible;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, REFERRER_POLICY,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, JoinSet};

use super::peer_user::{PeerOwner, peer};

/// Most attempts to find a port that is free at all addresses.
const ATTEMPTS: usize = 8;

/// Time that the head of a request may take.
const HEAD: Duration = Duration::from_secs(10);

/// Most connections at once; a browser opens a few to be ready. Other users of this machine can
/// open as many as they like.
const CONNECTIONS: usize = 16;

/// Time that the last pages may take to go out.
const LAST_PAGE_TIMEOUT: Duration = Duration::from_secs(2);

/// Redirect that has come in, and the sender for the answer to it.
pub(super) struct Arrival {
    /// Query of the URL.
    pub(super) query: String,
    /// Sender for the answer.
    pub(super) answer: oneshot::Sender<RedirectOutcome>,
}

/// Outcome of a redirect, with a sentence for the user in front of the browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RedirectOutcome {
    /// The user is logged in.
    Done(String),
    /// The user is not logged in.
    Failed(String),
    /// The redirect is not of this login.
    Foreign(String),
}

/// The port, and the connections to it.
pub(super) struct Callback {
    /// Listeners, one for each address of this machine that the browser may come to.
    listeners: Vec<TcpListener>,
    connections: JoinSet<()>,
    /// Connections that are open, the oldest first.
    open: VecDeque<OpenConnection>,
    arrivals: mpsc::Sender<Arrival>,
    redirect: Redirect,
    /// Whether it is logged that another user has come: they can come as often as they like.
    has_told_of_others: bool,
}

/// A connection that has not been closed.
struct OpenConnection {
    task: AbortHandle,
    /// Whether a redirect has come over it, which is being answered.
    has_redirect: Arc<AtomicBool>,
}

impl Callback {
    /// Opens a port that only this machine can reach. Redirects that arrive are sent on.
    ///
    /// # Errors
    /// The port that is configured is taken, or none can be had.
    pub(super) async fn open(
        redirect: Redirect,
        arrivals: mpsc::Sender<Arrival>,
    ) -> std::io::Result<Self> {
        let mut attempts = 1..=ATTEMPTS;
        let listeners = loop {
            let attempt = attempts.next();
            match listen(redirect.addresses(), redirect.port).await {
                // One that was free at the first address may not be at the second.
                Err(error)
                    if redirect.port == 0
                        && error.kind() == ErrorKind::AddrInUse
                        && attempt.is_some() => {}
                listeners => break listeners?,
            }
        };
        Ok(Self {
            listeners,
            connections: JoinSet::new(),
            open: VecDeque::new(),
            arrivals,
            redirect,
            has_told_of_others: false,
        })
    }

    /// Returns the URL that the browser is to be sent to.
    pub(super) fn url(&self) -> std::io::Result<String> {
        let first = self.listeners.first().ok_or(ErrorKind::NotConnected)?;
        Ok(self.redirect.url(first.local_addr()?.port()))
    }

    /// Takes connections, for ever. Can be dropped at any time.
    pub(super) async fn run(&mut self) {
        loop {
            let accepting = self.listeners.iter().map(|one| {
                Box::pin(async move {
                    let (stream, _) = one.accept().await?;
                    Ok::<_, std::io::Error>((one.local_addr()?, stream))
                })
            });
            let accepting = futures::future::select_all(accepting);
            let accepted = tokio::select! {
                Some(_) = self.connections.join_next() => continue,
                (accepted, ..) = accepting => accepted,
            };
            let Ok((listener, stream)) = accepted else {
                // Mostly: too many open files. It passes.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            match peer(listener, &stream).await {
                PeerOwner::Own => self.accept(stream),
                PeerOwner::Gone => {}
                PeerOwner::AnotherUsers if !self.has_told_of_others => {
                    self.has_told_of_others = true;
                    tracing::warn!(
                        "another user of this machine has come to the port of a login, and is sent \
                         away"
                    );
                }
                PeerOwner::AnotherUsers => {}
            }
        }
    }

    /// Serves a connection. Where there are as many as there may be, the oldest of those over
    /// which no redirect has come makes room: a browser says at once what it has come for.
    fn accept(&mut self, stream: TcpStream) {
        self.open
            .retain(|connection| !connection.task.is_finished());
        if self.open.len() >= CONNECTIONS {
            let is_silent =
                |connection: &OpenConnection| !connection.has_redirect.load(Ordering::Acquire);
            let silent = self.open.iter().position(is_silent);
            let Some(silent) = silent.and_then(|at| self.open.remove(at)) else {
                return;
            };
            silent.task.abort();
        }
        let has_redirect = Arc::new(AtomicBool::new(false));
        let serving = Serving {
            path: self.redirect.path.clone(),
            arrivals: self.arrivals.clone(),
            has_redirect: Arc::clone(&has_redirect),
        };
        let task = self.connections.spawn(serving.serve(stream));
        self.open.push_back(OpenConnection { task, has_redirect });
    }

    /// Closes the port. The future that this returns ends when the last pages have gone out.
    pub(super) fn close(self) -> impl Future<Output = ()> {
        let Self {
            listeners,
            mut connections,
            ..
        } = self;
        drop(listeners);
        async move {
            let _ = tokio::time::timeout(LAST_PAGE_TIMEOUT, async {
                while connections.join_next().await.is_some() {}
            })
            .await;
        }
    }
}

/// Listens at the addresses, all with one port; any where it is 0.
async fn listen(addresses: &[IpAddr], mut port: u16) -> std::io::Result<Vec<TcpListener>> {
    let mut listeners: Vec<TcpListener> = Vec::new();
    for address in addresses {
        match TcpListener::bind((*address, port)).await {
            Ok(listener) => {
                port = listener.local_addr()?.port();
                listeners.push(listener);
            }
            // Many machines have only one of the two, and then no browser comes to
            // the other.
            Err(error) if !listeners.is_empty() && error.kind() != ErrorKind::AddrInUse => {}
            Err(error) => return Err(error),
        }
    }
    Ok(listeners)
}

/// Service of one connection.
struct Serving {
    path: String,
    arrivals: mpsc::Sender<Arrival>,
    has_redirect: Arc<AtomicBool>,
}

impl Serving {
    async fn serve(self, stream: TcpStream) {
        let service = service_fn(|request| self.respond(request));
        // A browser that goes away has had what it wanted, or does not want it.
        let _ = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .keep_alive(false)
            .serve_connection(TokioIo::new(stream), service)
            .await;
    }

    async fn respond(
        &self,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, Infallible> {
        if request.uri().path() != self.path {
            return Ok(page(StatusCode::NOT_FOUND, "There is nothing here."));
        }
        if request.method() != Method::GET {
            return Ok(page(
                StatusCode::METHOD_NOT_ALLOWED,
                "Only a browser comes here.",
            ));
        }
        self.has_redirect.store(true, Ordering::Release);
        let (answer, answered) = oneshot::channel();
        let query = request.uri().query().unwrap_or_default().to_owned();
        // Where nobody takes it or answers any more, the login is over.
        let answer = match self.arrivals.send(Arrival { query, answer }).await {
            Ok(()) => answered.await.ok(),
            Err(_) => None,
        };
        Ok(match answer {
            Some(RedirectOutcome::Done(text)) => page(StatusCode::OK, &text),
            // The browser has done all right; it is the login that has failed.
            Some(RedirectOutcome::Failed(text)) => page(StatusCode::OK, &text),
            Some(RedirectOutcome::Foreign(text)) => page(StatusCode::BAD_REQUEST, &text),
            None => page(StatusCode::GONE, "This login is over."),
        })
    }
}

fn page(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    let mut safe = String::with_capacity(text.len());
    // An authorization server has written parts of it.
    for character in visible(text).chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '\n' => safe.push_str("<br>"),
            other => safe.push(other),
        }
    }
    let body = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Dormouse</title><p>{safe}</p></html>\n"
    );
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    for (name, value) in [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
        // The page's own URL has the code in it.
        (REFERRER_POLICY, "no-referrer"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'"),
    ] {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// Another user of the machine opens connections and says nothing.
    #[tokio::test]
    async fn silent_connections_keep_no_browser_out() {
        let (arrivals, mut arrived) = mpsc::channel(1);
        let redirect = Redirect::default();
        let mut callback = Callback::open(redirect, arrivals).await.unwrap();
        let address = callback.listeners[0].local_addr().unwrap();
        let path = callback.redirect.path.clone();
        let running = tokio::spawn(async move { callback.run().await });
        let mut silent = Vec::new();
        for _ in 0..CONNECTIONS * 2 {
            silent.push(TcpStream::connect(address).await.unwrap());
        }
        let mut browser = TcpStream::connect(address).await.unwrap();
        let head = format!("GET {path}?code=1 HTTP/1.1\r\nhost: localhost\r\n\r\n");
        browser.write_all(head.as_bytes()).await.unwrap();
        let arrival = arrived.recv().await.unwrap();
        assert_eq!(arrival.query, "code=1");
        // What is being answered does not make room.
        for _ in 0..CONNECTIONS * 2 {
            silent.push(TcpStream::connect(address).await.unwrap());
        }
        let mut old = Vec::new();
        silent[0].read_to_end(&mut old).await.unwrap();
        arrival
            .answer
            .send(RedirectOutcome::Done("Done.".into()))
            .unwrap();
        let mut page = String::new();
        browser.read_to_string(&mut page).await.unwrap();
        assert!(page.contains("Done."), "{page}");
        running.abort();
    }
}
