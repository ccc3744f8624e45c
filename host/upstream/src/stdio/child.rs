//! An upstream that is a child process: a message for each line of its standard
//! streams.

use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use dormouse_jsonrpc::{Line, LineReader};
use dormouse_launch::{Stdio, environment};
use dormouse_policy::LogBudget;
use dormouse_text::visible::visible_path;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufRead, BufReader};
use tokio::process::Command;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::child_status::ChildStatus;
use super::input;
use super::input::{LAST_OUTPUT_TIMEOUT, Queued};
use super::process::Process;
use super::stderr_tail::Words;
use crate::messages::channel::{
    Channel, Lost, MessageSender, Outgoing, QueueRoom, ReceivedMessage,
};
use crate::messages::large::without_blocking;
use crate::messages::read_room::{NoRoom, ReadRoom};
use crate::reaper::{LOOK, Reaper, TERMINATION_TIMEOUT, Watched};
use crate::server_secrets::ServerSecrets;

/// Most messages that may wait to be written, and most that may wait to be handled.
const QUEUE: usize = 64;

/// Time that a child may take to end after its input has ended.
const LEAVE: Duration = Duration::from_secs(1);

struct Pipe {
    pid: u32,
    queue: mpsc::Sender<Queued>,
    fate: Arc<ChildStatus>,
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
        Process::spawn(command).map_err(|error| Lost::Broken(unstarted(stdio, &error)))?;
    let pid = process.id();
    let watched = reaper.watch(pid);
    tracing::debug!("server `{server}`: process {pid} runs `{}`", stdio.shown());
    let fate = Arc::new(ChildStatus {
        words: Words::new(server, Arc::clone(secrets), log, stdio.pass_env.clone()),
        given_up: OnceLock::new(),
        status: OnceLock::new(),
        unheard: AtomicBool::new(false),
        has_heir: AtomicBool::new(false),
        closing: CancellationToken::new(),
        exited: CancellationToken::new(),
        gone: CancellationToken::new(),
    });
    let (queue, queued) = mpsc::channel(QUEUE);
    let (said, inlet) = mpsc::channel(QUEUE);
    let writing = tokio::spawn(input::write(stdin, queued, Arc::clone(&fate)));
    let hearing = tokio::spawn({
        let fate = Arc::clone(&fate);
        async move { fate.words.hear(stderr).await }
    });
    tokio::spawn({
        let (fate, server) = (Arc::clone(&fate), server.to_owned());
        let room = room.clone();
        async move {
            let stdout = BufReader::with_capacity(64 << 10, stdout);
            let lines = LineReader::new(stdout, room.message_bytes());
            read(&server, lines, &room, &said, &fate).await;
            // There is nothing to be had from it any more, unless why.
            let last = futures::future::join(fate.exited.cancelled(), hearing);
            if tokio::time::timeout(LAST_OUTPUT_TIMEOUT, last)
                .await
                .is_err()
            {
                let closed = || "it has closed its stdout".to_owned();
                let _ = fate.given_up.get_or_init(closed);
            }
            fate.closing.cancel();
            // Only then is it known what it has left unread. The end of what it says
            // comes after that.
            let _ = writing.await;
            drop(said);
        }
    });
    tokio::spawn(attend(process, watched, Arc::clone(&fate)));
    let closing = fate.closing.clone().drop_guard();
    let outlet = Arc::new(Pipe {
        pid,
        queue,
        fate,
        _closing: closing,
    });
    Ok(Channel { outlet, inlet })
}

fn command(stdio: &Stdio) -> Result<Command, Lost> {
    if stdio.command.is_empty() {
        return Err(Lost::Broken("its command is empty".into()));
    }
    let mut command = Command::new(program(&stdio.command));
    let own = stdio.env.iter().map(|(name, value)| (name, value.expose()));
    command
        .args(&stdio.args)
        .env_clear()
        .envs(environment::passed_on(&stdio.pass_env))
        .envs(own);
    if let Some(cwd) = &stdio.cwd {
        if !cwd.is_dir() {
            let why = format!("its `cwd` `{}` is no folder", visible_path(cwd));
            return Err(Lost::Broken(why));
        }
        command.current_dir(cwd);
    }
    Ok(command)
}

/// Returns the path of a program. Windows looks for `NAME.exe` only, and npm installs `NAME.cmd`.
#[cfg(windows)]
fn program(name: &str) -> std::path::PathBuf {
    let found = || {
        if name.contains(['/', '\\', '.']) {
            return None;
        }
        let kinds = std::env::var("PATHEXT").unwrap_or_else(|_| ".COM;.EXE;.BAT;.CMD".into());
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path)
            .flat_map(|folder| {
                let kinds: Vec<_> = kinds.split(';').collect();
                let files = kinds.into_iter().map(|kind| format!("{name}{kind}"));
                files.map(|file| folder.join(file)).collect::<Vec<_>>()
            })
            .find(|file| file.is_file())
    };
    found().unwrap_or_else(|| name.into())
}

#[cfg(not(windows))]
fn program(name: &str) -> &str {
    name
}

fn unstarted(stdio: &Stdio, error: &io::Error) -> String {
    // What was filled in may be a secret.
    let command = stdio.shown();
    match error.kind() {
        io::ErrorKind::NotFound if stdio.command.contains(['/', '\\']) => {
            let is_relative = Path::new(&stdio.command).is_relative();
            let folder = stdio.cwd.clone().or_else(|| std::env::current_dir().ok());
            match folder.filter(|_| is_relative && stdio.filled_in.is_empty()) {
                Some(folder) => format!(
                    "there is no program `{command}` in `{}`\n\
                     hint: a relative path is taken from there; give the whole path",
                    visible_path(&folder)
                ),
                None => {
                    let advice = stdio.advice_on_blanks();
                    let hint = advice.map(|advice| format!("\nhint: {advice}"));
                    format!(
                        "there is no program `{command}`{}",
                        hint.unwrap_or_default()
                    )
                }
            }
        }
        io::ErrorKind::NotFound => format!(
            "there is no program `{command}` in `PATH`\nhint: {}",
            (stdio.advice_on_blanks()).unwrap_or("install it, or give its full path")
        ),
        _ => format!("`{command}` cannot be started: {error}"),
    }
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
        let fate = Arc::clone(&self.fate);
        async move {
            fate.closing.cancel();
            fate.gone.cancelled().await;
        }
        .boxed()
    }

    fn epitaph(&self) -> String {
        let fate = &self.fate;
        let status = fate.given_up.get().or_else(|| fate.status.get());
        let what = status.map_or("it was still running, and is ended", String::as_str);
        fate.words.below(what)
    }

    fn unheard(&self) -> bool {
        self.fate.unheard.load(Ordering::Acquire)
    }

    fn pid(&self) -> Option<u32> {
        Some(self.pid)
    }
}

/// Reads messages until there are no more, or there is no room for one.
async fn read(
    server: &str,
    mut lines: LineReader<impl AsyncBufRead + Unpin>,
    room: &ReadRoom,
    said: &mpsc::Sender<ReceivedMessage>,
    fate: &ChildStatus,
) {
    let queue_room = QueueRoom::new(room.message_bytes());
    let mut place = room.place();
    let mut junk = false;
    loop {
        let mut no_room = NoRoom::Message(room.message_bytes());
        let has_room = |bytes| {
            let held = place.hold(bytes);
            held.map_err(|why| no_room = why).is_ok()
        };
        let line = match lines.next_within(has_room).await {
            Ok(Line::Whole(line) | Line::Unfinished(line)) => line,
            Ok(Line::TooLong(_)) => {
                let why = format!(
                    "it sent a message of {no_room}\nhint: `message` in \
                     `[servers.{server}.limits]` sets how long one may be"
                );
                let _ = fate.given_up.set(why);
                return;
            }
            Ok(Line::End) | Err(_) => return,
        };
        place.release();
        match without_blocking(line.len(), || message(line)) {
            Ok(message) => {
                if fate.exited.is_cancelled() {
                    fate.has_heir.store(true, Ordering::Relaxed);
                }
                let message = queue_room.take(ReceivedMessage::new(message)).await;
                if said.send(message).await.is_err() {
                    return;
                }
            }
            Err(line) if line.trim().is_empty() => {}
            Err(line) if !std::mem::replace(&mut junk, true) => {
                let text = fate.words.without_secrets(&line, 200);
                tracing::warn!(
                    "server `{server}` prints to stdout what is no message, and goes on: `{}`",
                    text.escape_debug()
                );
            }
            Err(_) => {}
        }
    }
}

/// Returns the message on a line, or the line where it has none. Some programs write text in the
/// encoding of their system, and a letter or two of that is no reason to leave a call unanswered.
fn message(line: Vec<u8>) -> Result<Box<RawValue>, String> {
    let line = String::from_utf8(line)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    let text = line.trim();
    if !text.starts_with(['{', '[']) {
        return Err(line);
    }
    let read: Option<&RawValue> = serde_json::from_str(text).ok();
    read.map(ToOwned::to_owned).ok_or(line)
}

/// Waits for the end of a child, or ends it, and then all that it has started.
async fn attend(mut process: Process, watched: Watched, fate: Arc<ChildStatus>) {
    let status = tokio::select! {
        status = process.wait() => Some(status),
        () = fate.closing.cancelled() => None,
    };
    let status = match status {
        Some(status) => status,
        // Its input has ended by now, which is how it is asked to leave.
        None => leave(&mut process).await,
    };
    let _ = fate.status.set(ended(status));
    fate.exited.cancel();
    // What it has started may still have its stdout, and answer.
    fate.closing.cancelled().await;
    if process.lives() {
        process.terminate();
        let end = tokio::time::Instant::now() + TERMINATION_TIMEOUT;
        while process.lives() && tokio::time::Instant::now() < end {
            tokio::time::sleep(LOOK).await;
        }
        process.kill();
    }
    watched.forget();
    fate.gone.cancel();
}

async fn leave(process: &mut Process) -> io::Result<ExitStatus> {
    if let Ok(status) = tokio::time::timeout(LEAVE, process.wait()).await {
        return status;
    }
    process.terminate();
    if let Ok(status) = tokio::time::timeout(TERMINATION_TIMEOUT, process.wait()).await {
        return status;
    }
    process.kill();
    process.wait().await
}

fn ended(status: io::Result<ExitStatus>) -> String {
    match status {
        Ok(status) => match status.code() {
            Some(code) => format!("it ended with exit code {code}"),
            None => format!("it was ended ({status})"),
        },
        Err(error) => format!("it has ended, and nobody knows how: {error}"),
    }
}
