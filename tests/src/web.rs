//! Web server on this machine, for servers that fetch pages.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;

/// Pages at a port of its own, for as long as the process lives.
#[derive(Debug)]
pub struct Web {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Web {
    /// Serves these pages, each with its path, its type and its text, and no others.
    ///
    /// # Errors
    /// There is no port to be had.
    pub fn serve(pages: &[(&str, &str, &str)]) -> Result<Self> {
        let pages: BTreeMap<String, (String, String)> = pages
            .iter()
            .map(|&(path, kind, text)| (path.to_owned(), (kind.to_owned(), text.to_owned())))
            .collect();
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let heard = asked.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (pages, heard) = (pages.clone(), heard.clone());
                // A browser opens connections on which it says nothing.
                std::thread::spawn(move || answer(stream, &pages, &heard));
            }
        });
        Ok(Self { address, asked })
    }

    /// Returns the URL of a path.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the paths that were asked for so far.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.clone()
    }
}

/// Answers one request and closes the connection. A client that breaks off is none
/// of a web server's business.
fn answer(
    mut stream: TcpStream,
    pages: &BTreeMap<String, (String, String)>,
    asked: &Mutex<Vec<String>>,
) {
    let mut lines = BufReader::new(&stream)
        .lines()
        .map_while(std::io::Result::ok);
    let Some(first) = lines.next() else { return };
    let path = first.split(' ').nth(1).unwrap_or("/").to_owned();
    // All of the head is read, because closing a connection that has unread bytes
    // resets it.
    lines.take_while(|line| !line.is_empty()).for_each(drop);
    let (status, kind, text) = match pages.get(&path) {
        Some((kind, text)) => ("200 OK", kind.as_str(), text.as_str()),
        None => ("404 Not Found", "text/plain", "There is no such page."),
    };
    asked
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(path);
    let length = text.len();
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: {kind}; charset=utf-8\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{text}"
    );
}
