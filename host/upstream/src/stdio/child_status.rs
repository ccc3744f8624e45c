//! State of a child.

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use tokio_util::sync::CancellationToken;

use super::stderr_tail::StderrTail;

/// State of a child.
pub(super) struct ChildStatus {
    pub(super) words: StderrTail,
    /// Reason for which it was given up, where it did not end by itself.
    pub(super) given_up: OnceLock<String>,
    pub(super) status: OnceLock<String>,
    /// Beginning of the first line of its standard output that is no message, without secrets.
    pub(super) no_message: OnceLock<String>,
    /// Whether the child has left a part of its input unread.
    pub(super) has_unread: AtomicBool,
    /// Whether a process that the child has started has said something after the child's end.
    pub(super) has_heir: AtomicBool,
    /// Cancelled when the child is to end.
    pub(super) closing: CancellationToken,
    /// Cancelled when the child has ended.
    pub(super) exited: CancellationToken,
    /// Cancelled when all that the child has started has ended, too.
    pub(super) gone: CancellationToken,
}
