//! One component file → its declarations, from its bytes alone.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::component::declaration::{declared, front, small_enough};
use crate::component::preamble::preamble;
use crate::component_file;
use crate::error::{Problem, ReadError};
use crate::read_process::{self, ReadCommand, ReadTask};
use crate::round::ReadRound;
use crate::{CatalogEntry, Listing, Provenance, Stamp};

pub use crate::component_file::LIMIT;

/// The largest declaration that is read without a process of its own, in bytes: the tools of nearly
/// all servers take less.
const MAX_INLINE_DECLARATION_BYTES: usize = 256 << 10;

/// Bytes of a file that are read at first: a small section, or enough of a large one to know its
/// size.
const FIRST: usize = 4096;

/// Reads the declarations of the component in a file. `command` starts the process that reads what
/// may take much.
///
/// # Errors
/// The file is no component, or its declaration is unusable.
pub fn entry(path: &Path, command: ReadCommand) -> Result<CatalogEntry, ReadError> {
    let found = read(path, command, None).and_then(|(stamp, listing)| Ok((stamp, listing?)));
    let (stamp, listing) = found.map_err(|problem| ReadError {
        path: path.to_owned(),
        problem,
    })?;
    Ok(CatalogEntry {
        path: path.to_owned(),
        stamp,
        listing: listing.into(),
    })
}

/// Reads a file's declaration, and the file's stamp at that time.
///
/// `round` limits what a process may take, where other files are read for the same start. The stamp
/// is also of a file that holds no usable declaration.
pub(crate) fn read(
    path: &Path,
    command: ReadCommand,
    round: Option<ReadRound>,
) -> Result<(Stamp, Result<Listing, Problem>), Problem> {
    let file = component_file::open(path)?;
    let stamp = Stamp::of(&component_file::check(file.metadata())?);
    Ok((stamp, listing(file, stamp.size, command, round)))
}

fn listing(
    mut file: File,
    size: u64,
    command: ReadCommand,
    round: Option<ReadRound>,
) -> Result<Listing, Problem> {
    let mut bytes = Vec::with_capacity(FIRST);
    let mut first = (&mut file).take(FIRST as u64);
    first.read_to_end(&mut bytes)?;
    preamble(&bytes, size)?;
    let Some((start, end)) = front(&bytes) else {
        return read_process::in_process(command, ReadTask::Listing, file, round);
    };
    if end as u64 > size {
        return Err(Problem::Truncated { size });
    }
    small_enough(end - start)?;
    if end - start > MAX_INLINE_DECLARATION_BYTES {
        return read_process::in_process(command, ReadTask::Listing, file, round);
    }
    read_to(&mut file, &mut bytes, end as u64)?;
    let section = bytes.get(start..end).unwrap_or_default();
    declared(section, Provenance::Front)
}

/// Reads on until `bytes` holds the first `end` bytes of the file, or all of it.
fn read_to(file: &mut File, bytes: &mut Vec<u8>, end: u64) -> Result<(), Problem> {
    let held = bytes.len() as u64;
    file.seek(SeekFrom::Start(held))?;
    file.take(end.saturating_sub(held)).read_to_end(bytes)?;
    Ok(())
}

#[cfg(test)]
mod tests;
