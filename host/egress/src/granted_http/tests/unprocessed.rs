//! Requests over HTTP/2 that their hosts have not processed.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::pin::Pin;
use std::sync::atomic::AtomicUsize;
use std::task::{Context, Poll};

use http_body::Frame;

use super::*;
use crate::client::plugin_builder;

/// Types of frames of HTTP/2.
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;

/// Flag of settings that are acknowledged.
const ACK: u8 = 1;

/// Flags of headers that are complete and the end of their response.
const END: u8 = 5;

/// The status 200 in HPACK.
const OK: u8 = 0x88;

/// Code by which a host says that it has not looked at a request.
const REFUSED_STREAM: u32 = 7;

/// Ways of a host not to process a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NotProcessed {
    /// It refuses each request.
    Stream,
    /// It answers the first request of a connection, and ends the connection instead of the next.
    GoAway,
}

/// A body that does not come.
struct Unfinished;

impl Body for Unfinished {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        Poll::Pending
    }
}

/// Returns a frame of HTTP/2.
fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).unwrap();
    [&[0, 0, length, kind, flags, 0, 0, 0, stream], payload].concat()
}

/// Serves a connection, and counts its requests.
fn serve(mut stream: TcpStream, how: NotProcessed, requests: &AtomicUsize) -> io::Result<()> {
    stream.read_exact(&mut [0; 24])?;
    stream.write_all(&frame(SETTINGS, 0, 0, &[]))?;
    let mut last = 0;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head)?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        stream.read_exact(&mut vec![0; usize::try_from(length).unwrap()])?;
        match (head[3], head[4]) {
            (SETTINGS, flags) if flags & ACK == 0 => {
                stream.write_all(&frame(SETTINGS, ACK, 0, &[]))?;
            }
            (HEADERS, _) => {
                requests.fetch_add(1, Ordering::AcqRel);
                let answer = match how {
                    NotProcessed::Stream => {
                        frame(RST_STREAM, 0, head[8], &REFUSED_STREAM.to_be_bytes())
                    }
                    NotProcessed::GoAway if last == 0 => frame(HEADERS, END, head[8], &[OK]),
                    // Without an error.
                    NotProcessed::GoAway => frame(GOAWAY, 0, 0, &[0, 0, 0, last, 0, 0, 0, 0]),
                };
                last = head[8];
                stream.write_all(&answer)?;
            }
            _ => {}
        }
    }
}

/// The requests to a host that does not process them all.
struct RefusingHost {
    granted: GrantedHttp,
    url: Url,
    received: Arc<AtomicUsize>,
    /// Most requests that may be sent again.
    most: usize,
    /// Times that it was asked whether one may.
    asked: AtomicUsize,
}

impl RefusingHost {
    fn new(how: NotProcessed, most: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&received);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let counted = Arc::clone(&counted);
                // It ends with its connection.
                std::thread::spawn(move || serve(stream, how, &counted));
            }
        });
        let granted = granted(&[&host]);
        let kind = ClientKind {
            secure: false,
            direct: true,
            reach: Reach::Configured,
        };
        // Hosts without TLS are spoken to in HTTP/1.1 otherwise.
        let builder = plugin_builder(kind, true, Arc::clone(&granted.room.lookups));
        let client = builder.http2_prior_knowledge().build().unwrap();
        granted.clients.lock().insert((kind, true), client);
        Self {
            granted,
            url: Url::parse(&host).unwrap(),
            received,
            most,
            asked: AtomicUsize::new(0),
        }
    }

    /// Sends a request. Returns whether it was answered.
    async fn is_answered<B>(&self, method: Method, body: B) -> bool
    where
        B: Body<Data = Bytes, Error: std::error::Error + Send + Sync> + Send + Unpin + 'static,
    {
        let request = PluginHttpRequest {
            method,
            url: self.url.clone(),
            headers: HeaderMap::new(),
            body,
        };
        let reach = self.granted.reach("GET", &self.url, &[]).unwrap();
        let may_repeat = || self.asked.fetch_add(1, Ordering::AcqRel) < self.most;
        match self.granted.send(request, reach, may_repeat).await {
            Ok(response) => {
                assert_eq!(response.status(), StatusCode::OK);
                true
            }
            Err(SendError::Unprocessed) => false,
            Err(error) => panic!("{error}"),
        }
    }

    fn received(&self) -> usize {
        self.received.load(Ordering::Acquire)
    }
}

/// A host that says that it has refused a request may have read it.
#[tokio::test]
async fn a_request_that_its_host_refuses_is_sent_again_twice_as_far_as_its_call_may_send_more() {
    for (most, received) in [(0, 1), (1, 2), (10, 3)] {
        let host = RefusingHost::new(NotProcessed::Stream, most);
        let empty = http_body_util::Empty::new();
        assert!(!host.is_answered(Method::GET, empty).await, "{most}");
        assert_eq!(host.received(), received, "{most}");
    }
}

#[tokio::test]
async fn a_request_is_sent_on_another_connection_where_its_host_ends_one_in_good_order() {
    let host = RefusingHost::new(NotProcessed::GoAway, 100);
    for method in [Method::GET, Method::GET, Method::POST, Method::GET] {
        assert!(host.is_answered(method, http_body_util::Empty::new()).await);
    }
    // Each but the first was sent twice.
    assert_eq!(host.received(), 7);
    assert_eq!(host.asked.load(Ordering::Acquire), 3);
}

/// What was sent of a body is gone.
#[tokio::test]
async fn a_request_with_a_body_is_sent_again_where_it_only_asks_and_nothing_of_that_was_sent() {
    let full = || http_body_util::Full::new(Bytes::from_static(b"x"));
    let host = RefusingHost::new(NotProcessed::Stream, 10);
    assert!(!host.is_answered(Method::POST, full()).await);
    assert_eq!(host.received(), 1);
    assert!(!host.is_answered(Method::POST, Unfinished).await);
    assert_eq!(host.received(), 2);
    assert!(!host.is_answered(Method::GET, Unfinished).await);
    assert_eq!(host.received(), 5);
}
