//! Reading a directory.
//!
//! The standard library ends a listing at the first name that is not UTF-8, because WASI has only
//! strings for names, and so an error for such a name. Here the rest is listed, and such names are
//! counted.

use std::io;

use crate::error::Error;

/// Content of a directory.
#[derive(Debug, Default)]
pub struct Listing {
    /// The entries, sorted by the bytes of their names.
    pub entries: Vec<Entry>,
    /// Number of further entries, whose names are not UTF-8.
    pub unnamed: usize,
}

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// Whether it is a directory; a link to one is not.
    pub is_dir: bool,
    /// Whether it is a link.
    pub is_link: bool,
}

/// Reads the directory at the real path `real`.
pub fn directory(real: &str) -> Result<Listing, Error> {
    let mut listing = Listing::default();
    read(real, |entry| match entry {
        Some(entry) => listing.entries.push(entry),
        None => listing.unnamed += 1,
    })
    .map_err(|error| Error::system(&error, "scandir", real))?;
    listing.entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(listing)
}

#[cfg(not(target_family = "wasm"))]
fn read(real: &str, mut found: impl FnMut(Option<Entry>)) -> io::Result<()> {
    for entry in std::fs::read_dir(real)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let name = entry.file_name().into_string().ok();
        found(name.map(|name| Entry {
            name,
            is_dir: kind.is_dir(),
            is_link: kind.is_symlink(),
        }));
    }
    Ok(())
}

#[cfg(target_family = "wasm")]
fn read(real: &str, mut found: impl FnMut(Option<Entry>)) -> io::Result<()> {
    use wasip2::filesystem::types::{
        Descriptor, DescriptorFlags, DescriptorType, ErrorCode, OpenFlags, PathFlags,
    };

    let failed = |code: ErrorCode| match code {
        ErrorCode::NoEntry => io::ErrorKind::NotFound.into(),
        ErrorCode::NotDirectory => io::ErrorKind::NotADirectory.into(),
        ErrorCode::Access | ErrorCode::NotPermitted => io::ErrorKind::PermissionDenied.into(),
        ErrorCode::NameTooLong => io::ErrorKind::InvalidFilename.into(),
        other => io::Error::other(other.message()),
    };
    let open = |(folder, path): (Descriptor, &str)| {
        let path = if path.is_empty() { "." } else { path };
        folder.open_at(
            PathFlags::empty(),
            path,
            OpenFlags::DIRECTORY,
            DescriptorFlags::READ,
        )
    };
    let (folder, path) = crate::grants::holding(real).ok_or(io::ErrorKind::NotFound)?;
    let entries = open((folder, &path))
        .and_then(|opened| opened.read_directory())
        .map_err(failed)?;
    loop {
        match entries.read_directory_entry() {
            Ok(None) => return Ok(()),
            Ok(Some(entry)) => found(Some(Entry {
                name: entry.name,
                is_dir: entry.type_ == DescriptorType::Directory,
                is_link: entry.type_ == DescriptorType::SymbolicLink,
            })),
            Err(ErrorCode::IllegalByteSequence) => found(None),
            // It went away while the directory was being read.
            Err(ErrorCode::NoEntry) => {}
            Err(code) => return Err(failed(code)),
        }
    }
}
