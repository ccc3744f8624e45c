//! The files that values are taken from: each is read once in a search, however many servers and
//! clients name it. So all of them are made of one content, and that is the one which is hashed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::discovery::files;
use crate::project::project_path::{Location, location};

/// Problem of a file, as what follows "the file".
pub(in crate::discovery) const CHANGED: &str = "changed while it was read";

/// Most bytes of such files that are kept at a time. Further files are read at each look, and a
/// project whose file is not the same at two looks is not trusted (see
/// [`Library::add`](crate::discovery::library::Library::add)).
const MAX_KEPT_BYTES: usize = 64 << 20;

/// The files that values are taken from, as far as they were read.
#[derive(Default)]
pub(in crate::discovery) struct ValueFiles {
    /// Folder, without links, of the project that the process works in.
    project: Option<PathBuf>,
    read: BTreeMap<PathBuf, Result<Option<ValueFile>, String>>,
    kept_bytes: usize,
}

/// A file that was read.
#[derive(Debug, Clone)]
pub(in crate::discovery) struct ValueFile {
    pub(in crate::discovery) bytes: Rc<[u8]>,
    pub(in crate::discovery) hash: blake3::Hash,
    /// Whether the file is in the project's folder, also by the path that links lead to.
    pub(in crate::discovery) is_within_project: bool,
}

impl ValueFiles {
    pub(in crate::discovery) fn new(project: Option<PathBuf>) -> Self {
        Self {
            project,
            ..Self::default()
        }
    }

    /// Reads a file, or returns what was read before; none where there is no such file. The error
    /// is what follows "the file".
    pub(in crate::discovery) fn read(&mut self, file: &Path) -> Result<Option<ValueFile>, String> {
        if let Some(known) = self.read.get(file) {
            return known.clone();
        }
        let read = self.read_anew(file);
        let bytes = match &read {
            Ok(Some(read)) => read.bytes.len(),
            Ok(None) | Err(_) => 0,
        };
        if self.kept_bytes.saturating_add(bytes) <= MAX_KEPT_BYTES {
            self.kept_bytes += bytes;
            self.read.insert(file.to_owned(), read.clone());
        }
        read
    }

    fn read_anew(&self, file: &Path) -> Result<Option<ValueFile>, String> {
        let Some((opened, bytes)) = files::open_and_read(file, files::VALUE)? else {
            return Ok(None);
        };
        // Where it is shown is told by what was read, and not by what is there by now.
        let is_within_project = match &self.project {
            None => false,
            Some(project) => match location(project, file, &opened) {
                Location::Within => true,
                Location::Elsewhere => false,
                Location::Moved => return Err(CHANGED.to_owned()),
            },
        };
        Ok(Some(ValueFile {
            hash: blake3::hash(&bytes),
            bytes: bytes.into(),
            is_within_project,
        }))
    }
}
