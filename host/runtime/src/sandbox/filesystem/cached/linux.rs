//! The system calls of Linux that do not wait.

use std::fs::File;
use std::io::IoSliceMut;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use cap_primitives::fs::FollowSymlinks;
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, ResolveFlags, Statx, StatxFlags, StatxTimestamp, fcntl_getfl,
    fcntl_setfl, fstatfs, makedev, openat2, statx,
};
use rustix::io::{ReadWriteFlags, preadv2};
use wasmtime_wasi::p2::bindings::clocks::wall_clock::Datetime;
use wasmtime_wasi::p2::bindings::filesystem::types::{DescriptorStat, DescriptorType};

use super::super::files_left::takes_what_is_left;
use crate::sandbox::granted::Preopens;

/// Kinds of filesystems, as `statfs` numbers them, on a disk of this machine or in its memory: ext2
/// to ext4, XFS, Btrfs, F2FS and tmpfs. Of others a file may be opened by a process that waits for
/// something itself.
const LOCAL: [u64; 5] = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x0102_1994];

/// Filesystem whose files are opened and looked at without waiting for another process or machine.
/// It is that of a folder that is held open, so that its number is no other one's meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CachedDevice(u64);

impl CachedDevice {
    /// Returns the filesystem of a folder, if it is one of these.
    pub(crate) fn of(folder: &File) -> Option<Self> {
        let kind = u64::try_from(fstatfs(folder).ok()?.f_type).ok()?;
        let found = look(folder)?;
        LOCAL.contains(&kind).then(|| Self(device(&found)))
    }
}

/// Status of a file or folder.
pub(in super::super) struct FileStatus(Statx);

impl FileStatus {
    /// Returns what WASI says of it.
    pub(in super::super) fn stat(&self) -> DescriptorStat {
        let Self(found) = self;
        DescriptorStat {
            type_: match FileType::from_raw_mode(found.stx_mode.into()) {
                FileType::Directory => DescriptorType::Directory,
                FileType::Symlink => DescriptorType::SymbolicLink,
                _ => DescriptorType::RegularFile,
            },
            link_count: found.stx_nlink.into(),
            size: found.stx_size,
            data_access_timestamp: self.time(StatxFlags::ATIME, found.stx_atime),
            data_modification_timestamp: self.time(StatxFlags::MTIME, found.stx_mtime),
            // As wasmtime has it.
            status_change_timestamp: self.time(StatxFlags::BTIME, found.stx_btime),
        }
    }

    /// Returns the numbers of its filesystem and of itself there.
    pub(in super::super) fn identity(&self) -> (u64, u64) {
        (device(&self.0), self.0.stx_ino)
    }

    fn time(&self, known: StatxFlags, time: StatxTimestamp) -> Option<Datetime> {
        let is_known = self.0.stx_mask & known.bits() != 0;
        let seconds = u64::try_from(time.tv_sec).ok().filter(|_| is_known)?;
        Some(Datetime {
            seconds,
            nanoseconds: time.tv_nsec,
        })
    }
}

/// Opens a file or folder for reading, and nothing else. Returns whether it is a folder, too.
pub(in super::super) fn open(
    folder: &File,
    path: &Path,
    follow: FollowSymlinks,
    preopens: &Preopens,
) -> Option<(File, bool)> {
    // Nothing but a look, which has no effect whatever is there.
    let looked_at = resolve(folder, path, OFlags::PATH, follow)?;
    let before = plain(look(&looked_at)?, preopens)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK;
    let file = File::from(resolve(folder, path, flags, follow)?);
    // Something else may have been put in its place meanwhile.
    let now = FileStatus(look(&file)?);
    if now.identity() != before.identity() || takes_what_is_left(&file) {
        return None;
    }
    let flags = fcntl_getfl(&file).ok()?;
    fcntl_setfl(&file, flags - OFlags::NONBLOCK).ok()?;
    let is_folder = now.stat().type_ == DescriptorType::Directory;
    // Whether a file with more than one name may be opened is not told at once.
    let is_file = now.stat().type_ == DescriptorType::RegularFile && now.0.stx_nlink == 1;
    (is_folder || is_file).then_some((file, is_folder))
}

/// Looks at an open file or folder.
pub(in super::super) fn found(file: &File, preopens: &Preopens) -> Option<FileStatus> {
    plain(look(file)?, preopens)
}

/// Looks at what is at a path.
pub(in super::super) fn found_at(
    folder: &File,
    path: &str,
    follow: FollowSymlinks,
    preopens: &Preopens,
) -> Option<FileStatus> {
    // A last name that says that it is a folder is read in more than one way.
    if path.ends_with(['/', '.']) {
        return None;
    }
    let found = resolve(folder, Path::new(path), OFlags::PATH, follow)?;
    plain(look(&found)?, preopens)
}

/// Reads from a file as much as is in memory there. Returns the number of bytes; none are there at its
/// end.
pub(in super::super) fn read(file: &File, buffer: &mut [u8], offset: u64) -> Option<usize> {
    // Of an offset that the system takes for a negative one, -1 would stand for the place where the
    // file was read last.
    i64::try_from(offset).ok()?;
    let mut buffers = [IoSliceMut::new(buffer)];
    preadv2(file, &mut buffers, offset, ReadWriteFlags::NOWAIT).ok()
}

/// Opens a path, as far as what leads to it is in memory. It never leads out of the folder.
fn resolve(folder: &File, path: &Path, how: OFlags, follow: FollowSymlinks) -> Option<OwnedFd> {
    let link = match follow {
        FollowSymlinks::Yes => OFlags::empty(),
        FollowSymlinks::No => OFlags::NOFOLLOW,
    };
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::CACHED;
    let flags = how | link | OFlags::CLOEXEC;
    openat2(folder, path, flags, Mode::empty(), within).ok()
}

fn look(file: impl AsFd) -> Option<Statx> {
    let at = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    statx(file, c"", at, StatxFlags::BASIC_STATS | StatxFlags::BTIME).ok()
}

/// Returns what was found, if it is a file, a folder or a link of a filesystem that does not wait.
fn plain(found: Statx, preopens: &Preopens) -> Option<FileStatus> {
    let kind = FileType::from_raw_mode(found.stx_mode.into());
    let is_plain = kind.is_file() || kind.is_dir() || kind.is_symlink();
    let device = CachedDevice(device(&found));
    let mut cached = preopens.iter().filter_map(|preopen| preopen.cached);
    (is_plain && cached.any(|one| one == device)).then_some(FileStatus(found))
}

fn device(found: &Statx) -> u64 {
    makedev(found.stx_dev_major, found.stx_dev_minor)
}

#[cfg(test)]
mod tests;
