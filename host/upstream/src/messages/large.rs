//! Work on large texts.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Length from which on a text is large, in bytes: reading it takes about a millisecond.
const LARGE_BYTES: usize = 256 << 10;

/// Does work that takes long for a long text, without a worker of the runtime having to wait for
/// it: other calls, other servers and signals go on meanwhile.
pub fn without_blocking<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    let may_move = || {
        let runtime = Handle::try_current().map(|runtime| runtime.runtime_flavor());
        matches!(runtime, Ok(RuntimeFlavor::MultiThread))
    };
    match bytes > LARGE_BYTES && may_move() {
        true => tokio::task::block_in_place(work),
        false => work(),
    }
}
