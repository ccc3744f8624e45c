//! Limit of the files that this process may have open at once.
//!
//! A host has several for each connection of each server, and the limit that most systems
//! begin with is made for programs that have a few.

#[cfg(unix)]
use std::sync::OnceLock;

#[cfg(unix)]
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Most files that are asked for: no host needs more, and some systems let a process have millions.
#[cfg(unix)]
const MAX_FILES: u64 = 65_536;

/// The limit that the process was started with.
#[cfg(unix)]
static GIVEN: OnceLock<Rlimit> = OnceLock::new();

/// Raises the limit as far as the system lets every process raise it.
#[cfg(unix)]
pub fn raise_limit() {
    let given = getrlimit(Resource::Nofile);
    let most = given
        .maximum
        .map_or(MAX_FILES, |maximum| maximum.min(MAX_FILES));
    if given.current.is_none_or(|current| current >= most) {
        return;
    }
    let raised = Rlimit {
        current: Some(most),
        maximum: given.maximum,
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => drop(GIVEN.set(given)),
        Err(error) => tracing::debug!("no more files than now can be open: {error}"),
    }
}

/// Does nothing: there is no such limit.
#[cfg(not(unix))]
pub fn raise_limit() {}

/// Gives a child that was just started the limit that this process was started with: some
/// programs go through all files that they could have.
#[cfg(target_os = "linux")]
pub fn restore_limit_of(child: u32) {
    let Some(given) = GIVEN.get() else {
        return;
    };
    let pid = i32::try_from(child)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    if let Some(pid) = pid {
        // One that has ended needs none.
        let _ = rustix::process::prlimit(Some(pid), Resource::Nofile, *given);
    }
}
