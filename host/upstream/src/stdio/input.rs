//! Standard input of a child: writing messages to it, and finding out whether the child reads them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::process::ChildStdin;
use tokio::sync::{mpsc, oneshot};

use super::child_status::ChildStatus;

/// Time to wait for the last output of a child.
pub(super) const LAST_OUTPUT_TIMEOUT: Duration = Duration::from_secs(1);

/// Message to write, and sender for the result of writing it.
pub(super) type Queued = (String, oneshot::Sender<io::Result<()>>);

/// Writes whole messages, also those whose senders have given up.
pub(super) async fn write(
    mut stdin: ChildStdin,
    mut queue: mpsc::Receiver<Queued>,
    child_status: Arc<ChildStatus>,
) {
    let unread = UnreadInput::of(&stdin);
    let writing = async {
        while let Some((mut text, written)) = queue.recv().await {
            text.push('\n');
            let result = stdin.write_all(text.as_bytes()).await;
            let broken = result.is_err();
            child_status.has_unread.fetch_or(broken, Ordering::Release);
            // Whoever wanted it written may have gone.
            let _ = written.send(result);
            if broken {
                return;
            }
        }
    };
    tokio::select! {
        () = writing => {}
        () = child_status.closing.cancelled() => {}
        () = deserted(&unread, &child_status) => {
            let why = match child_status.status.get() {
                Some(status) => format!("{status}, and what it has started reads nothing"),
                None => "it reads nothing any more".to_owned(),
            };
            let _ = child_status.given_up.set(why);
            child_status.closing.cancel();
        }
    }
    child_status
        .has_unread
        .fetch_or(unread.any(), Ordering::Release);
}

/// Waits until a child has ended and nobody reads its input. A process that the child has started
/// may go on in its place, but then that process writes or reads something.
async fn deserted(unread: &UnreadInput, child_status: &ChildStatus) {
    child_status.exited.cancelled().await;
    let mut before = false;
    loop {
        tokio::time::sleep(LAST_OUTPUT_TIMEOUT).await;
        let now = unread.any() && !child_status.has_heir.load(Ordering::Relaxed);
        if before && now {
            return;
        }
        before = now;
    }
}

/// Part of a child's input that has not been read yet, as far as the system tells.
struct UnreadInput {
    #[cfg(target_os = "linux")]
    pipe: Option<std::os::fd::OwnedFd>,
}

impl UnreadInput {
    #[cfg(target_os = "linux")]
    fn of(stdin: &ChildStdin) -> Self {
        use std::os::fd::AsFd as _;
        Self {
            pipe: stdin.as_fd().try_clone_to_owned().ok(),
        }
    }

    #[cfg(target_os = "linux")]
    fn any(&self) -> bool {
        let unread = self.pipe.as_ref().map(rustix::io::ioctl_fionread);
        matches!(unread, Some(Ok(bytes)) if bytes > 0)
    }

    #[cfg(not(target_os = "linux"))]
    fn of(_: &ChildStdin) -> Self {
        Self {}
    }

    #[cfg(not(target_os = "linux"))]
    fn any(&self) -> bool {
        false
    }
}
