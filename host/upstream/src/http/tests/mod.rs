//! Real servers over the loopback, each as odd as one that exists.

mod limits;
mod peer;
mod real;
mod refusals;
mod secrets;
mod sse;
mod streamable;
mod streams;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{Stream, StreamExt as _};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::Frame;
use hyper::http::{HeaderMap, Method, Response, StatusCode};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::*;

type Body = UnsyncBoxBody<Bytes, std::io::Error>;

/// Request to a server.
#[derive(Debug, Clone)]
struct Seen {
    method: Method,
    path: String,
    headers: HeaderMap,
    body: String,
}

impl Seen {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

/// A server that answers as its test says.
struct Server {
    origin: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    async fn start<F, A>(answer: F) -> Self
    where
        F: Fn(Seen) -> A + Send + Sync + 'static,
        A: Future<Output = Response<Body>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&seen);
        let answer: Arc<dyn Fn(Seen) -> BoxFuture<'static, Response<Body>> + Send + Sync> =
            Arc::new(move |seen| Box::pin(answer(seen)));
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                let (answer, all) = (Arc::clone(&answer), Arc::clone(&all));
                let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                    let (answer, all) = (Arc::clone(&answer), Arc::clone(&all));
                    async move {
                        let (parts, body) = request.into_parts();
                        let body = body.collect().await.unwrap().to_bytes();
                        let seen = Seen {
                            method: parts.method,
                            path: parts.uri.to_string(),
                            headers: parts.headers,
                            body: String::from_utf8(body.to_vec()).unwrap(),
                        };
                        all.lock().push(seen.clone());
                        Ok::<_, Infallible>(answer(seen).await)
                    }
                });
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { origin, seen }
    }

    fn seen(&self) -> Vec<Seen> {
        self.seen.lock().clone()
    }

    fn http(&self) -> Http {
        Http {
            url: format!("{}/mcp", self.origin),
            ..Http::default()
        }
    }

    async fn connect(&self) -> Channel {
        connect_to(&self.http()).await.unwrap()
    }
}

/// Connects without a login, and with room of its own for messages.
async fn connect_to(http: &Http) -> Result<Channel, Lost> {
    connect(http, None, &ReadRoom::default()).await
}

fn status(status: u16) -> Response<Body> {
    text(status, "text/plain", "")
}

fn text(status: u16, kind: &str, body: &str) -> Response<Body> {
    Response::builder()
        .status(StatusCode::from_u16(status).unwrap())
        .header("content-type", kind)
        .body(
            Full::from(body.to_owned())
                .map_err(|never| match never {})
                .boxed_unsync(),
        )
        .unwrap()
}

fn json(body: &str) -> Response<Body> {
    text(200, "application/json", body)
}

/// Streams these pieces as events.
fn sse(pieces: &[&str]) -> Response<Body> {
    let pieces: Vec<_> = pieces
        .iter()
        .map(|piece| Bytes::from((*piece).to_owned()))
        .collect();
    stream(futures::stream::iter(pieces))
}

/// Makes a body of these pieces; where one is an error, it breaks off.
fn body(pieces: impl Stream<Item = std::io::Result<Bytes>> + Send + 'static) -> Body {
    StreamBody::new(pieces.map(|piece| piece.map(Frame::data))).boxed_unsync()
}

/// Streams these pieces.
fn stream(pieces: impl Stream<Item = Bytes> + Send + 'static) -> Response<Body> {
    Response::builder()
        .header("content-type", "text/event-stream; charset=utf-8")
        .body(body(pieces.map(Ok)))
        .unwrap()
}

/// Makes a stream of all that is sent to it.
fn fed() -> (mpsc::UnboundedSender<String>, Response<Body>) {
    let (sender, receiver) = mpsc::unbounded_channel::<String>();
    let pieces = futures::stream::unfold(receiver, async |mut receiver| {
        receiver
            .recv()
            .await
            .map(|piece| (Bytes::from(piece), receiver))
    });
    (sender, stream(pieces))
}

fn with(mut response: Response<Body>, name: &'static str, value: &str) -> Response<Body> {
    response.headers_mut().insert(name, value.parse().unwrap());
    response
}

const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

fn request(id: u64, method: &str) -> Outgoing {
    Outgoing {
        text: format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#),
        method: Some(method.to_owned()),
        id: Some(id),
        name: None,
        version: (method != "initialize").then(|| LEGACY.to_owned()),
    }
}

fn notification(method: &str) -> Outgoing {
    Outgoing {
        text: format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#),
        id: None,
        ..request(0, method)
    }
}

fn modern(mut message: Outgoing) -> Outgoing {
    message.version = Some(MODERN.to_owned());
    message
}

fn answer(id: u64) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"n":1.10,"unknown":[]}}}}"#)
}

/// Returns the next message, which has to come soon.
async fn next(channel: &mut Channel) -> String {
    let message = tokio::time::timeout(Duration::from_secs(10), channel.incoming.recv()).await;
    message
        .expect("in time")
        .expect("not ended")
        .get()
        .to_owned()
}

fn broken(sent: Result<(), Lost>) -> String {
    match sent {
        Err(Lost::Broken(why)) => why,
        other => panic!("{other:?}"),
    }
}
