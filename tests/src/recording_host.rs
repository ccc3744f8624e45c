//! HTTP host that records what it receives, byte for byte.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;

/// Host at a port of its own, for as long as the process lives.
#[derive(Debug)]
pub struct RecordingHost {
    address: SocketAddr,
    received: Arc<Mutex<Vec<String>>>,
}

impl RecordingHost {
    /// Answers each request, of which it gets the text, and closes its connection.
    ///
    /// # Errors
    /// There is no port to be had.
    pub fn start(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Result<Self> {
        Self::start_at("127.0.0.1:0", answer)
    }

    /// The same at a certain address.
    ///
    /// # Errors
    /// The address is not to be had.
    pub fn start_at(
        address: impl ToSocketAddrs,
        answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static,
    ) -> Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let received: Arc<Mutex<Vec<String>>> = Arc::default();
        let (answer, all) = (Arc::new(answer), received.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, all) = (answer.clone(), all.clone());
                std::thread::spawn(move || {
                    let request = read(&stream);
                    let text = String::from_utf8_lossy(&request).into_owned();
                    let answered = answer(&text);
                    all.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(text);
                    // A client that breaks off is none of a host's business.
                    let _ = (&stream).write_all(&answered);
                });
            }
        });
        Ok(Self { address, received })
    }

    /// Answers each request with that text, as HTTP.
    ///
    /// # Errors
    /// There is no port to be had.
    pub fn answering(text: &str) -> Result<Self> {
        let answer = http("200 OK", "content-type: text/plain\r\n", text);
        Self::start(move |_| answer.clone())
    }

    /// Returns the port at which it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns its host and port, as a URL has them.
    #[must_use]
    pub fn authority(&self) -> String {
        self.address.to_string()
    }

    /// Returns what it has received so far, each connection by itself. One that was opened and on
    /// which nothing was said is an empty text.
    #[must_use]
    pub fn received(&self) -> Vec<String> {
        let received = self.received.lock();
        received.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Returns an answer of HTTP, with more lines of its head.
#[must_use]
pub fn http(status: &str, more: &str, body: &(impl AsRef<[u8]> + ?Sized)) -> Vec<u8> {
    let body = body.as_ref();
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{more}content-length: {length}\r\n");
    [format!("{head}connection: close\r\n\r\n").as_bytes(), body].concat()
}

/// Reads a request, with its body.
fn read(mut stream: &TcpStream) -> Vec<u8> {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
    let mut request = Vec::new();
    let mut buffer = [0; 1 << 16];
    while !is_whole(&request) {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(read) => request.extend(buffer.iter().take(read)),
        }
    }
    request
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    if head.contains("transfer-encoding: chunked") {
        return body.ends_with("0\r\n\r\n");
    }
    let length = head.split_once("content-length: ");
    let length = length.and_then(|(_, rest)| rest.lines().next()?.parse().ok());
    body.len() >= length.unwrap_or(0)
}
