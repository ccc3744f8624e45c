//! `wasi:filesystem` for guests. Of wasmtime's implementation, functions that open files and
//! folders are replaced, because they resolve a path again for each instance and wait for ever for
//! a pipe; so are those that keep data in uncounted memory; and those that wait for another thread
//! also for what the system has in memory.

mod cached;
#[cfg(unix)]
mod directory_entries;
#[cfg(unix)]
mod file_reader;
mod file_streams;
#[cfg(unix)]
mod files_left;
#[cfg(target_os = "linux")]
mod held;
mod links;
mod metadata;
#[cfg(unix)]
mod opening;
mod place;
mod renaming;

use std::io;
use std::sync::Arc;

use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi::WasiView;
use wasmtime_wasi::filesystem::{Descriptor, Dir};
use wasmtime_wasi::p2::FsError;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

pub(crate) use cached::CachedDevice;
#[cfg(unix)]
pub(crate) use directory_entries::DirectoryStreams;
#[cfg(target_os = "linux")]
pub(crate) use held::HeldFiles;

use self::links::symlink_at;
#[cfg(unix)]
use self::opening::{open_at, set_times_at};
use self::renaming::{link_at, rename_at};
use super::granted::Preopens;
use super::wasi::WASI_VERSION;

/// Memory that counts as a guest's until this is dropped.
pub(crate) trait Charge: Send + Sync + 'static {
    /// Merges two charges.
    fn add(&mut self, other: Self);

    /// Gives back the memory above so many bytes.
    fn reduce_to(&mut self, bytes: u64);
}

/// State of a store whose guest has granted folders.
pub(crate) trait FilesystemState: WasiView + 'static {
    /// Memory that counts as the guest's until this is dropped.
    type Charge: Charge;

    /// Returns the folders that the guest is given.
    fn preopens(&self) -> &Preopens;

    /// Takes memory of the host for the guest, in bytes. None where it may have no more.
    fn charge(&mut self, bytes: u64) -> impl Future<Output = Option<Self::Charge>> + Send;

    /// Returns the files and folders that the guest holds open.
    #[cfg(target_os = "linux")]
    fn held_files(&mut self) -> &mut HeldFiles;

    /// Returns the limit of the folders that the guest lists at once.
    #[cfg(unix)]
    fn directory_streams(&self) -> &DirectoryStreams;
}

/// Replaces wasmtime's functions with Dormouse's own.
///
/// # Errors
/// They cannot be defined.
pub(super) fn add_to_linker<T: FilesystemState>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    let mut preopens = linker.instance(&format!("wasi:filesystem/preopens@{WASI_VERSION}"))?;
    preopens.func_wrap("get-directories", |mut store, (): ()| {
        Ok((directories(store.data_mut())?,))
    })?;
    let mut types = linker.instance(&format!("wasi:filesystem/types@{WASI_VERSION}"))?;
    types.func_wrap_async(
        "[method]descriptor.symlink-at",
        |store, (folder, target, path)| {
            Box::new(async move { Ok((symlink_at(store, folder, target, path).await?,)) })
        },
    )?;
    types.func_wrap_async(
        "[method]descriptor.rename-at",
        |store, (folder, path, to, new)| {
            Box::new(async move { Ok((rename_at(store, folder, path, to, new).await?,)) })
        },
    )?;
    types.func_wrap_async(
        "[method]descriptor.link-at",
        |store, (folder, follow, path, to, new)| {
            Box::new(async move {
                let linked = link_at(store, follow, folder, path, to, new);
                Ok((linked.await?,))
            })
        },
    )?;
    file_streams::add_to_linker(&mut types)?;
    metadata::add_to_linker(&mut types)?;
    #[cfg(unix)]
    {
        directory_entries::add_to_linker(&mut types)?;
        types.func_wrap_async(
            "[method]descriptor.open-at",
            |store, (folder, follow, path, how, flags)| {
                Box::new(
                    async move { Ok((open_at(store, folder, follow, path, how, flags).await?,)) },
                )
            },
        )?;
        types.func_wrap_async(
            "[method]descriptor.set-times-at",
            |store, (folder, follow, path, accessed, modified)| {
                Box::new(async move {
                    let set = set_times_at(store, folder, follow, path, accessed, modified);
                    Ok((set.await?,))
                })
            },
        )?;
    }
    Ok(())
}

/// Result of a function of WASI.
pub(super) type FilesystemResult<T> = Result<T, ErrorCode>;

/// Separates errors that a guest gets from errors that end it.
pub(super) fn told<T>(result: Result<T, FsError>) -> wasmtime::Result<FilesystemResult<T>> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(error) => error.downcast().map(Err),
    }
}

/// Returns the folder of a handle, or the error for the guest.
pub(super) fn dir<T: FilesystemState>(
    store: &mut StoreContextMut<'_, T>,
    folder: &Resource<Descriptor>,
) -> wasmtime::Result<FilesystemResult<Dir>> {
    Ok(match store.data_mut().ctx().table.get(folder)? {
        Descriptor::Dir(dir) => Ok(dir.clone()),
        Descriptor::File(_) => Err(ErrorCode::NotDirectory),
    })
}

/// Runs work that may wait for a disk, and returns its result for the guest.
pub(super) async fn blocking<R: Send + 'static>(
    work: impl FnOnce() -> io::Result<R> + Send + 'static,
) -> wasmtime::Result<FilesystemResult<R>> {
    let done = tokio::task::spawn_blocking(work).await?;
    told(done.map_err(FsError::from))
}

fn directories<T: FilesystemState>(
    state: &mut T,
) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
    let preopens = Arc::clone(state.preopens());
    let table = state.ctx().table;
    preopens
        .iter()
        .map(|one| {
            let descriptor = Descriptor::Dir(one.dir.clone());
            Ok((table.push(descriptor)?, one.path.clone()))
        })
        .collect()
}

/// Most bytes of a file that are read at once, as in wasmtime.
const MAX_READ_BYTES: usize = 64 << 10;

/// Longest path that a guest may name, in bytes: no system allows longer ones, and each path is
/// copied several times.
const MAX_PATH_BYTES: usize = 64 << 10;

/// Returns the error for paths of which one is too long.
fn too_long(paths: &[&str]) -> Option<ErrorCode> {
    let mut paths = paths.iter();
    paths
        .any(|path| path.len() > MAX_PATH_BYTES)
        .then_some(ErrorCode::NameTooLong)
}
