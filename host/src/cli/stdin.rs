//! Lines that are typed on stdin.

use std::io::BufRead as _;

use tokio::sync::mpsc;

/// Returns the lines of stdin, until it ends. They are read by a thread that is never joined: it
/// may wait for a line for ever.
pub(super) fn lines() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Drops the input that was typed before the question was asked: it is no answer to a question that
/// was not read.
pub(super) fn forget_typed_ahead() {
    #[cfg(unix)]
    {
        use rustix::termios::{QueueSelector, tcflush};
        let _ = tcflush(std::io::stdin(), QueueSelector::IFlush);
    }
}
