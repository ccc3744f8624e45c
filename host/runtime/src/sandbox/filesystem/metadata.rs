//! Questions of guests about files and folders, and reading of a part: answered at once where it is
//! in memory, and by wasmtime, on a thread that may wait for a disk, where it is not.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use cap_primitives::fs::FollowSymlinks;
use wasmtime::StoreContextMut;
use wasmtime::component::{LinkerInstance, Resource};
use wasmtime_wasi::OpenMode;
use wasmtime_wasi::filesystem::{Descriptor, WasiFilesystemView as _};
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, DescriptorStat, DescriptorType, HostDescriptor as _, MetadataHashValue,
    PathFlags,
};

use super::cached::{self, FileStatus};
use super::{FilesystemResult, FilesystemState, MAX_READ_BYTES, told, too_long};

/// Replaces wasmtime's functions with Dormouse's own.
///
/// # Errors
/// They cannot be defined.
pub(super) fn add_to_linker<T: FilesystemState>(
    types: &mut LinkerInstance<'_, T>,
) -> wasmtime::Result<()> {
    types.func_wrap("[method]descriptor.get-flags", |mut store, (of,)| {
        Ok((FilesystemResult::Ok(flags(
            store.data_mut().ctx().table.get(&of)?,
        )),))
    })?;
    types.func_wrap_async("[method]descriptor.get-type", |store, (of,)| {
        Box::new(async move { Ok((kind(store, of).await?,)) })
    })?;
    types.func_wrap_async("[method]descriptor.stat", |store, (of,)| {
        Box::new(async move { Ok((stat(store, of).await?,)) })
    })?;
    types.func_wrap_async(
        "[method]descriptor.stat-at",
        |store, (folder, follow, path)| {
            Box::new(async move { Ok((stat_at(store, folder, follow, path).await?,)) })
        },
    )?;
    types.func_wrap_async("[method]descriptor.metadata-hash", |store, (of,)| {
        Box::new(async move { Ok((metadata_hash(store, of).await?,)) })
    })?;
    types.func_wrap_async(
        "[method]descriptor.metadata-hash-at",
        |store, (folder, follow, path)| {
            Box::new(async move { Ok((metadata_hash_at(store, folder, follow, path).await?,)) })
        },
    )?;
    types.func_wrap_async(
        "[method]descriptor.read",
        |store, (file, length, offset)| {
            Box::new(async move { Ok((read(store, file, length, offset).await?,)) })
        },
    )
}

/// Returns how a file or folder was opened. None is opened for synchronised writes.
fn flags(of: &Descriptor) -> DescriptorFlags {
    let (mode, writable) = match of {
        Descriptor::File(file) => (file.open_mode, DescriptorFlags::WRITE),
        Descriptor::Dir(dir) => (dir.open_mode, DescriptorFlags::MUTATE_DIRECTORY),
    };
    let mut flags = DescriptorFlags::empty();
    if mode.contains(OpenMode::READ) {
        flags |= DescriptorFlags::READ;
    }
    if mode.contains(OpenMode::WRITE) {
        flags |= writable;
    }
    flags
}

async fn kind<T: FilesystemState>(
    mut store: StoreContextMut<'_, T>,
    of: Resource<Descriptor>,
) -> wasmtime::Result<FilesystemResult<DescriptorType>> {
    match found(&mut store, &of)? {
        Some(found) => Ok(Ok(found.stat().type_)),
        None => told(store.data_mut().filesystem().get_type(of).await),
    }
}

async fn stat<T: FilesystemState>(
    mut store: StoreContextMut<'_, T>,
    of: Resource<Descriptor>,
) -> wasmtime::Result<FilesystemResult<DescriptorStat>> {
    match found(&mut store, &of)? {
        Some(found) => Ok(Ok(found.stat())),
        None => told(store.data_mut().filesystem().stat(of).await),
    }
}

async fn stat_at<T: FilesystemState>(
    mut store: StoreContextMut<'_, T>,
    folder: Resource<Descriptor>,
    follow: PathFlags,
    path: String,
) -> wasmtime::Result<FilesystemResult<DescriptorStat>> {
    match found_at(&mut store, &folder, follow, &path)? {
        Ok(Some(found)) => Ok(Ok(found.stat())),
        Ok(None) => {
            let mut filesystem = store.data_mut().filesystem();
            told(filesystem.stat_at(folder, follow, path).await)
        }
        Err(refused) => Ok(Err(refused)),
    }
}

async fn metadata_hash<T: FilesystemState>(
    mut store: StoreContextMut<'_, T>,
    of: Resource<Descriptor>,
) -> wasmtime::Result<FilesystemResult<MetadataHashValue>> {
    match found(&mut store, &of)? {
        Some(found) => Ok(Ok(hash(&found))),
        None => told(store.data_mut().filesystem().metadata_hash(of).await),
    }
}

async fn metadata_hash_at<T: FilesystemState>(
    mut store: StoreContextMut<'_, T>,
    folder: Resource<Descriptor>,
    follow: PathFlags,
    path: String,
) -> wasmtime::Result<FilesystemResult<MetadataHashValue>> {
    match found_at(&mut store, &folder, follow, &path)? {
        Ok(Some(found)) => Ok(Ok(hash(&found))),
        Ok(None) => {
            let mut filesystem = store.data_mut().filesystem();
            told(filesystem.metadata_hash_at(folder, follow, path).await)
        }
        Err(refused) => Ok(Err(refused)),
    }
}

/// Returns the bytes, and whether the file ends before them.
async fn read<T: FilesystemState>(
    mut store: StoreContextMut<'_, T>,
    file: Resource<Descriptor>,
    length: u64,
    offset: u64,
) -> wasmtime::Result<FilesystemResult<(Vec<u8>, bool)>> {
    if let Descriptor::File(open) = store.data_mut().ctx().table.get(&file)? {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let mut bytes = vec![0; length.min(MAX_READ_BYTES)];
        if let Some(read) = cached::read(&open.file, &mut bytes, offset) {
            bytes.truncate(read);
            return Ok(Ok((bytes, read == 0)));
        }
    }
    told(
        store
            .data_mut()
            .filesystem()
            .read(file, length, offset)
            .await,
    )
}

fn found<T: FilesystemState>(
    store: &mut StoreContextMut<'_, T>,
    of: &Resource<Descriptor>,
) -> wasmtime::Result<Option<FileStatus>> {
    let state = store.data_mut();
    let preopens = Arc::clone(state.preopens());
    let file = match state.ctx().table.get(of)? {
        Descriptor::File(file) => &file.file,
        Descriptor::Dir(dir) => &dir.dir,
    };
    Ok(cached::found(file, &preopens))
}

fn found_at<T: FilesystemState>(
    store: &mut StoreContextMut<'_, T>,
    folder: &Resource<Descriptor>,
    follow: PathFlags,
    path: &str,
) -> wasmtime::Result<FilesystemResult<Option<FileStatus>>> {
    if let Some(refused) = too_long(&[path]) {
        return Ok(Err(refused));
    }
    let follow = match follow.contains(PathFlags::SYMLINK_FOLLOW) {
        true => FollowSymlinks::Yes,
        false => FollowSymlinks::No,
    };
    let state = store.data_mut();
    let preopens = Arc::clone(state.preopens());
    Ok(Ok(match state.ctx().table.get(folder)? {
        Descriptor::Dir(dir) => cached::found_at(&dir.dir, path, follow, &preopens),
        Descriptor::File(_) => None,
    }))
}

/// Returns the hash of a file or folder, the same as wasmtime's: which of the two is asked depends on
/// what is in memory.
pub(super) fn hash(found: &FileStatus) -> MetadataHashValue {
    let mut hasher = DefaultHasher::new();
    found.identity().hash(&mut hasher);
    let lower = hasher.finish();
    let upper = lower ^ std::f64::consts::PI.to_bits();
    MetadataHashValue { lower, upper }
}
