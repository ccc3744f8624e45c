//! Client side of the control socket, for `dormouse status` and other commands.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dormouse_files::paths;
use dormouse_jsonrpc::{LineReader, Message, MessageError, MessageLimits};
use futures::future::join_all;
use interprocess::local_socket::tokio::{Stream, prelude::*};
use serde_json::Value;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::time::{sleep, timeout};

use super::{RpcError, place, wire};

/// Time that a host may take to answer. One that is stopped or stuck must not hold up the command
/// that asks.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// The longest answer, in bytes.
const MAX_ANSWER_BYTES: usize = 64 << 20;

/// Age of a socket below which it is not taken for one left behind: a socket that is just being
/// made refuses connections, too.
const SETTLED: Duration = Duration::from_secs(10);

/// Time within which a host that broke off may be seen to have ended, and interval between looks.
const ENDING_TIMEOUT: Duration = Duration::from_secs(1);
const ENDING_INTERVAL: Duration = Duration::from_millis(20);

/// A running host.
#[derive(Debug)]
pub struct RunningHost {
    /// Its process id.
    pub pid: u32,
    file: PathBuf,
    /// Time that it may take to answer.
    pub(super) patience: Duration,
    lines: LineReader<BufReader<Stream>>,
    asked: u64,
}

/// Answer of one host.
#[derive(Debug)]
pub struct HostAnswer {
    /// The host's process id.
    pub pid: u32,
    /// Result, or the error of the request.
    pub outcome: Result<Value, RequestError>,
}

/// Reason for which a host has not carried out a request.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The host is stopped or stuck.
    #[error("it does not answer within {0:?}")]
    Silent(Duration),
    /// The connection broke, or the answer was too long.
    #[error("the connection broke: {0}")]
    Broken(#[from] io::Error),
    /// The answer is not JSON of a known result.
    #[error("its answer is not understood: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// The answer is no message.
    #[error("its answer is not understood: {0}")]
    NoMessage(#[from] MessageError),
    /// The host refused the request.
    #[error(transparent)]
    Refused(RpcError),
}

/// Returns the running hosts, by process id. Sockets that killed hosts have left behind are removed
/// on the way.
pub async fn hosts() -> Vec<RunningHost> {
    let folders = paths::runtime_dirs().unwrap_or_default();
    let found = join_all(folders.iter().map(|folder| hosts_in(folder))).await;
    let mut hosts: Vec<_> = found.into_iter().flatten().collect();
    hosts.sort_unstable_by_key(|host| host.pid);
    hosts
}

/// Sends all running hosts the same request at once. A host that ends meanwhile is left out.
pub async fn ask_all(method: &str, params: Value) -> Vec<HostAnswer> {
    ask_each(hosts().await, method, params).await
}

/// Does the same as [`ask_all`], and waits so long for each answer.
pub async fn ask_all_within(patience: Duration, method: &str, params: Value) -> Vec<HostAnswer> {
    let mut hosts = hosts().await;
    for host in &mut hosts {
        host.patience = patience;
    }
    ask_each(hosts, method, params).await
}

pub(super) async fn ask_each(
    hosts: Vec<RunningHost>,
    method: &str,
    params: Value,
) -> Vec<HostAnswer> {
    let asked = hosts.into_iter().map(async |mut host| {
        let outcome = host.request(method, params.clone()).await;
        if matches!(outcome, Err(RequestError::Broken(_))) && has_ended(&host.file).await {
            return None;
        }
        let pid = host.pid;
        Some(HostAnswer { pid, outcome })
    });
    join_all(asked).await.into_iter().flatten().collect()
}

/// Checks whether a host has ended, by its file: its connections end before the file is removed, or
/// after.
async fn has_ended(file: &Path) -> bool {
    let ended = async {
        while !matches!(open(file).await, Err(error) if is_gone(&error)) {
            sleep(ENDING_INTERVAL).await;
        }
    };
    timeout(ENDING_TIMEOUT, ended).await.is_ok()
}

pub(super) async fn hosts_in(folder: &Path) -> Vec<RunningHost> {
    let files = place::files(folder);
    let found = files.iter().map(|(pid, file)| connect(*pid, file));
    join_all(found).await.into_iter().flatten().collect()
}

async fn connect(pid: u32, file: &Path) -> Option<RunningHost> {
    let error = match timeout(ANSWER_TIMEOUT, open(file)).await {
        Ok(Ok(stream)) => {
            return Some(RunningHost {
                pid,
                file: file.to_owned(),
                patience: ANSWER_TIMEOUT,
                lines: LineReader::new(BufReader::new(stream), MAX_ANSWER_BYTES),
                asked: 0,
            });
        }
        Ok(Err(error)) => error,
        Err(elapsed) => elapsed.into(),
    };
    let dead = is_gone(&error);
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

async fn open(file: &Path) -> io::Result<Stream> {
    Stream::connect(place::name(file)?).await
}

/// Checks whether an error of connecting means that nobody listens there.
fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound
    )
}

impl RunningHost {
    /// Sends the host a request, and waits for its answer for 5 seconds, if no other time is set.
    ///
    /// # Errors
    /// The host did not answer, or has refused or failed.
    pub async fn request(&mut self, method: &str, params: Value) -> Result<Value, RequestError> {
        let patience = self.patience;
        timeout(patience, self.exchange(method, params))
            .await
            .map_err(|_| RequestError::Silent(patience))?
    }

    async fn exchange(&mut self, method: &str, params: Value) -> Result<Value, RequestError> {
        self.asked += 1;
        let id = self.asked.to_string();
        let params = (!params.is_null()).then(|| params.to_string());
        let request = dormouse_jsonrpc::request(&id, method, params.as_deref());
        let stream = self.lines.get_mut().get_mut();
        stream.write_all(request.as_bytes()).await?;
        stream.write_all(b"\n").await?;
        loop {
            let Some(line) = wire::read_line(&mut self.lines).await? else {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            };
            let message = Message::read(&line, &MessageLimits::default());
            let message = message.map_err(|unreadable| unreadable.error)?;
            // What is not ours answers a request that was given up on.
            if let Message::Response {
                id: Some(of),
                outcome,
            } = message
                && of.as_str() == id
            {
                return match outcome {
                    Ok(result) => Ok(serde_json::from_str(result)?),
                    Err(error) => Err(RequestError::Refused(serde_json::from_str(error)?)),
                };
            }
        }
    }
}
