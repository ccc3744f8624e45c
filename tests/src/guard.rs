//! A door in front of a server that listens: nobody passes without a certain
//! header.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;

/// A port of its own that leads to another one.
#[derive(Debug)]
pub struct Guard {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

/// A request that came to the door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Its method, such as `POST`.
    pub method: String,
    /// Whether it was let in.
    pub passed: bool,
}

impl Guard {
    /// Stands in front of that address, and lets in who sends
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

    /// The URL of a path behind the door.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests so far.
    #[must_use]
    pub fn seen(&self) -> Vec<Seen> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.clone()
    }
}

/// Takes one request in, if it may pass. The connection ends with its answer, so
/// that each request has to pass by itself.
fn let_in(
    client: TcpStream,
    before: SocketAddr,
    value: &str,
    seen: &Mutex<Vec<Seen>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(client.try_clone()?);
    let mut head = String::new();
    reader.read_line(&mut head)?;
    let method = head.split(' ').next().unwrap_or_default().to_owned();
    let mut passed = false;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        let (name, content) = line.split_once(':').unwrap_or_default();
        passed |= name.eq_ignore_ascii_case("authorization") && content.trim() == value;
        if !name.eq_ignore_ascii_case("connection") {
            head.push_str(&line);
        }
    }
    seen.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(Seen { method, passed });
    let mut client = client;
    if !passed {
        return client.write_all(
            b"HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        );
    }
    let mut server = TcpStream::connect(before)?;
    server.write_all(head.as_bytes())?;
    server.write_all(b"Connection: close\r\n\r\n")?;
    let mut to_server = server.try_clone()?;
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut reader, &mut to_server);
        // Who has gone no longer waits for an answer.
        let _ = to_server.shutdown(Shutdown::Both);
    });
    std::io::copy(&mut server, &mut client)?;
    client.shutdown(Shutdown::Both)
}
