//! Files and folders that a guest holds open from one call to the next.

use std::fs::{File, read_link};
use std::os::fd::AsRawFd as _;
use std::path::PathBuf;

use wasmtime::component::ResourceTable;
use wasmtime_wasi::filesystem::Descriptor;

use super::Preopens;

/// Whether a guest holds something open that is in none of its folders any more: somebody has moved it
/// away, where it is not granted, and may even decide about plugins.
pub(crate) fn holds_what_has_left(table: &mut ResourceTable, preopens: &Preopens) -> bool {
    let folders: Vec<PathBuf> = preopens
        .iter()
        .filter_map(|one| path(&one.dir.dir))
        .collect();
    let mut entries = table.iter_mut();
    entries.any(|entry| {
        let held = match entry.downcast_ref::<Descriptor>() {
            Some(Descriptor::Dir(dir)) => &dir.dir,
            Some(Descriptor::File(file)) => &file.file,
            None => return false,
        };
        let is_inside = |path: PathBuf| folders.iter().any(|folder| path.starts_with(folder));
        !path(held).is_some_and(is_inside)
    })
}

/// Returns the path that an open file or folder has now.
fn path(file: &File) -> Option<PathBuf> {
    read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()
}
