//! Signals that ask to stop.
//!
//! They are handled by a thread of their own, so that a host can be ended whatever its other
//! threads are busy with.

use std::sync::mpsc;
use std::time::Duration;

use anyhow::Context as _;
use tokio_util::sync::CancellationToken;

use crate::cli::output;

/// Time that the last message may take: the process that reads stderr may have stopped doing so.
const MESSAGE_TIMEOUT: Duration = Duration::from_millis(100);

/// Exit code of a host that was ended at once.
const STOPPED_AT_ONCE: i32 = 1;

/// A thread that begins to hear signals.
pub(super) struct SignalThread {
    is_ready: mpsc::Receiver<anyhow::Result<()>>,
}

impl SignalThread {
    /// Waits until the signals are heard.
    ///
    /// # Errors
    /// They cannot be heard.
    pub(super) fn wait(self) -> anyhow::Result<()> {
        self.is_ready.recv().context("signals cannot be heard")?
    }
}

/// Starts a thread that cancels `stop` on SIGTERM and SIGINT (elsewhere Ctrl-C). The second time it
/// ends the process, whatever is still going on.
///
/// # Errors
/// No thread can be started.
pub(super) fn stop_on_signal(stop: &CancellationToken) -> anyhow::Result<SignalThread> {
    let stop = stop.clone();
    let (ready, is_ready) = mpsc::channel();
    let hear = move || {
        // A runtime of this thread's own: none of its tasks waits for a thread of the
        // host's.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = match runtime {
            Ok(runtime) => runtime,
            Err(error) => return drop(ready.send(Err(error.into()))),
        };
        runtime.block_on(async {
            let mut signals = match Signals::new() {
                Ok(signals) => signals,
                Err(error) => return drop(ready.send(Err(error))),
            };
            let _ = ready.send(Ok(()));
            signals.next().await;
            stop.cancel();
            signals.next().await;
            end_at_once();
        });
    };
    let thread = std::thread::Builder::new().name("signals".into());
    thread
        .spawn(hear)
        .context("no thread can be started that hears signals")?;
    Ok(SignalThread { is_ready })
}

/// Prints that the process ends, and ends it, even if the message is not read.
fn end_at_once() {
    let (said, is_said) = mpsc::channel();
    let say = move || {
        output::say("stopped at once by a second signal");
        let _ = said.send(());
    };
    if std::thread::Builder::new().spawn(say).is_ok() {
        let _ = is_said.recv_timeout(MESSAGE_TIMEOUT);
    }
    std::process::exit(STOPPED_AT_ONCE);
}

#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> anyhow::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        Ok(Self {
            terminate: signal(SignalKind::terminate()).context("SIGTERM cannot be heard")?,
            interrupt: signal(SignalKind::interrupt()).context("SIGINT cannot be heard")?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> anyhow::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Child, Command, Stdio};

    use rustix::process::{Pid, Signal, kill_process};

    use super::*;

    /// Runs a host all of whose threads are busy for ever, for the test below.
    #[test]
    #[ignore = "a process that the other test here starts"]
    fn stuck_host() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let stop = CancellationToken::new();
            stop_on_signal(&stop).unwrap().wait().unwrap();
            let (stuck, mut is_stuck) = tokio::sync::mpsc::channel(2);
            for _ in 0..2 {
                let stuck = stuck.clone();
                tokio::spawn(async move {
                    stuck.try_send(()).unwrap();
                    loop {
                        std::thread::park();
                    }
                });
            }
            is_stuck.recv().await;
            is_stuck.recv().await;
            eprintln!("stuck");
            stop.cancelled().await;
            eprintln!("stopping");
            loop {
                std::thread::park();
            }
        });
    }

    fn signal(process: &Child) {
        let pid = Pid::from_raw(i32::try_from(process.id()).unwrap()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
    }

    #[test]
    fn the_second_signal_ends_a_host_all_of_whose_threads_are_busy() {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "cli::serve::signals::tests::stuck_host"])
            .args(["--ignored", "--nocapture"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(process.stderr.take().unwrap()).lines();
        assert!(said.any(|line| line.unwrap() == "stuck"));
        signal(&process);
        assert!(said.any(|line| line.unwrap() == "stopping"));
        signal(&process);
        let status = process.wait().unwrap();
        assert_eq!(status.code(), Some(STOPPED_AT_ONCE), "{status}");
        assert!(said.any(|line| line.unwrap().contains("second signal")));
    }
}
