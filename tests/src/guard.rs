//! Proxy in front of a server that listens: no request passes without a certain header.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;

/// Port of its own that leads to another one.
#[derive(Debug)]
pub struct Guard {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

/// Request that came to the proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Its method, such as `POST`.
    pub method: String,
    /// Whether it was passed on.
    pub passed: bool,
}

impl Guard {
    /// Starts a proxy in front of that address, which passes requests on that have
    /// `Authorization: VALUE`.
    ///
    /// # Errors
    /// There is no port to be had.
    pub fn stand(before: SocketAddr, value: &str) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let (noted, value) = (seen.clone(), value.to_owned());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (noted, value) = (noted.clone(), value.clone());
                // A client that breaks off is none of a guard's business.
                std::thread::spawn(move || let_in(stream, before, &value, &noted));
            }
        });
        Ok(Self { address, seen })
    }

    /// Returns the URL of a path behind the proxy.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the requests so far.
    #[must_use]
    pub fn seen(&self) -> Vec<Seen> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.clone()
    }
}

/// Passes one request on, if it may pass. The connection ends with its answer, so that each request
/// has to pass by itself.
fn let_in(
    client: TcpStream,
    before: SocketAddr,
    value: &str,
    seen: &Mutex<Vec<Seen>>,
) -> std::io::Result<()> {
    let mut from_client = BufReader::new(&client);
    let request = Head::read(&mut from_client)?;
    if request.first.is_empty() {
        // Clients open a connection in stock and close it unused: nobody asked.
        return Ok(());
    }
    let method = request.first.split(' ').next().unwrap_or_default();
    let passed = request.value("authorization") == Some(value);
    seen.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(Seen {
            method: method.to_owned(),
            passed,
        });
    let mut to_client = &client;
    if !passed {
        return to_client.write_all(
            b"HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        );
    }
    let server = TcpStream::connect(before)?;
    let (mut to_server, mut from_server) = (&server, BufReader::new(&server));
    to_server.write_all(request.last_one().as_bytes())?;
    let length = request.value("content-length").unwrap_or("0").parse();
    let mut body = from_client.by_ref().take(length.unwrap_or_default());
    std::io::copy(&mut body, &mut to_server)?;
    std::thread::scope(|scope| {
        // A client that has gone no longer waits for an answer, which may be a
        // stream without an end.
        scope.spawn(|| {
            let _ = from_client.read(&mut [0]);
            let _ = server.shutdown(Shutdown::Both);
        });
        let answer = Head::read(&mut from_server)?;
        to_client.write_all(answer.last_one().as_bytes())?;
        let copied = std::io::copy(&mut from_server, &mut to_client);
        let _ = client.shutdown(Shutdown::Both);
        copied.map(drop)
    })
}

/// The first line of a request or an answer, and its headers.
struct Head {
    first: String,
    headers: Vec<(String, String)>,
}

impl Head {
    fn read(from: &mut impl BufRead) -> std::io::Result<Self> {
        let mut lines = from.lines();
        let mut line = || lines.next().unwrap_or(Ok(String::new()));
        let first = line()?;
        let mut headers = Vec::new();
        loop {
            let line = line()?;
            let Some((name, value)) = line.split_once(':') else {
                return Ok(Self { first, headers });
            };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }

    fn value(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the same head, as the last one of its connection.
    fn last_one(&self) -> String {
        let mut head = format!("{}\r\n", self.first);
        for (name, value) in &self.headers {
            if name != "connection" && name != "keep-alive" {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        head + "connection: close\r\n\r\n"
    }
}
