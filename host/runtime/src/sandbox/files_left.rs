//! Files that guests leave to the host.

use std::os::fd::{AsFd, AsRawFd as _};

/// Whether an open file is of the last quarter of those that this process may have, which guests
/// leave to the host: without any it can start nothing and answer nobody. A file has the lowest
/// number that is free.
pub(super) fn takes_what_is_left(file: impl AsFd) -> bool {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let number = u64::try_from(file.as_fd().as_raw_fd()).unwrap_or(0);
    limit.is_some_and(|limit| number > limit - limit / 4)
}
