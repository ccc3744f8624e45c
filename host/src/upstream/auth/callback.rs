//! Where the browser comes back to: a port of this machine, for one login.

use std::convert::Infallible;
use std::net::Ipv4Addr;
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

/// The path that the browser is sent to.
const PATH: &str = "/callback";

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
    listener: TcpListener,
    connections: JoinSet<()>,
    arrivals: mpsc::Sender<Arrival>,
}

impl Callback {
    /// Opens a free port that only this machine can reach. What arrives is sent on.
    pub(super) async fn open(arrivals: mpsc::Sender<Arrival>) -> std::io::Result<Self> {
        Ok(Self {
            listener: TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?,
            connections: JoinSet::new(),
            arrivals,
        })
    }

    /// The URL that the browser is to be sent to. It has an address and no name: a
    /// name may lead elsewhere (RFC 8252, section 8.3).
    pub(super) fn url(&self) -> std::io::Result<String> {
        Ok(format!("http://{}{PATH}", self.listener.local_addr()?))
    }

    /// Takes connections, for ever. Can be dropped at any time.
    pub(super) async fn run(&mut self) {
        loop {
            tokio::select! {
                Some(_) = self.connections.join_next() => {}
                accepted = self.listener.accept(), if self.connections.len() < CONNECTIONS => {
                    match accepted {
                        Ok((stream, _)) => {
                            self.connections.spawn(serve(stream, self.arrivals.clone()));
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
            listener,
            mut connections,
            ..
        } = self;
        drop(listener);
        async move {
            let _ = tokio::time::timeout(FLUSH, async {
                while connections.join_next().await.is_some() {}
            })
            .await;
        }
    }
}

async fn serve(stream: TcpStream, arrivals: mpsc::Sender<Arrival>) {
    let service = service_fn(|request| respond(request, arrivals.clone()));
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
    arrivals: mpsc::Sender<Arrival>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    if request.uri().path() != PATH {
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
