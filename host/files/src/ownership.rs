//! Owner of a file or folder of Dormouse's own, and whether others can write to it.
//!
//! What another user has written there must not count: they could trust a project, approve a tool
//! or name a file to put back in place of the user.

#[cfg(unix)]
mod private_group;
#[cfg(unix)]
mod socket;
#[cfg(unix)]
mod way;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

#[cfg(unix)]
pub use self::socket::check_socket;
#[cfg(unix)]
use crate::owner::{is_own, is_own_among_others, is_root};

/// Checks that a file below Dormouse's data folder counts: that nobody but its user and root can
/// have written it, or can put one there. Where others have, or could have, that is logged, once.
#[must_use]
pub fn counts(file: &Path, data: &Path) -> bool {
    match is_kept(file, data) {
        Ok(is_kept) => is_kept,
        Err(error) => {
            warn_once(error.to_string());
            false
        }
    }
}

/// Returns the number of the user as whom this process acts.
#[cfg(unix)]
#[must_use]
pub fn effective_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Logs a warning, if it has not been logged yet: files are looked at often.
pub fn warn_once(warning: String) {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut told = TOLD.lock();
    if !told.contains(&warning) {
        tracing::warn!("{warning}");
        told.insert(warning);
    }
}

/// Checks that what is at a path, and all folders that lead to it, belong to this user or root, and
/// that nobody else can write to them. What is not there is nobody else's.
///
/// From `within` on, which is Dormouse's own, nobody else may write at all. The folders above it are
/// the user's, or the system's: a group may write there that has nobody else in it, and anybody in a
/// folder in which each removes only what is theirs (the sticky bit).
///
/// # Errors
/// Something is another user's, or others can write to it ([`io::ErrorKind::PermissionDenied`]).
pub fn check(path: &Path, within: &Path) -> io::Result<()> {
    is_kept(path, within).map(drop)
}

/// Checks as [`check`] does that nobody else has written a file that is the user's own, and not
/// Dormouse's alone. Returns whether it may be read: not where it is not there, and others could put
/// one there at any time.
///
/// # Errors
/// Something is another user's, or others can write to it ([`io::ErrorKind::PermissionDenied`]).
#[cfg(unix)]
pub fn may_read(file: &Path) -> io::Result<bool> {
    way::is_kept(file, None)
}

/// On Windows, what is below the user's own folder is theirs alone by default.
///
/// # Errors
/// None there.
#[cfg(not(unix))]
pub fn may_read(_: &Path) -> io::Result<bool> {
    Ok(true)
}

#[cfg(unix)]
fn is_kept(path: &Path, within: &Path) -> io::Result<bool> {
    way::is_kept(path, Some(within))
}

/// On Windows, what is below the user's own folder is theirs alone by default.
#[cfg(not(unix))]
fn is_kept(_: &Path, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Checks that a file or folder belongs to this user or root. `is_among_others` says whether anybody may put
/// files where it is.
///
/// # Errors
/// It is another user's ([`io::ErrorKind::PermissionDenied`]).
#[cfg(unix)]
pub(crate) fn check_owner(
    path: &Path,
    metadata: &std::fs::Metadata,
    is_among_others: bool,
) -> io::Result<()> {
    let owner = std::os::unix::fs::MetadataExt::uid(metadata);
    let is_own = if is_among_others {
        is_own_among_others
    } else {
        is_own
    };
    if is_own(owner) {
        return Ok(());
    }
    Err(refused(format!(
        "`{}` is another user's (uid {owner}), and so nothing in it counts\n\
         hint: have root give it to you (`chown`) if all that is in it is yours, or remove it",
        path.display()
    )))
}

/// Checks that a program of the user's is not what another user has put there: neither it nor a link
/// or folder that leads to it is another user's where anybody may put one. `opened` is what is known of
/// the file that was opened at that path, which may have been exchanged meanwhile.
///
/// # Errors
/// One is another user's ([`io::ErrorKind::PermissionDenied`]).
#[cfg(unix)]
pub fn check_program(file: &Path, opened: &std::fs::Metadata) -> io::Result<()> {
    match way::check_program(file)? {
        true => check_owner(file, opened, true),
        false => Ok(()),
    }
}

/// On Windows, what is below the user's own folder is theirs alone by default.
///
/// # Errors
/// None there.
#[cfg(not(unix))]
pub fn check_program(_: &Path, _: &std::fs::Metadata) -> io::Result<()> {
    Ok(())
}

/// Returns where the links on the way to a file lead that is to be written; none where nothing is
/// there.
///
/// # Errors
/// One is another user's, where anybody may put one ([`io::ErrorKind::PermissionDenied`]), or something
/// cannot be looked at.
#[cfg(unix)]
pub(crate) fn written(file: &Path) -> io::Result<Option<PathBuf>> {
    way::written(file)
}

/// On Windows, what is below the user's own folder is theirs alone by default.
#[cfg(not(unix))]
pub(crate) fn written(file: &Path) -> io::Result<Option<PathBuf>> {
    Ok(file.canonicalize().ok())
}

/// Makes a folder private, unless there is something in it and others could write to it.
///
/// # Errors
/// Others could write to it, it is another user's ([`io::ErrorKind::PermissionDenied`]), or it cannot
/// be made private.
#[cfg(unix)]
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    use std::fs::{Permissions, metadata, read_dir, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;

    let before = metadata(folder)?;
    // Root could make another user's folder private, too, who would go on writing to it.
    check_owner(folder, &before, false)?;
    let is_filled = || Ok::<_, io::Error>(read_dir(folder)?.next().is_some());
    let is_open = way::is_open(folder, &before, true);
    if is_open && is_filled()? {
        return Err(way::is_open_to_others(folder, &before));
    }
    set_permissions(folder, Permissions::from_mode(0o700))?;
    // Nobody else can add anything by now.
    if is_open && is_filled()? {
        set_permissions(folder, before.permissions())?;
        return Err(way::is_open_to_others(folder, &before));
    }
    Ok(())
}

/// Returns the number of the user that a folder belongs to, where that is neither this one nor root.
#[cfg(unix)]
#[must_use]
pub fn foreign_owner(folder: &Path) -> Option<u32> {
    let metadata = std::fs::metadata(folder).ok()?;
    let owner = std::os::unix::fs::MetadataExt::uid(&metadata);
    let is_own = match is_among_others(folder) {
        true => is_own_among_others(owner),
        false => is_own(owner),
    };
    (!is_own).then_some(owner)
}

/// Whether a folder whose owner is another user than this one is root's for sure.
#[cfg(unix)]
#[must_use]
pub fn is_roots(folder: &Path, owner: u32) -> bool {
    owner == 0 || is_root(owner) && !is_among_others(folder)
}

/// Whether anybody may put files where a folder is.
#[cfg(unix)]
fn is_among_others(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let above = folder.canonicalize();
    let above = above
        .ok()
        .and_then(|real| std::fs::metadata(real.parent()?).ok());
    above.is_some_and(|above| above.mode() & 0o002 != 0)
}

/// On Windows, owners are not told apart.
#[cfg(not(unix))]
#[must_use]
pub fn foreign_owner(_: &Path) -> Option<u32> {
    None
}

/// Checks that root does not write into somebody else's home, as it would after a `sudo` that keeps
/// `HOME`: what it makes there would be root's, and its user could not even read it.
///
/// # Errors
/// It would ([`io::ErrorKind::PermissionDenied`]).
#[cfg(unix)]
pub(crate) fn check_home(folder: &Path) -> io::Result<()> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    match etcetera::home_dir() {
        Ok(home) => check_within_home(folder, &home),
        Err(_) => Ok(()),
    }
}

#[cfg(unix)]
fn check_within_home(folder: &Path, home: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;

    let folder = std::path::absolute(folder)?;
    // The nearest one that is there.
    let mut above = folder.ancestors();
    let Some(real) = above.find_map(|folder| folder.canonicalize().ok()) else {
        return Ok(());
    };
    let is_within = home.canonicalize().is_ok_and(|home| real.starts_with(home));
    let owner = std::fs::metadata(&real)?.uid();
    if !is_within || is_root(owner) {
        return Ok(());
    }
    Err(refused(format!(
        "`{}` is another user's (uid {owner}), who could not read what root writes there\n\
         hint: run it as that user, without `sudo`, or set `HOME` to a folder of root's",
        real.display()
    )))
}

#[cfg(unix)]
fn refused(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
