//! Server of names (DNS over UDP) that says what a test wants, and keeps what it was asked.

use std::collections::BTreeMap;
use std::net::{IpAddr, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;

/// Port of servers of names.
const PORT: u16 = 53;

/// Bytes of a message in front of its question.
const HEAD: usize = 12;

/// Type of a record with an IPv4 address.
const A: u16 = 1;

/// Type of a record with an IPv6 address.
const AAAA: u16 = 28;

/// Server of names at 127.0.0.1, for as long as the process lives.
#[derive(Debug)]
pub struct NameServer {
    asked: Arc<Mutex<BTreeMap<String, usize>>>,
}

impl NameServer {
    /// Answers each question with the addresses of its name, which may depend on how often that was
    /// asked before. A name without any does not exist.
    ///
    /// # Errors
    /// The port is not to be had: it is the system's, outside of a network of the test's own.
    pub fn start(addresses: impl Fn(&str, usize) -> Vec<IpAddr> + Send + 'static) -> Result<Self> {
        let socket = UdpSocket::bind(("127.0.0.1", PORT))?;
        let asked: Arc<Mutex<BTreeMap<String, usize>>> = Arc::default();
        let all = asked.clone();
        std::thread::spawn(move || {
            let mut times: BTreeMap<(String, u16), usize> = BTreeMap::new();
            let mut buffer = [0; 1500];
            while let Ok((length, from)) = socket.recv_from(&mut buffer) {
                let message = buffer.get(..length).unwrap_or_default();
                let Some((name, kind, end)) = question(message) else {
                    continue;
                };
                let before = times.entry((name.clone(), kind)).or_default();
                let found = addresses(&name, *before);
                *before += 1;
                *all.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .entry(name)
                    .or_default() += 1;
                if let Some(answer) = answer(message, kind, end, &found) {
                    let _ = socket.send_to(&answer, from);
                }
            }
        });
        Ok(Self { asked })
    }

    /// Returns the names that it was asked for so far, each with how often.
    #[must_use]
    pub fn asked(&self) -> BTreeMap<String, usize> {
        let asked = self.asked.lock();
        asked.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Reads the question of a message: its name in small letters, its type, and where it ends.
fn question(message: &[u8]) -> Option<(String, u16, usize)> {
    let mut labels = Vec::new();
    let mut at = HEAD;
    loop {
        let length = usize::from(*message.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        let label = message.get(at..at + length)?;
        labels.push(String::from_utf8_lossy(label).to_ascii_lowercase());
        at += length;
    }
    let kind = message.get(at..at + 2)?;
    let kind = u16::from_be_bytes(kind.try_into().ok()?);
    Some((labels.join("."), kind, at + 4))
}

fn answer(message: &[u8], kind: u16, end: usize, found: &[IpAddr]) -> Option<Vec<u8>> {
    let records = found.iter().filter_map(|address| match (address, kind) {
        (IpAddr::V4(address), A) => Some(address.octets().to_vec()),
        (IpAddr::V6(address), AAAA) => Some(address.octets().to_vec()),
        _ => None,
    });
    let records: Vec<_> = records.collect();
    let code = if found.is_empty() { 3 } else { 0 };
    let count = u8::try_from(records.len()).ok()?;
    let mut said = message.get(..2)?.to_vec();
    // An answer, by one who asks others, to one question.
    said.extend([0x81, 0x80 | code, 0, 1, 0, count, 0, 0, 0, 0]);
    said.extend(message.get(HEAD..end)?);
    for record in records {
        // The name of the question, a class, and that it is not to be kept.
        said.extend([0xc0, 0x0c]);
        said.extend(kind.to_be_bytes());
        said.extend([0, 1, 0, 0, 0, 0, 0, u8::try_from(record.len()).ok()?]);
        said.extend(record);
    }
    Some(said)
}
