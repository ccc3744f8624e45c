//! Proxy between a client and a server over HTTP, which breaks a connection.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result};

/// Connection of a client that breaks.
#[derive(Debug, Clone, Copy)]
pub struct Break {
    /// Text that its request has to have in it.
    pub asked: &'static str,
    /// Text that has to have come of the answer by then.
    pub answered: &'static str,
    /// Whether the server gets to know of it.
    pub noticed: bool,
}

/// Proxy that passes requests on, each over a connection of its own, and breaks one of them, once.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    broken: Arc<Mutex<Breaks>>,
}

#[derive(Debug)]
struct Breaks {
    next: Option<Break>,
    /// Connections to the server whose clients have gone.
    held: Vec<TcpStream>,
    /// Events that were asked to be gone on after.
    resumed: Vec<String>,
    /// Number of streams that were asked for.
    gets: usize,
}

impl Proxy {
    /// Starts a proxy in front of a server for as long as the process lives.
    ///
    /// # Errors
    /// There is no port to be had.
    pub fn start(server: SocketAddr, next: Break) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let broken = Arc::new(Mutex::new(Breaks {
            next: Some(next),
            held: Vec::new(),
            resumed: Vec::new(),
            gets: 0,
        }));
        let breaks = broken.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let breaks = breaks.clone();
                // Whoever breaks off, breaks off.
                std::thread::spawn(move || pass(client, server, &breaks));
            }
        });
        Ok(Self { address, broken })
    }

    /// Returns the URL of the server behind the proxy.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Whether the connection has broken.
    #[must_use]
    pub fn has_broken(&self) -> bool {
        breaks(&self.broken).next.is_none()
    }

    /// Returns the ids of the events after which clients wanted to go on.
    #[must_use]
    pub fn resumed(&self) -> Vec<String> {
        breaks(&self.broken).resumed.clone()
    }

    /// Returns how often clients asked for a stream of news, without an event to go on after.
    #[must_use]
    pub fn listened(&self) -> usize {
        let breaks = breaks(&self.broken);
        breaks.gets - breaks.resumed.len()
    }
}

fn breaks(breaks: &Mutex<Breaks>) -> std::sync::MutexGuard<'_, Breaks> {
    breaks.lock().unwrap_or_else(PoisonError::into_inner)
}

fn pass(mut client: TcpStream, address: SocketAddr, broken: &Mutex<Breaks>) -> Result<()> {
    let mut asks = BufReader::new(client.try_clone()?);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        asks.read_line(&mut line)?;
        if line.starts_with("GET ") {
            breaks(broken).gets += 1;
        }
        let (name, value) = line.split_once(':').unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "host" => line = format!("host: {address}\r\n"),
            "connection" => continue,
            "content-length" => length = value.trim().parse()?,
            "last-event-id" => breaks(broken).resumed.push(value.trim().to_owned()),
            _ => {}
        }
        if line.trim().is_empty() {
            break;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    asks.read_exact(&mut body)?;
    let mut server = TcpStream::connect(address)?;
    server.write_all(format!("{head}connection: close\r\n\r\n").as_bytes())?;
    server.write_all(&body)?;
    let asked = head + &String::from_utf8(body).context("a body is no text")?;

    let (mut answered, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        let read = server.read(&mut buffer)?;
        let Some(some) = buffer.get(..read).filter(|some| !some.is_empty()) else {
            return Ok(());
        };
        client.write_all(some)?;
        answered.extend_from_slice(some);
        let text = String::from_utf8_lossy(&answered);
        let mut breaks = breaks(broken);
        let here = |next: &mut Break| asked.contains(next.asked) && text.contains(next.answered);
        if let Some(here) = breaks.next.take_if(here) {
            // The client has read it before it hears of the break.
            std::thread::sleep(std::time::Duration::from_millis(50));
            if !here.noticed {
                breaks.held.push(server);
            }
            return Ok(());
        }
    }
}
