//! Reading files that others have written, without trusting them to be files.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use dormouse_files::ownership;
use dormouse_files::regular::open_and_read_regular_file;

use crate::file::{LARGEST_OF_PROJECT, leads_nowhere};
use crate::reading::units;

/// Largest configuration file, in bytes. Claude Code keeps its history in the file that its servers
/// are in, which so can be of many megabytes.
pub(super) const CONFIGURATION: u64 = 64 << 20;

/// Largest file that a value is taken from, in bytes. A stranger's project can name any file, any
/// number of times.
pub(super) const VALUE: u64 = 64 << 10;

const LINK_TO_NOTHING: &str = "is a link to nothing";

/// Reads the bytes of a file; none where there is no such file. The error says what is wrong with
/// the file, as what follows "the file": a larger one than `largest` is wrong.
pub(super) fn read(path: &Path, largest: u64) -> Result<Option<Vec<u8>>, String> {
    let read = open_and_read(path, largest)?;
    Ok(read.map(|(_, bytes)| bytes))
}

/// Reads a file of the user's own as [`read`] does. It says what is run, and so is wrong where another
/// user can have written it.
pub(super) fn read_of_user(path: &Path, largest: u64) -> Result<Option<Vec<u8>>, String> {
    match is_of_user(path)? {
        true => read(path, largest),
        // What it led to may have denied something, and may come back.
        false if leads_nowhere(path) => Err(LINK_TO_NOTHING.to_owned()),
        false => Ok(None),
    }
}

/// Returns the text of a file of the user's own that is not read because others can have written it, for
/// what it names alone: nothing in it is run. None where that is not why.
pub(super) fn text_of_others(path: &Path) -> Option<String> {
    is_of_user(path).err()?;
    let bytes = read(path, LARGEST_OF_PROJECT).ok()??;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether a file of the user's own is there and to be read. The error says what is wrong with the file,
/// as what follows "the file": another user can have written it.
pub(super) fn is_of_user(path: &Path) -> Result<bool, String> {
    // Most of the files that are looked for are not there, whoever could put one there: this is one
    // look, where the way to a file takes one for each folder.
    match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        _ => {}
    }
    ownership::may_read(path).map_err(|error| format!("is not read: {error}"))
}

/// Reads a file as [`read`] does, and returns the open file with its bytes.
pub(super) fn open_and_read(path: &Path, largest: u64) -> Result<Option<(File, Vec<u8>)>, String> {
    #[cfg(test)]
    hook::before_reading(path);
    let read = open_and_read_regular_file(path, largest).map_err(|error| told(&error, largest))?;
    // What it led to may have denied something, and may come back.
    if read.is_none() && leads_nowhere(path) {
        return Err(LINK_TO_NOTHING.to_owned());
    }
    Ok(read)
}

fn told(error: &io::Error, largest: u64) -> String {
    match error.kind() {
        // A pipe or a device, which a stranger's project may well name, would be read
        // for ever.
        ErrorKind::InvalidInput | ErrorKind::IsADirectory => "is none".to_owned(),
        ErrorKind::FileTooLarge => format!("is larger than {}", units::human_size(largest)),
        _ => format!("cannot be read: {error}"),
    }
}

/// Converts bytes to text, without the byte order mark that Windows' editors begin with. The error
/// is the text before the first byte that is no UTF-8.
pub(super) fn text(bytes: Vec<u8>) -> Result<String, String> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let mut bytes = error.into_bytes();
        bytes.truncate(valid);
        String::from_utf8(bytes).unwrap_or_default()
    })?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// Action of a test right before each file is read.
#[cfg(test)]
pub(super) mod hook {
    use std::cell::RefCell;
    use std::path::Path;

    type Hook = Box<dyn FnMut(&Path)>;

    thread_local! {
        static HOOK: RefCell<Option<Hook>> = const { RefCell::new(None) };
    }

    /// Makes this thread call `hook`, with the file's path, before each file that it reads from now
    /// on.
    pub(in crate::discovery) fn set(hook: impl FnMut(&Path) + 'static) {
        HOOK.with(|it| *it.borrow_mut() = Some(Box::new(hook)));
    }

    pub(super) fn before_reading(path: &Path) {
        HOOK.with(|it| {
            if let Some(hook) = it.borrow_mut().as_mut() {
                hook(path);
            }
        });
    }
}
