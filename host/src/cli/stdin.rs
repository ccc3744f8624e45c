//! Lines that are typed on stdin.

use std::io::BufRead as _;

use tokio::sync::mpsc;

/// The lines of stdin, until it ends. They are read by a thread that nobody waits for:
/// it may be at a line that never ends.
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

/// Throws away what was typed before the question was asked: it is no answer to what nobody had
/// read by then.
pub(super) fn forget_typed_ahead() {
    #[cfg(unix)]
    {
        use rustix::termios::{QueueSelector, tcflush};
        let _ = tcflush(std::io::stdin(), QueueSelector::IFlush);
    }
}
