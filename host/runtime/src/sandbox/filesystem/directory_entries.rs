//! Listing of a folder for a guest, a few entries at a time: wasmtime's own `read-directory`
//! collects the whole folder in memory of the host, as often as it is called.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::Arc;

use rustix::fs::{AtFlags, Dir as Reader, FileType, statat};
use rustix::io::Errno;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wasmtime::StoreContextMut;
use wasmtime::component::{LinkerInstance, Resource, ResourceType};
use wasmtime_wasi::filesystem::Descriptor;
use wasmtime_wasi::p2::FsError;
use wasmtime_wasi::p2::bindings::filesystem::types::{DescriptorType, DirectoryEntry, ErrorCode};

use super::files_left::takes_what_is_left;
use super::{FilesystemResult, FilesystemState, blocking, dir, told};

/// Most folders that an instance lists at once: each is an open file of the host.
const MAX_DIRECTORY_STREAMS: usize = 128;

/// Number of entries that are read at once.
const ENTRIES_PER_READ: usize = 64;

/// Memory of the host for a folder while it is listed, in bytes: the system's buffer of entries,
/// and entries that were read and not requested yet.
const DIRECTORY_STREAM_BYTES: u64 = 64 << 10;

/// Limit of the folders that an instance lists at once.
#[derive(Debug, Clone)]
pub(crate) struct DirectoryStreams(Arc<Semaphore>);

impl Default for DirectoryStreams {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_DIRECTORY_STREAMS)))
    }
}

/// A folder that is being listed: the resource `directory-entry-stream`.
struct DirectoryEntries<C> {
    /// None while it reads, and at its end.
    reader: Option<Reader>,
    folder: Arc<File>,
    read: VecDeque<FilesystemResult<DirectoryEntry>>,
    _permit: OwnedSemaphorePermit,
    _charge: C,
}

/// Replaces wasmtime's listing with Dormouse's own.
///
/// # Errors
/// It cannot be defined.
pub(super) fn add_to_linker<T: FilesystemState>(
    types: &mut LinkerInstance<'_, T>,
) -> wasmtime::Result<()> {
    types.resource(
        "directory-entry-stream",
        ResourceType::host::<DirectoryEntries<T::Charge>>(),
        |mut store, index| {
            let stream = Resource::<DirectoryEntries<T::Charge>>::new_own(index);
            store.data_mut().ctx().table.delete(stream)?;
            Ok(())
        },
    )?;
    types.func_wrap_async("[method]descriptor.read-directory", |store, (folder,)| {
        Box::new(async move { Ok((read_directory(store, folder).await?,)) })
    })?;
    types.func_wrap_async(
        "[method]directory-entry-stream.read-directory-entry",
        |store, (stream,)| {
            Box::new(async move { Ok((read_directory_entry(store, stream).await?,)) })
        },
    )
}

async fn read_directory<T: FilesystemState>(
    mut store: StoreContextMut<'_, T>,
    folder: Resource<Descriptor>,
) -> wasmtime::Result<FilesystemResult<Resource<DirectoryEntries<T::Charge>>>> {
    let folder = match dir(&mut store, &folder)? {
        Ok(dir) => dir.dir,
        Err(code) => return Ok(Err(code)),
    };
    let DirectoryStreams(limit) = store.data().directory_streams().clone();
    let Ok(permit) = limit.try_acquire_owned() else {
        return Ok(Err(ErrorCode::InsufficientMemory));
    };
    let Some(charge) = store.data_mut().charge(DIRECTORY_STREAM_BYTES).await else {
        return Ok(Err(ErrorCode::InsufficientMemory));
    };
    let opened = Arc::clone(&folder);
    let open = move || {
        let reader = Reader::read_from(&*opened)?;
        match takes_what_is_left(reader.fd()?) {
            true => Err(Errno::MFILE.into()),
            false => Ok(reader),
        }
    };
    let reader = match blocking(open).await? {
        Ok(reader) => reader,
        Err(code) => return Ok(Err(code)),
    };
    let stream = DirectoryEntries {
        reader: Some(reader),
        folder,
        read: VecDeque::new(),
        _permit: permit,
        _charge: charge,
    };
    let pushed = store.data_mut().ctx().table.push(stream);
    told(pushed.map_err(FsError::from))
}

async fn read_directory_entry<T: FilesystemState>(
    mut store: StoreContextMut<'_, T>,
    stream: Resource<DirectoryEntries<T::Charge>>,
) -> wasmtime::Result<FilesystemResult<Option<DirectoryEntry>>> {
    let entries = store.data_mut().ctx().table.get_mut(&stream)?;
    if entries.read.is_empty()
        && let Some(reader) = entries.reader.take()
    {
        let folder = Arc::clone(&entries.folder);
        let (reader, read) = match blocking(move || Ok(read_some(reader, &folder))).await? {
            Ok(read) => read,
            Err(code) => return Ok(Err(code)),
        };
        let entries = store.data_mut().ctx().table.get_mut(&stream)?;
        entries.reader = reader;
        entries.read = read;
    }
    let entries = store.data_mut().ctx().table.get_mut(&stream)?;
    Ok(entries.read.pop_front().transpose())
}

/// Reads the next entries. Returns the reader, if there may be more, and the entries: a name that
/// is not UTF-8 is an error in its place.
fn read_some(
    mut reader: Reader,
    folder: &File,
) -> (Option<Reader>, VecDeque<FilesystemResult<DirectoryEntry>>) {
    let mut read = VecDeque::with_capacity(ENTRIES_PER_READ);
    while read.len() < ENTRIES_PER_READ {
        let entry = match reader.read() {
            None => return (None, read),
            Some(Err(error)) => {
                read.push_back(Err(ErrorCode::from(io::Error::from(error))));
                return (None, read);
            }
            Some(Ok(entry)) => entry,
        };
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let kind = match entry.file_type() {
            // Some filesystems do not say.
            FileType::Unknown => statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
                .map_or(FileType::Unknown, |found| {
                    FileType::from_raw_mode(found.st_mode)
                }),
            kind => kind,
        };
        let name = name.to_str().map(ToOwned::to_owned);
        let entry = name.map(|name| DirectoryEntry {
            type_: descriptor_type(kind),
            name,
        });
        read.push_back(entry.map_err(|_| ErrorCode::IllegalByteSequence));
    }
    (Some(reader), read)
}

fn descriptor_type(kind: FileType) -> DescriptorType {
    match kind {
        FileType::RegularFile => DescriptorType::RegularFile,
        FileType::Directory => DescriptorType::Directory,
        FileType::Symlink => DescriptorType::SymbolicLink,
        FileType::BlockDevice => DescriptorType::BlockDevice,
        FileType::CharacterDevice => DescriptorType::CharacterDevice,
        _ => DescriptorType::Unknown,
    }
}
