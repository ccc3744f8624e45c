//! Where the browser comes back to: a port of this machine, for one login.

use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::IpAddr;
use std::time::Duration;

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
use tokio::task::JoinSet;

use super::redirect::Redirect;

/// How often a port is looked for that is free at all addresses.
const ATTEMPTS: usize = 8;

/// How long the head of a request may take.
const HEAD: Duration = Duration::from_secs(10);

/// How many connections there may be at once; a browser opens a few to be ready.
const CONNECTIONS: usize = 16;

/// How long a last page may take to go out.
const FLUSH: Duration = Duration::from_secs(2);

/// What a redirect has brought, and who waits to hear what came of it.
pub(super) struct Arrival {
    /// What stands behind the `?` of the URL.
    pub(super) query: String,
    /// Takes the answer.
    pub(super) answer: oneshot::Sender<Answer>,
}

/// What came of a redirect: a sentence for the one in front of the browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// They are logged in.
    Done(String),
    /// They are not.
    Failed(String),
    /// That was no redirect of this login.
    Foreign(String),
}

/// The port, and the connections to it.
pub(super) struct Callback {
    /// One for each address of this machine that the browser may come to.
    listeners: Vec<TcpListener>,
    connections: JoinSet<()>,
    arrivals: mpsc::Sender<Arrival>,
    redirect: Redirect,
}

impl Callback {
    /// Opens a port that only this machine can reach. What arrives is sent on.
    ///
    /// # Errors
    /// The port that has to be it is somebody else's, or none can be had.
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
            arrivals,
            redirect,
        })
    }

    /// The URL that the browser is to be sent to.
    pub(super) fn url(&self) -> std::io::Result<String> {
        let first = self.listeners.first().ok_or(ErrorKind::NotConnected)?;
        Ok(self.redirect.url(first.local_addr()?.port()))
    }

    /// Takes connections, for ever. Can be dropped at any time.
    pub(super) async fn run(&mut self) {
        loop {
            let accepting = self.listeners.iter().map(|one| Box::pin(one.accept()));
            let accepting = futures::future::select_all(accepting);
            tokio::select! {
                Some(_) = self.connections.join_next() => {}
                (accepted, ..) = accepting, if self.connections.len() < CONNECTIONS => {
                    match accepted {
                        Ok((stream, _)) => {
                            let path = self.redirect.path.clone();
                            let arrivals = self.arrivals.clone();
                            self.connections.spawn(serve(stream, path, arrivals));
                        }
                        // Mostly: too many open files. It passes.
                        Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
                    }
                }
            }
        }
    }

    /// Closes the port. What this returns ends when the last pages have gone out.
    pub(super) fn close(self) -> impl Future<Output = ()> {
        let Self {
            listeners,
            mut connections,
            ..
        } = self;
        drop(listeners);
        async move {
            let _ = tokio::time::timeout(FLUSH, async {
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

async fn serve(stream: TcpStream, path: String, arrivals: mpsc::Sender<Arrival>) {
    let service = service_fn(|request| respond(request, &path, arrivals.clone()));
    // A browser that goes away has had what it wanted, or does not want it.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn respond(
    request: Request<Incoming>,
    path: &str,
    arrivals: mpsc::Sender<Arrival>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    if request.uri().path() != path {
        return Ok(page(StatusCode::NOT_FOUND, "There is nothing here."));
    }
    if request.method() != Method::GET {
        return Ok(page(
            StatusCode::METHOD_NOT_ALLOWED,
            "Only a browser comes here.",
        ));
    }
    let (answer, answered) = oneshot::channel();
    let query = request.uri().query().unwrap_or_default().to_owned();
    // Where nobody takes it or answers any more, the login is over.
    let answer = match arrivals.send(Arrival { query, answer }).await {
        Ok(()) => answered.await.ok(),
        Err(_) => None,
    };
    Ok(match answer {
        Some(Answer::Done(text)) => page(StatusCode::OK, &text),
        // The browser has done all right; it is the login that has failed.
        Some(Answer::Failed(text)) => page(StatusCode::OK, &text),
        Some(Answer::Foreign(text)) => page(StatusCode::BAD_REQUEST, &text),
        None => page(StatusCode::GONE, "This login is over."),
    })
}

fn page(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
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
