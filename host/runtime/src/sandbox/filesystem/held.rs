//! Files and folders that a guest holds open from one call to the next.

use std::fs::{File, read_link};
use std::os::fd::AsRawFd as _;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use wasmtime_wasi::filesystem::Descriptor;

use super::Preopens;

/// Number of opened files and folders after which those that were closed are forgotten.
const MAX_CLOSED: usize = 1024;

/// Files and folders that a guest has opened and holds open: by a descriptor, or by a stream or a
/// listing that was made of it.
#[derive(Debug, Default)]
pub(crate) struct HeldFiles {
    opened: Vec<Weak<File>>,
    /// Number of them that were open when the closed ones were last forgotten.
    open: usize,
}

impl HeldFiles {
    /// Adds what a guest opens.
    pub(super) fn add(&mut self, descriptor: &Descriptor) {
        if self.opened.len() >= self.open.saturating_add(MAX_CLOSED) {
            self.forget_closed();
        }
        self.opened.push(Arc::downgrade(match descriptor {
            Descriptor::Dir(dir) => &dir.dir,
            Descriptor::File(file) => &file.file,
        }));
    }

    /// Whether one of them is in none of these folders any more: somebody has moved it away, where it
    /// is not granted, and may even decide about plugins.
    pub(crate) fn have_left(&mut self, preopens: &Preopens) -> bool {
        self.forget_closed();
        let folders = preopens.iter().filter_map(|one| path(&one.dir.dir));
        let folders: Vec<PathBuf> = folders.collect();
        let is_inside = |path: PathBuf| folders.iter().any(|folder| path.starts_with(folder));
        let mut held = self.opened.iter().filter_map(Weak::upgrade);
        held.any(|file| !path(&file).is_some_and(is_inside))
    }

    fn forget_closed(&mut self) {
        self.opened.retain(|file| file.strong_count() > 0);
        self.open = self.opened.len();
    }
}

/// Returns the path that an open file or folder has now.
fn path(file: &File) -> Option<PathBuf> {
    read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()
}
