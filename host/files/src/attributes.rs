//! Owner, group, mode and extended attributes of a file, handed to the one that takes its place.

use std::fs::{File, Metadata};
use std::path::Path;

use crate::access::Access;

/// Gives a new file what the old one had, and the access that is asked for. What lets in others
/// than before is not given: where a group or an access control list cannot be kept, what it let in
/// is out.
///
/// # Errors
/// The file was another user's and would be this one's, or the permissions cannot be set.
#[cfg(unix)]
pub(crate) fn hand_on(
    old: &Path,
    was: &Metadata,
    new: &File,
    access: &Access,
) -> anyhow::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use anyhow::bail;
    use rustix::fs::{Gid, Uid, fchown};

    let mode = match access {
        Access::Kept => was.mode() & 0o7777,
        Access::Private => 0o600,
        Access::Given(permissions) => permissions.mode() & 0o7777,
    };
    let now = new.metadata()?;
    let group = Some(Gid::from_raw(was.gid()));
    let keeps_group = if now.uid() != was.uid() {
        let is_private = *access == Access::Private;
        if is_private && !crate::owner::is_own(was.uid()) {
            return Ok(());
        }
        match fchown(new, Some(Uid::from_raw(was.uid())), group) {
            Ok(()) => true,
            // Of a file of Dormouse's own, which root has written once.
            Err(_) if is_private => return Ok(()),
            Err(_) => bail!(
                "it is another user's (uid {}), and would be yours afterwards\n\
                 hint: have root give it to you (`chown`), or do this as that user",
                was.uid()
            ),
        }
    } else {
        now.gid() == was.gid() || fchown(new, None, group).is_ok()
    };
    let keeps_list = extended::hand_on(old, new, keeps_group);
    let mode = match (keeps_group, keeps_list) {
        (true, true) => mode,
        // Who was in the group before is among all others now.
        (false, true) => mode & (0o7700 | ((mode >> 3) & 0o7)),
        // The list may have kept anybody out.
        (_, false) => mode & 0o7700,
    };
    new.set_permissions(std::fs::Permissions::from_mode(mode))?;
    Ok(())
}

/// Returns a text that says who else a file's mode is about: its group, and those whom its access
/// control list names, with what it allows them. None where files have none of these.
///
/// Where it is another one than before, the mode of before would let others in.
#[cfg(unix)]
#[must_use]
pub fn sharing(file: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;

    let group = std::fs::metadata(file).ok()?.gid();
    Some(format!("{group}{}", extended::named(file)?))
}

/// Returns none: there, files have no group.
#[cfg(not(unix))]
#[must_use]
pub fn sharing(_: &Path) -> Option<String> {
    None
}

/// Whether a file or folder has an access control list, or may have one.
#[cfg(unix)]
pub(crate) fn has_list(path: &Path) -> bool {
    extended::named(path).is_none_or(|named| !named.is_empty())
}

/// Gives a new file the access that is asked for.
///
/// # Errors
/// The permissions cannot be set.
#[cfg(not(unix))]
pub(crate) fn hand_on(_: &Path, was: &Metadata, new: &File, access: &Access) -> anyhow::Result<()> {
    match access {
        Access::Kept => new.set_permissions(was.permissions())?,
        Access::Private => {}
        Access::Given(permissions) => new.set_permissions(permissions.clone())?,
    }
    Ok(())
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod extended {
    //! Extended attributes, where the system has them.

    use std::ffi::CStr;
    use std::fs::File;
    use std::path::Path;

    use rustix::fs::{XattrFlags, fremovexattr, fsetxattr, getxattr, listxattr};
    use rustix::io::{Errno, Result};

    /// Name of the attribute that the access control list is in.
    const LIST: &CStr = c"system.posix_acl_access";

    /// Most bytes of one attribute, and of all names, that systems have.
    const MAX_BYTES: usize = 64 << 10;

    /// Copies the attributes of the file at `old`; the access control list only `with_list`.
    /// Returns false where the old file had such a list and the new one has not.
    pub(super) fn hand_on(old: &Path, new: &File, with_list: bool) -> bool {
        for name in names(old) {
            // What a file system does not take is no reason to leave a file as it is.
            if let Ok(Some(value)) = value(old, &name) {
                let _ = fsetxattr(new, &*name, &value, XattrFlags::empty());
            }
        }
        let is_list_kept = match value(old, LIST) {
            Ok(None) => None,
            Ok(Some(list)) if with_list => {
                Some(fsetxattr(new, LIST, &list, XattrFlags::empty()).is_ok())
            }
            Ok(Some(_)) | Err(_) => Some(false),
        };
        if is_list_kept == Some(true) {
            return true;
        }
        // A folder gives new files a list of its own, if it has one for them.
        let is_without = fremovexattr(new, LIST).map_or_else(is_none, |()| true);
        is_list_kept.is_none() && is_without
    }

    /// Returns a text of what the access control list of a file allows its group, and the users and
    /// groups that it names; empty where the file has no list, and none where that cannot be read.
    pub(super) fn named(file: &Path) -> Option<String> {
        /// Kinds of entries: a user, the file's group, a group. The others are the mode.
        const KINDS: [u8; 3] = [0x02, 0x04, 0x08];
        let list = value(file, LIST).ok()?.unwrap_or_default();
        // Behind a version: kind, rights and id of each entry.
        let entries = list.get(4..).unwrap_or_default().chunks(8);
        let entries =
            entries.filter(|entry| entry.first().is_some_and(|kind| KINDS.contains(kind)));
        let digits = entries.flatten().map(|byte| format!("{byte:02x}"));
        let digits: String = digits.collect();
        Some(match digits.is_empty() {
            true => digits,
            false => format!(" {digits}"),
        })
    }

    /// Whether an error says that there is no such attribute, or can be none.
    fn is_none(error: Errno) -> bool {
        #[cfg(target_vendor = "apple")]
        const MISSING: Errno = Errno::NOATTR;
        #[cfg(not(target_vendor = "apple"))]
        const MISSING: Errno = Errno::NODATA;
        let unknown = [Errno::NOTSUP, Errno::OPNOTSUPP, Errno::INVAL, Errno::NOSYS];
        error == MISSING || unknown.contains(&error)
    }

    /// Returns the names of the attributes that users set. All others are the system's, which gives
    /// a new file its own.
    fn names(old: &Path) -> Vec<std::ffi::CString> {
        let mut names = vec![0; MAX_BYTES];
        let length = listxattr(old, names.as_mut_slice()).unwrap_or_default();
        names.truncate(length);
        let names = names.split_inclusive(|byte| *byte == 0);
        let names = names.filter_map(|name| CStr::from_bytes_with_nul(name).ok());
        let is_users =
            |name: &&CStr| cfg!(target_vendor = "apple") || name.to_bytes().starts_with(b"user.");
        names.filter(is_users).map(CStr::to_owned).collect()
    }

    /// Returns the value of an attribute; none where a file has none of that name.
    fn value(old: &Path, name: &CStr) -> Result<Option<Vec<u8>>> {
        let mut value = vec![0; MAX_BYTES];
        match getxattr(old, name, value.as_mut_slice()) {
            Ok(length) => {
                value.truncate(length);
                Ok(Some(value))
            }
            Err(error) if is_none(error) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(all(
    unix,
    not(any(target_os = "linux", target_os = "android", target_vendor = "apple"))
))]
mod extended {
    //! Extended attributes, which are not read here.

    use std::fs::File;
    use std::path::Path;

    pub(super) fn hand_on(_: &Path, _: &File, _: bool) -> bool {
        true
    }

    pub(super) fn named(_: &Path) -> Option<String> {
        Some(String::new())
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests;
