//! The host's side of the control socket.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use dormouse_files::paths;
use dormouse_jsonrpc::{LineReader, Message};
use dormouse_text::visible::visible_path;
use interprocess::local_socket::tokio::{Listener, Stream, prelude::*};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::methods::Methods;
use super::{RpcError, place, wire};
use crate::roster::Roster;

/// The longest request, in bytes.
const MAX_REQUEST_BYTES: usize = 64 << 10;

/// Most connections; further ones wait, and the one without a request for longest makes room.
const CONNECTIONS: usize = 16;

/// Time for which a connection may be silent, and time that reading an answer may take. No client
/// has a reason to stay.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// Connections without a request at the moment.
#[derive(Default)]
struct SilentConnections(Mutex<ByNumber>);

/// Connections by when they became silent.
#[derive(Default)]
struct ByNumber {
    last: u64,
    connections: BTreeMap<u64, CancellationToken>,
}

/// A connection that is silent until this is dropped.
struct SilentConnection {
    all: Arc<SilentConnections>,
    number: u64,
    /// Cancelled when another one needs its place.
    ended: CancellationToken,
}

impl SilentConnections {
    fn add(self: &Arc<Self>) -> SilentConnection {
        let ended = CancellationToken::new();
        let mut all = self.0.lock();
        all.last += 1;
        let number = all.last;
        all.connections.insert(number, ended.clone());
        SilentConnection {
            all: Arc::clone(self),
            number,
            ended,
        }
    }

    /// Ends the connection that has been silent for longest, if any is.
    fn end_oldest(&self) {
        if let Some((_, oldest)) = self.0.lock().connections.pop_first() {
            oldest.cancel();
        }
    }
}

impl Drop for SilentConnection {
    fn drop(&mut self) {
        self.all.0.lock().connections.remove(&self.number);
    }
}

/// A host's own socket. Clients that connect wait until the host answers.
///
/// The socket is made before its host reads any file: later changes are told to the host, and
/// earlier ones are in the files.
#[derive(Debug)]
pub struct Socket {
    listener: Listener,
    file: SocketFile,
}

/// Keeps a host reachable: dropped, it takes the socket away.
#[derive(Debug)]
pub struct ControlSocketGuard {
    _file: SocketFile,
    task: AbortHandle,
}

/// The file by which a host is found, removed when this is dropped.
#[derive(Debug)]
struct SocketFile(PathBuf);

impl Drop for ControlSocketGuard {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.0) {
            tracing::debug!("`{}` is not removed: {error}", self.0.display());
        }
    }
}

impl Socket {
    /// Makes the socket by which `dormouse status` and other commands reach this process. Needs a
    /// running tokio runtime.
    ///
    /// # Errors
    /// The socket cannot be made; a host does well to go on without one.
    pub fn bind() -> anyhow::Result<Self> {
        Self::bind_in(&paths::runtime_dir()?, std::process::id())
    }

    /// The socket of the host with a process id, in a folder.
    pub(super) fn bind_in(folder: &Path, pid: u32) -> anyhow::Result<Self> {
        let file = place::file(folder, pid);
        let bind = || {
            paths::make_private(folder)?;
            place::bind(&file)
        };
        let listener = bind().with_context(|| {
            format!(
                "the control socket `{}` cannot be made",
                visible_path(&file)
            )
        })?;
        Ok(Self {
            listener,
            file: SocketFile(file),
        })
    }

    /// Answers all clients until the guard is dropped.
    pub fn answer(self, roster: Arc<Roster>) -> ControlSocketGuard {
        self.answer_with(roster)
    }

    pub(super) fn answer_with(self, methods: impl Methods) -> ControlSocketGuard {
        let task = tokio::spawn(accept(self.listener, methods)).abort_handle();
        ControlSocketGuard {
            _file: self.file,
            task,
        }
    }
}

async fn accept(listener: Listener, methods: impl Methods) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let silent = Arc::<SilentConnections>::default();
    // Dropped with this task, and then its connections end, too.
    let mut connections = JoinSet::new();
    loop {
        match listener.accept().await {
            Ok(stream) => {
                if places.available_permits() == 0 {
                    silent.end_oldest();
                }
                let Ok(place) = places.clone().acquire_owned().await else {
                    return;
                };
                // Before it runs, so that it can be ended for the next one.
                let asking = silent.add();
                let methods = methods.clone();
                connections.spawn(async move {
                    let _place = place;
                    if let Err(error) = serve(&stream, &methods, asking).await {
                        tracing::debug!("a control connection ends: {error}");
                    }
                });
            }
            Err(error) => {
                // Most likely there are too many open files; it passes.
                tracing::warn!("a control connection is not accepted: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(
    stream: &Stream,
    methods: &impl Methods,
    mut asking: SilentConnection,
) -> std::io::Result<()> {
    let mut lines = LineReader::new(BufReader::new(stream), MAX_REQUEST_BYTES);
    let mut writer = stream;
    loop {
        let line = tokio::select! {
            line = timeout(IDLE_TIMEOUT, wire::read_line(&mut lines)) => line??,
            () = asking.ended.cancelled() => return Ok(()),
        };
        let silent = Arc::clone(&asking.all);
        drop(asking);
        let Some(line) = line else {
            return Ok(());
        };
        if let Some(answer) = answer(&line, methods).await {
            timeout(IDLE_TIMEOUT, writer.write_all(answer.as_bytes())).await??;
        }
        asking = silent.add();
    }
}

/// The answer to a message, if it is one that is answered.
async fn answer(line: &str, methods: &impl Methods) -> Option<String> {
    let (id, outcome) = match wire::request(line) {
        Ok(Message::Request { id, method, params }) => {
            let outcome = call(methods, &method, params).await;
            (id, outcome)
        }
        Ok(Message::Notification { method, params }) => {
            let _ = call(methods, &method, params).await;
            return None;
        }
        // Nobody was asked anything.
        Ok(Message::Response { .. }) => return None,
        Err((id, error)) => (id, Err(error)),
    };
    Some(wire::answer(&id, &outcome))
}

async fn call(
    methods: &impl Methods,
    method: &str,
    params: Option<&str>,
) -> Result<Value, RpcError> {
    let params = params.map(serde_json::from_str).transpose();
    let params = params.map_err(RpcError::bad_params)?;
    methods.call(method, params.unwrap_or_default()).await
}
