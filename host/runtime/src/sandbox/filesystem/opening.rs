//! Opening of files and folders, and of no special files, which wasmtime would open unchecked: a
//! pipe does not open until another process opens its other end, and opening a device can have an
//! effect of its own.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use cap_primitives::fs::{FollowSymlinks, OpenOptions, OpenOptionsExt as _, open, stat};
use dormouse_policy::Identity;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use wasmtime::StoreContextMut;
use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::{self as wasi, Descriptor, Dir, OpenMode, WasiFilesystemView as _};
use wasmtime_wasi::p2::FsError;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, ErrorCode, HostDescriptor as _, NewTimestamp, OpenFlags, PathFlags,
};

use super::files_left::takes_what_is_left;
use super::{FilesystemResult, FilesystemState, blocking, cached, dir, told, too_long};
use crate::sandbox::granted::Preopens;

/// Options for opening a file.
struct How {
    options: OpenOptions,
    follow: FollowSymlinks,
    is_folder: bool,
    truncates: bool,
    mode: OpenMode,
}

impl How {
    /// Reads the options of a request, as wasmtime does. The error is for the guest.
    fn new(
        dir: &Dir,
        follow: PathFlags,
        open: OpenFlags,
        flags: DescriptorFlags,
    ) -> FilesystemResult<Self> {
        let synchronised = DescriptorFlags::FILE_INTEGRITY_SYNC
            | DescriptorFlags::DATA_INTEGRITY_SYNC
            | DescriptorFlags::REQUESTED_WRITE_SYNC;
        if flags.intersects(synchronised) {
            return Err(ErrorCode::Unsupported);
        }
        let changes = OpenFlags::CREATE | OpenFlags::EXCLUSIVE | OpenFlags::TRUNCATE;
        let is_folder = open.contains(OpenFlags::DIRECTORY);
        if is_folder && open.intersects(changes) {
            return Err(ErrorCode::Invalid);
        }
        let creates = open.contains(OpenFlags::CREATE);
        let truncates = open.contains(OpenFlags::TRUNCATE);
        let writes = flags.contains(DescriptorFlags::WRITE);
        // A file that is not opened for writing is opened for reading.
        let reads = flags.contains(DescriptorFlags::READ) || !writes;
        let mut mode = OpenMode::empty();
        mode.set(OpenMode::READ, reads);
        mode.set(OpenMode::WRITE, writes || creates || truncates);
        if dir.perms.write_not_permitted() && mode.contains(OpenMode::WRITE) {
            return Err(ErrorCode::NotPermitted);
        }
        let is_new = creates && open.contains(OpenFlags::EXCLUSIVE);
        let follow = follows(follow);
        let mut options = OpenOptions::new();
        options
            .read(reads)
            .write(mode.contains(OpenMode::WRITE))
            .create(creates && !is_new)
            .create_new(is_new);
        Ok(Self {
            options,
            follow,
            is_folder,
            truncates,
            mode,
        })
    }

    /// Opens what is in memory and only to be read, without waiting. Returns whether it is a folder,
    /// too.
    fn opened_at_once(&self, dir: &Dir, path: &str, preopens: &Preopens) -> Option<(File, bool)> {
        // Whatever makes or cuts a file can be written to.
        if self.mode.contains(OpenMode::WRITE) {
            return None;
        }
        cached::open(&dir.dir, path.as_ref(), self.follow, preopens)
    }
}

fn follows(flags: PathFlags) -> FollowSymlinks {
    match flags.contains(PathFlags::SYMLINK_FOLLOW) {
        true => FollowSymlinks::Yes,
        false => FollowSymlinks::No,
    }
}

/// Returns the error for a path that is neither a file nor a folder, and so is not opened.
fn refused() -> io::Error {
    io::Error::from(rustix::io::Errno::PERM)
}

/// Opens a file or folder, and nothing else. Checks the kind before opening, so that other
/// kinds are not touched; and opens without waiting and checks again, so that nothing can be
/// put in its place meanwhile. Nothing is cut off of a file before that: it may be one of Dormouse's
/// own.
fn open_plain(
    dir: &File,
    path: &Path,
    options: &OpenOptions,
    follow: FollowSymlinks,
    preopens: &Preopens,
) -> io::Result<(File, bool)> {
    if let Ok(metadata) = stat(dir, path, follow) {
        let kind = metadata.file_type();
        if !kind.is_file() && !kind.is_dir() && !kind.is_symlink() {
            return Err(refused());
        }
    }
    let mut options = options.clone();
    let nonblocking = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    options.custom_flags(nonblocking)._cap_fs_ext_follow(follow);
    let file = open(dir, path, &options)?;
    if takes_what_is_left(&file) {
        return Err(rustix::io::Errno::MFILE.into());
    }
    let metadata = file.metadata()?;
    let kind = metadata.file_type();
    if !kind.is_file() && !kind.is_dir() || is_own(&metadata, preopens) {
        return Err(refused());
    }
    let flags = fcntl_getfl(&file)?;
    fcntl_setfl(&file, flags - OFlags::NONBLOCK)?;
    Ok((file, kind.is_dir()))
}

/// Whether an open file is one of Dormouse's own, which has another name in a granted folder: a hard
/// link.
fn is_own(metadata: &Metadata, preopens: &Preopens) -> bool {
    if !metadata.is_file() || metadata.nlink() <= 1 {
        return false;
    }
    let file = Identity::new(metadata, Path::new(""));
    // They are of one host.
    let own = preopens.first().map(|preopen| &preopen.own);
    own.is_some_and(|own| own.has_file(&file))
}

pub(super) async fn open_at<T: FilesystemState>(
    mut store: StoreContextMut<'_, T>,
    folder: Resource<Descriptor>,
    follow: PathFlags,
    path: String,
    open: OpenFlags,
    flags: DescriptorFlags,
) -> wasmtime::Result<FilesystemResult<Resource<Descriptor>>> {
    if let Some(refused) = too_long(&[&path]) {
        return Ok(Err(refused));
    }
    let dir = match dir(&mut store, &folder)? {
        Ok(dir) => dir,
        Err(code) => return Ok(Err(code)),
    };
    let how = match How::new(&dir, follow, open, flags) {
        Ok(how) => how,
        Err(code) => return Ok(Err(code)),
    };
    let (perms, mode, is_folder) = (dir.perms, how.mode, how.is_folder);
    let (file, is_dir) = match how.opened_at_once(&dir, &path, store.data().preopens()) {
        Some(opened) => opened,
        None => {
            let preopens = Arc::clone(store.data().preopens());
            let opened = blocking(move || {
                let path = path.as_ref();
                let opened = open_plain(&dir.dir, path, &how.options, how.follow, &preopens)?;
                if how.truncates {
                    opened.0.set_len(0)?;
                }
                Ok(opened)
            });
            match opened.await? {
                Ok(opened) => opened,
                Err(code) => return Ok(Err(code)),
            }
        }
    };
    if is_folder && !is_dir {
        return Ok(Err(ErrorCode::NotDirectory));
    }
    let descriptor = match is_dir {
        true => Descriptor::Dir(Dir::new(file, perms, mode, false)),
        false => Descriptor::File(wasi::File::new(file, perms, mode, false)),
    };
    #[cfg(target_os = "linux")]
    store.data_mut().held_files().add(&descriptor);
    let pushed = store.data_mut().ctx().table.push(descriptor);
    told(pushed.map_err(FsError::from))
}

pub(super) async fn set_times_at<T: FilesystemState>(
    mut store: StoreContextMut<'_, T>,
    folder: Resource<Descriptor>,
    follow: PathFlags,
    path: String,
    accessed: NewTimestamp,
    modified: NewTimestamp,
) -> wasmtime::Result<FilesystemResult<()>> {
    if let Some(refused) = too_long(&[&path]) {
        return Ok(Err(refused));
    }
    if !follow.contains(PathFlags::SYMLINK_FOLLOW) {
        let mut filesystem = store.data_mut().filesystem();
        let set = filesystem.set_times_at(folder, follow, path, accessed, modified);
        return told(set.await);
    }
    let dir = match dir(&mut store, &folder)? {
        Ok(dir) if dir.perms.write_not_permitted() => return Ok(Err(ErrorCode::NotPermitted)),
        Ok(dir) => dir,
        Err(code) => return Ok(Err(code)),
    };
    let mut times = std::fs::FileTimes::new();
    match time(accessed) {
        Ok(Some(time)) => times = times.set_accessed(time),
        Ok(None) => {}
        Err(code) => return Ok(Err(code)),
    }
    match time(modified) {
        Ok(Some(time)) => times = times.set_modified(time),
        Ok(None) => {}
        Err(code) => return Ok(Err(code)),
    }
    let preopens = Arc::clone(store.data().preopens());
    blocking(move || {
        // A guest that may change a file's times may not always write to it or read it.
        let open = |write: bool| {
            let mut options = OpenOptions::new();
            options.read(!write).write(write);
            let follow = FollowSymlinks::Yes;
            open_plain(&dir.dir, path.as_ref(), &options, follow, &preopens)
        };
        use io::ErrorKind::{IsADirectory, PermissionDenied};
        let file = match open(true) {
            Err(error) if matches!(error.kind(), IsADirectory | PermissionDenied) => open(false),
            opened => opened,
        };
        file?.0.set_times(times)
    })
    .await
}

/// Returns the time that is to be set, if one is.
fn time(of: NewTimestamp) -> FilesystemResult<Option<SystemTime>> {
    let time = match of {
        NewTimestamp::NoChange => return Ok(None),
        NewTimestamp::Now => return Ok(Some(SystemTime::now())),
        NewTimestamp::Timestamp(time) => time,
    };
    SystemTime::UNIX_EPOCH
        .checked_add(Duration::from_secs(time.seconds))
        .and_then(|at| at.checked_add(Duration::from_nanos(time.nanoseconds.into())))
        .map(Some)
        .ok_or(ErrorCode::Overflow)
}

#[cfg(test)]
mod tests;
