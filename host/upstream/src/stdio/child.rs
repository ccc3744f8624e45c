//! An upstream that is a child process: a message for each line of its standard
//! streams.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use dormouse_jsonrpc::LineReader;
use dormouse_launch::Stdio;
use dormouse_policy::LogBudget;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::io::BufReader;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::child_status::ChildStatus;
use super::command::{command, unstarted};
use super::input::{LAST_OUTPUT_TIMEOUT, Queued};
use super::process::ChildProcess;
use super::stderr_tail::StderrTail;
use super::{end, input, output};
use crate::messages::channel::{Channel, Lost, MessageSender, Outgoing};
use crate::messages::read_room::ReadRoom;
use crate::reaper::Reaper;
use crate::server_secrets::ServerSecrets;

/// Most messages that may wait to be written, and most that may wait to be handled.
const QUEUE: usize = 64;

struct Pipe {
    pid: u32,
    queue: mpsc::Sender<Queued>,
    child_status: Arc<ChildStatus>,
    /// Ends the child when nobody can talk to it any more.
    _closing: DropGuard,
}

/// Starts a child.
///
/// # Errors
/// The child cannot be started.
pub(crate) fn open(
    reaper: &Arc<Reaper>,
    server: &str,
    log: Arc<LogBudget>,
    stdio: &Stdio,
    secrets: &Arc<ServerSecrets>,
    room: &ReadRoom,
) -> Result<Channel, Lost> {
    #[allow(unused_mut, reason = "elsewhere nobody has to find what it starts")]
    let mut command = command(stdio)?;
    #[cfg(unix)]
    {
        let (name, host) = reaper.variable();
        command.env(name, host);
    }
    reaper.ready();
    let (process, (stdin, stdout, stderr)) =
        ChildProcess::spawn(command).map_err(|error| Lost::Broken(unstarted(stdio, &error)))?;
    let pid = process.id();
    let watched = reaper.watch(pid);
    tracing::debug!("server `{server}`: process {pid} runs `{}`", stdio.shown());
    let child_status = Arc::new(ChildStatus {
        words: StderrTail::new(server, Arc::clone(secrets), log, stdio.pass_env.clone()),
        given_up: OnceLock::new(),
        no_message: OnceLock::new(),
        status: OnceLock::new(),
        has_unread: AtomicBool::new(false),
        has_heir: AtomicBool::new(false),
        closing: CancellationToken::new(),
        exited: CancellationToken::new(),
        gone: CancellationToken::new(),
    });
    let (queue, queued) = mpsc::channel(QUEUE);
    let (said, incoming) = mpsc::channel(QUEUE);
    let writing = tokio::spawn(input::write(stdin, queued, Arc::clone(&child_status)));
    let hearing = tokio::spawn({
        let child_status = Arc::clone(&child_status);
        async move { child_status.words.hear(stderr).await }
    });
    tokio::spawn({
        let (child_status, server) = (Arc::clone(&child_status), server.to_owned());
        let room = room.clone();
        async move {
            let stdout = BufReader::with_capacity(64 << 10, stdout);
            let lines = LineReader::new(stdout, room.message_bytes());
            output::read(&server, lines, &room, &said, &child_status).await;
            // There is nothing to be had from it any more, unless why.
            let last = futures::future::join(child_status.exited.cancelled(), hearing);
            if tokio::time::timeout(LAST_OUTPUT_TIMEOUT, last)
                .await
                .is_err()
            {
                let closed = || "it has closed its stdout".to_owned();
                let _ = child_status.given_up.get_or_init(closed);
            }
            child_status.closing.cancel();
            // Only then is it known what it has left unread. The end of what it says
            // comes after that.
            let _ = writing.await;
            drop(said);
        }
    });
    tokio::spawn(end::attend(process, watched, Arc::clone(&child_status)));
    let closing = child_status.closing.clone().drop_guard();
    let sender = Arc::new(Pipe {
        pid,
        queue,
        child_status,
        _closing: closing,
    });
    Ok(Channel { sender, incoming })
}

impl MessageSender for Pipe {
    fn send(&self, message: Outgoing) -> BoxFuture<'static, Result<(), Lost>> {
        let queue = self.queue.clone();
        async move {
            let broken = || Lost::Broken("it takes no more input".into());
            let (written, done) = oneshot::channel();
            let queued = queue.send((message.text, written)).await;
            queued.map_err(|_| broken())?;
            done.await
                .map_err(|_| broken())?
                .map_err(|error| Lost::Broken(format!("it takes no more input: {error}")))
        }
        .boxed()
    }

    fn close(&self) -> BoxFuture<'static, ()> {
        let child_status = Arc::clone(&self.child_status);
        async move {
            child_status.closing.cancel();
            child_status.gone.cancelled().await;
        }
        .boxed()
    }

    fn end_reason(&self) -> String {
        let child_status = &self.child_status;
        let status = child_status
            .given_up
            .get()
            .or_else(|| child_status.status.get());
        let what = status.map_or("it was still running, and is ended", String::as_str);
        // Who has waited for an answer in vain may have waited for that.
        let printed = child_status.no_message.get();
        let printed = printed.map(|line| format!("; it printed what is no message: `{line}`"));
        child_status
            .words
            .below(&format!("{what}{}", printed.unwrap_or_default()))
    }

    fn has_unread(&self) -> bool {
        self.child_status.has_unread.load(Ordering::Acquire)
    }

    fn pid(&self) -> Option<u32> {
        Some(self.pid)
    }
}
