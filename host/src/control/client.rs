//! The side of `dormouse status` and its like.

use std::io;
use std::path::Path;
use std::time::Duration;

use futures::future::join_all;
use interprocess::local_socket::tokio::{Stream, prelude::*};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::time::timeout;

use super::{RpcError, place, wire};
use crate::config::paths;

/// How long a host may take to answer. One that is stopped or stuck must not
/// hold up whoever asks.
const PATIENCE: Duration = Duration::from_secs(5);

/// The longest answer, in bytes.
const LONGEST: u64 = 64 << 20;

/// How old a socket is before it can be taken for left behind: one that is just
/// being made refuses connections as well.
const SETTLED: Duration = Duration::from_secs(10);

/// A running host.
#[derive(Debug)]
pub struct Host {
    /// Its process id.
    pub pid: u32,
    pub(super) patience: Duration,
    stream: BufReader<Stream>,
    asked: u64,
}

/// What one host said.
#[derive(Debug)]
pub struct Answer {
    /// The host's process id.
    pub pid: u32,
    /// What it said.
    pub outcome: Result<Value, RequestError>,
}

/// Why a host has not done what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// It is stopped or stuck.
    #[error("it does not answer within {0:?}")]
    Silent(Duration),
    /// It went away, or sent too much.
    #[error("the connection broke: {0}")]
    Broken(#[from] io::Error),
    /// It sent what is no answer.
    #[error("its answer is not understood: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// It said no.
    #[error(transparent)]
    Refused(RpcError),
}

/// The hosts that are running, by process id. Sockets that killed hosts have left
/// behind are removed on the way.
pub async fn hosts() -> Vec<Host> {
    match paths::runtime_dir() {
        Ok(folder) => hosts_in(&folder).await,
        Err(_) => Vec::new(),
    }
}

/// Asks all running hosts the same thing at once.
pub async fn ask_all(method: &str, params: Value) -> Vec<Answer> {
    let asked = hosts().await.into_iter().map(async |mut host| Answer {
        pid: host.pid,
        outcome: host.request(method, params.clone()).await,
    });
    join_all(asked).await
}

pub(super) async fn hosts_in(folder: &Path) -> Vec<Host> {
    let files = place::files(folder);
    let found = files.iter().map(|(pid, file)| connect(*pid, file));
    join_all(found).await.into_iter().flatten().collect()
}

async fn connect(pid: u32, file: &Path) -> Option<Host> {
    let stream = async { Stream::connect(place::name(file)?).await };
    let error = match timeout(PATIENCE, stream).await {
        Ok(Ok(stream)) => {
            return Some(Host {
                pid,
                patience: PATIENCE,
                stream: BufReader::new(stream),
                asked: 0,
            });
        }
        Ok(Err(error)) => error,
        Err(elapsed) => elapsed.into(),
    };
    let dead = matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound
    );
    let age = file
        .metadata()
        .and_then(|metadata| metadata.modified())
        .ok()
        .and_then(|modified| modified.elapsed().ok());
    if dead && age.is_some_and(|age| age > SETTLED) {
        tracing::debug!("host {pid} has left a socket behind, which is removed");
        let _ = std::fs::remove_file(file);
    } else if !dead {
        tracing::warn!("host {pid} cannot be reached: {error}");
    }
    None
}

impl Host {
    /// Asks the host to do something, and waits for its answer for 5 seconds.
    ///
    /// # Errors
    /// It did not answer, or has not done it.
    pub async fn request(&mut self, method: &str, params: Value) -> Result<Value, RequestError> {
        let patience = self.patience;
        timeout(patience, self.exchange(method, params))
            .await
            .map_err(|_| RequestError::Silent(patience))?
    }

    async fn exchange(&mut self, method: &str, params: Value) -> Result<Value, RequestError> {
        #[derive(Deserialize)]
        struct Envelope {
            id: Value,
            result: Option<Value>,
            error: Option<RpcError>,
        }
        self.asked += 1;
        let id = json!(self.asked);
        let mut request = json!({ "jsonrpc": "2.0", "id": id, "method": method });
        if let (Some(object), false) = (request.as_object_mut(), params.is_null()) {
            object.insert("params".to_owned(), params);
        }
        let line = wire::line(&request);
        self.stream.get_mut().write_all(line.as_bytes()).await?;
        loop {
            let Some(line) = wire::read_line(&mut self.stream, LONGEST).await? else {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            };
            let envelope: Envelope = serde_json::from_slice(&line)?;
            // What is not ours answers a request that was given up on.
            if envelope.id == id {
                return match envelope.error {
                    Some(error) => Err(RequestError::Refused(error)),
                    None => Ok(envelope.result.unwrap_or_default()),
                };
            }
        }
    }
}
