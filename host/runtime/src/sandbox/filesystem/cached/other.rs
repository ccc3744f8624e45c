//! Systems that have no calls which do not wait: nothing is read at once there.

use std::fs::File;
#[cfg(unix)]
use std::path::Path;

use cap_primitives::fs::FollowSymlinks;
use wasmtime_wasi::p2::bindings::filesystem::types::DescriptorStat;

use crate::sandbox::granted::Preopens;

/// Filesystem that does not wait. No filesystem is known to be one here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CachedDevice {}

impl CachedDevice {
    /// Returns none.
    pub(crate) fn of(_: &File) -> Option<Self> {
        None
    }
}

/// Status of a file or folder: none is known.
pub(in super::super) enum FileStatus {}

impl FileStatus {
    /// Returns what WASI says of it.
    pub(in super::super) fn stat(&self) -> DescriptorStat {
        match *self {}
    }

    /// Returns the numbers of its filesystem and of itself there.
    pub(in super::super) fn identity(&self) -> (u64, u64) {
        match *self {}
    }
}

/// Returns none.
#[cfg(unix)]
pub(in super::super) fn open(
    _: &File,
    _: &Path,
    _: FollowSymlinks,
    _: &Preopens,
) -> Option<(File, bool)> {
    None
}

/// Returns none.
pub(in super::super) fn found(_: &File, _: &Preopens) -> Option<FileStatus> {
    None
}

/// Returns none.
pub(in super::super) fn found_at(
    _: &File,
    _: &str,
    _: FollowSymlinks,
    _: &Preopens,
) -> Option<FileStatus> {
    None
}

/// Returns none.
pub(in super::super) fn read(_: &File, _: &mut [u8], _: u64) -> Option<usize> {
    None
}
