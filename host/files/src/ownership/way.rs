//! The way to a file: all folders and links that lead to it.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use super::{check_owner, private_group, refused};
use crate::attributes;
use crate::owner::is_own_among_others;
use crate::walk::Walk;

const STICKY: u32 = 0o1000;

const ANYBODY_WRITES: u32 = 0o002;

/// Facts of a folder on the way.
struct PassedFolder {
    /// Whether others get into it.
    is_reachable: bool,
    /// Whether others can make files in it.
    is_shared: bool,
}

/// Checks each folder and each link on the way to a path as [`super::check`] does; what is from
/// `within` on is Dormouse's own. Returns false where nothing is there, and others could put
/// something there.
///
/// # Errors
/// Something is another user's, or others can write to it ([`io::ErrorKind::PermissionDenied`]).
pub(super) fn is_kept(path: &Path, within: Option<&Path>) -> io::Result<bool> {
    let path = std::path::absolute(path)?;
    let own_from = match within {
        Some(within) => std::path::absolute(within)?.components().count(),
        None => usize::MAX,
    };
    let mut walk: Walk<PassedFolder> = Walk::along(&path, own_from);
    while let Some((path, is_own)) = walk.next() {
        let above = walk.passed().last().map(|(_, above)| above);
        let is_reachable = above.is_none_or(|above| above.is_reachable);
        let is_shared = above.is_some_and(|above| above.is_shared);
        // What cannot be looked at cannot be read either.
        let Ok(metadata) = std::fs::symlink_metadata(&path) else {
            return Ok(!is_shared);
        };
        check_owner(&path, &metadata, is_shared)?;
        if metadata.is_symlink() {
            if !walk.follow(&std::fs::read_link(&path)?, is_own) {
                return Ok(true);
            }
            continue;
        }
        // Where nobody else gets into a folder of the user's, the modes of what is in it say nothing.
        // Whoever may write to a socket may connect to it, and put nothing in its place.
        let is_socket = !is_own && metadata.file_type().is_socket();
        let is_open = is_reachable && !is_socket && is_open(&path, &metadata, is_own);
        let is_shared = metadata.is_dir() && metadata.mode() & STICKY != 0 && !is_own;
        if is_open && !is_shared {
            return Err(is_open_to_others(&path, &metadata));
        }
        let facts = PassedFolder {
            // Dormouse makes its own folders private, whatever was done in there before that.
            is_reachable: is_reachable && (is_own || metadata.mode() & 0o011 != 0),
            is_shared: is_open,
        };
        walk.pass(path, facts);
    }
    Ok(true)
}

/// Checks each folder and each link on the way to a program as [`super::check_program`] does. Returns
/// whether anybody may put files on that way.
///
/// # Errors
/// One is another user's, in or below a folder in which anybody may put one
/// ([`io::ErrorKind::PermissionDenied`]).
pub(super) fn check_program(program: &Path) -> io::Result<bool> {
    // Of each folder: whether it is one for all.
    let mut walk: Walk<bool> = Walk::along(&std::path::absolute(program)?, usize::MAX);
    let mut passes_shared = false;
    while let Some((path, _)) = walk.next() {
        let metadata = std::fs::symlink_metadata(&path)?;
        check_beside_others(&walk, &path, &metadata, program, "run")?;
        if metadata.is_symlink() {
            if !walk.follow(&std::fs::read_link(&path)?, false) {
                return Ok(true);
            }
            continue;
        }
        let is_shared = is_for_all(&metadata);
        passes_shared |= is_shared;
        walk.pass(path, is_shared);
    }
    Ok(passes_shared)
}

/// Returns where the links on the way to a file lead that is to be written; none where nothing is
/// there.
///
/// # Errors
/// One is another user's, in or below a folder in which anybody may put one
/// ([`io::ErrorKind::PermissionDenied`]), they lead nowhere, or something cannot be looked at.
pub(super) fn written(file: &Path) -> io::Result<Option<PathBuf>> {
    let mut walk: Walk<bool> = Walk::along(&std::path::absolute(file)?, usize::MAX);
    while let Some((path, _)) = walk.next() {
        let metadata = match std::fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            metadata => metadata?,
        };
        if !metadata.is_symlink() {
            walk.pass(path, is_for_all(&metadata));
            continue;
        }
        check_beside_others(&walk, &path, &metadata, file, "written")?;
        if !walk.follow(&std::fs::read_link(&path)?, false) {
            return Ok(None);
        }
    }
    Ok(walk.passed().last().map(|(path, _)| path.clone()))
}

/// Checks that something on the way to a file is not another user's, in or below a folder in which
/// anybody may put files.
fn check_beside_others(
    walk: &Walk<bool>,
    path: &Path,
    metadata: &Metadata,
    file: &Path,
    done: &str,
) -> io::Result<()> {
    let shared = walk.passed().iter().find(|(_, is_shared)| *is_shared);
    match shared.filter(|_| !is_own_among_others(metadata.uid())) {
        None => Ok(()),
        Some((shared, _)) => Err(refused(format!(
            "`{}` is another user's (uid {}), in `{}`, where anybody may put files, and so `{}` is \
             not {done}\n\
             hint: keep the file in a folder of yours",
            path.display(),
            metadata.uid(),
            shared.display(),
            file.display()
        ))),
    }
}

/// Whether something is a folder in which anybody may put files.
fn is_for_all(metadata: &Metadata) -> bool {
    metadata.is_dir() && metadata.mode() & ANYBODY_WRITES != 0
}

pub(super) fn is_open_to_others(path: &Path, metadata: &Metadata) -> io::Error {
    refused(format!(
        "`{}` can be written to by others (mode {:o}), and so nothing in it counts\n\
         hint: `chmod go-w` it, if all that is in it is yours",
        path.display(),
        metadata.mode() & 0o7777
    ))
}

/// Whether others may write to a file or folder. What is Dormouse's own, no group may either.
pub(super) fn is_open(path: &Path, metadata: &Metadata, is_own: bool) -> bool {
    let mode = metadata.mode();
    // With an access control list, these bits are those of all whom it names.
    let is_private_group = || {
        !is_own
            && private_group::is_private(metadata.gid(), metadata.uid())
            && !attributes::has_list(path)
    };
    mode & ANYBODY_WRITES != 0 || mode & 0o020 != 0 && !is_private_group()
}
