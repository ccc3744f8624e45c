//! The end of a child, and of what it has started.

use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use super::child_status::ChildStatus;
use super::process::ChildProcess;
use crate::reaper::{LOOK, TERMINATION_TIMEOUT, WatchedGroup};

/// Time that a child may take to end after its input has ended.
const LEAVE: Duration = Duration::from_secs(1);

/// Waits for the end of a child, or ends it, and then all that it has started.
pub(super) async fn attend(
    mut process: ChildProcess,
    watched: WatchedGroup,
    child_status: Arc<ChildStatus>,
) {
    let status = tokio::select! {
        status = process.wait() => Some(status),
        () = child_status.closing.cancelled() => None,
    };
    let status = match status {
        Some(status) => status,
        // Its input has ended by now, which is how it is asked to leave.
        None => leave(&mut process).await,
    };
    let _ = child_status.status.set(ended(status));
    child_status.exited.cancel();
    // What it has started may still have its stdout, and answer.
    child_status.closing.cancelled().await;
    if process.lives() {
        process.terminate();
        let end = tokio::time::Instant::now() + TERMINATION_TIMEOUT;
        while process.lives() && tokio::time::Instant::now() < end {
            tokio::time::sleep(LOOK).await;
        }
        process.kill();
    }
    watched.forget();
    child_status.gone.cancel();
}

async fn leave(process: &mut ChildProcess) -> io::Result<ExitStatus> {
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
