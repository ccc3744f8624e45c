//! Files that may be components.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

use dormouse_files::ownership;

use crate::error::{Problem, ReadError};
use dormouse_files::regular::open_regular_file;

/// Largest component that is read, in bytes.
pub const LIMIT: u64 = 512 << 20;

/// Returns the metadata of a file that may be a component.
pub(crate) fn metadata(path: &Path) -> Result<Metadata, ReadError> {
    check(std::fs::metadata(path)).map_err(|problem| ReadError {
        path: path.to_owned(),
        problem,
    })
}

/// Opens a file that may be a component.
pub(crate) fn open(path: &Path) -> Result<File, Problem> {
    // It says best what is wrong with what is no file.
    check(std::fs::metadata(path))?;
    let file = open_regular_file(path)?;
    ownership::check_program(path, &file.metadata()?)
        .map_err(|error| Problem::Others(error.to_string()))?;
    Ok(file)
}

/// Checks by its metadata that a file may be a component.
pub(crate) fn check(metadata: io::Result<Metadata>) -> Result<Metadata, Problem> {
    let metadata = metadata.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Problem::Missing,
        _ => error.into(),
    })?;
    if metadata.is_dir() {
        return Err(Problem::Folder);
    }
    if !metadata.is_file() {
        return Err(Problem::Special);
    }
    if metadata.len() > LIMIT {
        return Err(Problem::TooLarge {
            size: metadata.len(),
            limit: LIMIT,
        });
    }
    Ok(metadata)
}
