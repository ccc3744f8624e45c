//! Fuzz target: headers that a plugin writes, as they are sent.

#![allow(
    clippy::expect_used,
    reason = "what does not hold has to end the run, with the input that has shown it"
)]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{LazyLock, Mutex};

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue};
use http_body_util::Empty;
use reqwest::{Method, Url};
use tokio::runtime::Runtime;

use crate::{GrantedHttp, PluginHttpRequest, PluginSecrets, is_forbidden_header};

/// Most headers of one input.
const MAX_HEADERS: usize = 64;

/// Request line that the server has to receive.
const REQUEST_LINE: &[u8] = b"GET /path?query HTTP/1.1";

/// Answer to each request.
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/// Time that is waited for a request, in seconds.
const WAIT_SECONDS: u64 = 20;

/// A server that keeps what it receives, and a plugin that is granted it.
struct Wire {
    runtime: Runtime,
    granted: GrantedHttp,
    url: Url,
    received: Receiver<Vec<u8>>,
}

static WIRE: LazyLock<Mutex<Wire>> = LazyLock::new(|| Mutex::new(Wire::new()));

impl Wire {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("this machine has a port");
        let address = listener.local_addr().expect("it is bound");
        let (sender, received) = channel();
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let sender = sender.clone();
                std::thread::spawn(move || answer(connection, &sender));
            }
        });
        let grant = format!("http://{address}").parse().expect("it is a grant");
        Self {
            runtime: tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("there is a runtime"),
            granted: GrantedHttp::new(&[grant], PluginSecrets::default()),
            url: Url::parse(&format!("http://{address}/path?query")).expect("it is one"),
            received,
        }
    }

    /// Sends a request, and returns the head that came; none where it was not sent.
    fn send(&self, headers: HeaderMap) -> Option<Vec<u8>> {
        let url = self.url.clone();
        let reach = self.granted.reach("GET", &url, &[]);
        let reach = reach.expect("it is granted");
        let request = PluginHttpRequest {
            method: Method::GET,
            url,
            headers,
            body: Empty::<Bytes>::new(),
            open: self.runtime.block_on(self.granted.open())?,
        };
        let sent = self
            .runtime
            .block_on(self.granted.send(request, reach, || false));
        sent.ok()?;
        let wait = std::time::Duration::from_secs(WAIT_SECONDS);
        let head = self.received.recv_timeout(wait);
        let head = head.expect("what was answered was received");
        assert!(self.received.try_recv().is_err(), "it is a second request");
        Some(head)
    }
}

/// Receives requests without a body from a connection, and answers each.
fn answer(mut connection: TcpStream, sender: &Sender<Vec<u8>>) {
    let (mut head, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        match connection.read(&mut piece) {
            Ok(0) | Err(_) => return,
            Ok(read) => head.extend_from_slice(piece.get(..read).unwrap_or_default()),
        }
        while let Some(end) = head.windows(4).position(|end| end == b"\r\n\r\n") {
            let rest = head.split_off(end + 4);
            let _ = sender.send(std::mem::replace(&mut head, rest));
            if connection.write_all(ANSWER).is_err() {
                return;
            }
        }
    }
}

/// Headers of a request, one on each line: whatever a plugin writes, its host receives one request,
/// with the host's own name, these headers and none of a connection.
pub fn request_headers(data: &[u8]) {
    let mut headers = HeaderMap::new();
    for line in data.split(|byte| *byte == b'\n').take(MAX_HEADERS) {
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let (name, value) = (parts.next(), parts.next());
        let name = name.and_then(|name| HeaderName::from_bytes(name).ok());
        let value = value.and_then(|value| HeaderValue::from_bytes(value.trim_ascii()).ok());
        if let (Some(name), Some(value)) = (name, value)
            // The body that it measures is another's to check.
            && !is_forbidden_header(&name)
            && name != CONTENT_LENGTH
        {
            headers.append(name, value);
        }
    }
    let wire = WIRE.lock().unwrap_or_else(|wire| {
        WIRE.clear_poison();
        wire.into_inner()
    });
    let Some(head) = wire.send(headers.clone()) else {
        return;
    };
    let head = head.strip_suffix(b"\r\n\r\n").expect("a head ends so");
    let mut lines = head.split(|byte| *byte == b'\n').map(|line| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        assert!(!line.contains(&b'\r'), "{:?}", line.escape_ascii());
        line
    });
    assert_eq!(lines.next(), Some(REQUEST_LINE));
    let mut sent = HeaderMap::new();
    for line in lines {
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = line.split_at(colon.expect("it is a header"));
        let name = HeaderName::from_bytes(name).expect("it is a name");
        let value = value.get(1..).unwrap_or_default().trim_ascii();
        sent.append(name, HeaderValue::from_bytes(value).expect("it is a value"));
    }
    let all = |headers: &HeaderMap, name: &HeaderName| -> Vec<_> {
        headers.get_all(name).iter().cloned().collect()
    };
    let authority = wire.url.authority();
    assert_eq!(all(&sent, &HOST), [authority], "{sent:?}");
    for name in sent.keys() {
        assert!(*name == HOST || !is_forbidden_header(name), "{name}");
    }
    for name in headers.keys() {
        assert_eq!(all(&sent, name), all(&headers, name), "{name}");
    }
}
