//! Work on large texts.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Length from which on a text is large, in bytes: reading it takes about a millisecond.
const LARGE_BYTES: usize = 256 << 10;

/// Times as long as reading a text that it takes to show what a server says in it, up to 330 ns for a
/// byte: marks are looked for in each of its characters, again and again.
pub const SHOWING_TIMES: usize = 64;

/// Whether a text of that length is large.
pub(crate) fn is_large(bytes: usize) -> bool {
    bytes > LARGE_BYTES
}

/// Does work that takes long for a long text, without a worker of the runtime having to wait for
/// it: other calls, other servers and signals go on meanwhile.
pub fn without_blocking<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    let may_move = || {
        let runtime = Handle::try_current().map(|runtime| runtime.runtime_flavor());
        matches!(runtime, Ok(RuntimeFlavor::MultiThread))
    };
    match is_large(bytes) && may_move() {
        true => tokio::task::block_in_place(work),
        false => work(),
    }
}
