//! Open files that guests leave to the host.

use std::os::fd::{AsFd, AsRawFd as _};

/// Checks whether an open file is in the last quarter of those that this process may have, which
/// guests leave to the host: without any it can neither start a process nor answer a request. An
/// opened file gets the lowest free number.
pub(super) fn takes_what_is_left(file: impl AsFd) -> bool {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let number = u64::try_from(file.as_fd().as_raw_fd()).unwrap_or(0);
    limit.is_some_and(|limit| number > limit - limit / 4)
}
