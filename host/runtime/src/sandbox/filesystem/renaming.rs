//! New names for what a guest has.

use std::io;

use cap_primitives::fs::{hard_link, rename};
use wasmtime::StoreContextMut;
use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::Descriptor;
use wasmtime_wasi::p2::bindings::filesystem::types::{ErrorCode, PathFlags};

use super::place::NameInFolder;
use super::{FilesystemResult, FilesystemState, dir, too_long};

/// Renames a file or a folder, or a link that cannot lead out from its new place.
pub(super) async fn rename_at<T: FilesystemState>(
    store: StoreContextMut<'_, T>,
    folder: Resource<Descriptor>,
    path: String,
    to: Resource<Descriptor>,
    new: String,
) -> wasmtime::Result<FilesystemResult<()>> {
    moved(store, folder, path, to, new, |from, to| {
        rename(
            &from.parent,
            from.name.as_ref(),
            &to.parent,
            to.name.as_ref(),
        )
    })
    .await
}

/// Gives a second name to a file, or to a link that cannot lead out from there.
pub(super) async fn link_at<T: FilesystemState>(
    store: StoreContextMut<'_, T>,
    follow: PathFlags,
    folder: Resource<Descriptor>,
    path: String,
    to: Resource<Descriptor>,
    new: String,
) -> wasmtime::Result<FilesystemResult<()>> {
    if follow.contains(PathFlags::SYMLINK_FOLLOW) {
        return Ok(Err(ErrorCode::Invalid));
    }
    moved(store, folder, path, to, new, |from, to| {
        hard_link(
            &from.parent,
            from.name.as_ref(),
            &to.parent,
            to.name.as_ref(),
        )
    })
    .await
}

/// Gives another name to what is at a place, unless it is a link that would lead elsewhere from
/// there.
async fn moved<T: FilesystemState>(
    mut store: StoreContextMut<'_, T>,
    folder: Resource<Descriptor>,
    path: String,
    to: Resource<Descriptor>,
    new: String,
    change: fn(&NameInFolder, &NameInFolder) -> io::Result<()>,
) -> wasmtime::Result<FilesystemResult<()>> {
    if let Some(refused) = too_long(&[&path, &new]) {
        return Ok(Err(refused));
    }
    let (folder, to) = match (dir(&mut store, &folder)?, dir(&mut store, &to)?) {
        (Ok(folder), Ok(to)) => (folder, to),
        (Err(code), _) | (_, Err(code)) => return Ok(Err(code)),
    };
    if folder.perms.write_not_permitted() || folder.perms != to.perms {
        return Ok(Err(ErrorCode::NotPermitted));
    }
    let done = tokio::task::spawn_blocking(move || {
        let from = NameInFolder::open(&folder.dir, &path)?;
        let to = NameInFolder::open(&to.dir, &new)?;
        let is_folder = from.check_movable()?;
        if to.is_of_folder && !is_folder {
            return Err(ErrorCode::NotDirectory);
        }
        change(&from, &to).map_err(ErrorCode::from)
    });
    Ok(done.await?)
}
