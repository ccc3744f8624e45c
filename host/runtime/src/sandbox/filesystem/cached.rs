//! Reads at once what the system has of files and folders in memory: a thread that may wait for a
//! disk takes ten times as long to begin as such a read takes.
//!
//! Nothing here waits, neither for a disk nor for another process or machine. What cannot be told
//! without waiting is none, and so is all that fails: the caller asks again where it may wait, and
//! tells what is wrong from there.

#[cfg(target_os = "linux")]
pub(crate) use self::linux::CachedDevice;
#[cfg(target_os = "linux")]
pub(super) use self::linux::{FileStatus, found, found_at, open, read};
#[cfg(not(target_os = "linux"))]
pub(crate) use self::other::CachedDevice;
#[cfg(all(unix, not(target_os = "linux")))]
pub(super) use self::other::open;
#[cfg(not(target_os = "linux"))]
pub(super) use self::other::{FileStatus, found, found_at, read};

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;
