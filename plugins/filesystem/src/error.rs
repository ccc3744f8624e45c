//! Errors, in the words of the reference server, so that an agent that knows those reads the same
//! here.

use std::io;

/// Most text or data that one call may read or answer with, in bytes. Well under the 256 MiB of
/// memory that an instance has by default, because a text exists in several forms while it is
/// worked on: bytes that are not UTF-8 grow threefold.
pub const MAX_BYTES: u64 = 32 << 20;

/// Reason for which a call failed. The text goes to the agent as it is.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The path lies in no granted folder.
    #[error("Access denied - path outside allowed directories: {path} not in {allowed}")]
    Outside {
        /// The absolute path that was asked for.
        path: String,
        /// The granted folders, separated by commas.
        allowed: String,
    },
    /// A link on the way leads out of every granted folder.
    #[error(
        "Access denied - symlink target outside allowed directories: {target} not in {allowed}"
    )]
    LinkOutside {
        /// Target of the link.
        target: String,
        /// The granted folders, separated by commas.
        allowed: String,
    },
    /// A link on the way is one that the sandbox does not follow.
    #[error(
        "Access denied - symlink target outside allowed directories: {link} not in {allowed}\n\
         hint: `{link}` is a link with an absolute target, which the sandbox does not follow; \
         use the path of the target itself"
    )]
    LinkAbsolute {
        /// The link.
        link: String,
        /// The granted folders, separated by commas.
        allowed: String,
    },
    /// No folder is granted at all.
    #[error(
        "Access denied - no directory is allowed\n\
         hint: the user can grant one with `dormouse grant SERVER --grant-fs FOLDER`, where SERVER is this server's name"
    )]
    NothingGranted,
    /// A write into a folder that is granted for reading.
    #[error(
        "Access denied - cannot write `{path}`: the folder `{folder}` is granted read-only\n\
         hint: the user can allow it with `dormouse grant SERVER --grant-fs FOLDER:rw`, where SERVER is this server's name and FOLDER that folder"
    )]
    ReadOnly {
        /// Path that would have been written.
        path: String,
        /// The granted folder that it is in.
        folder: String,
    },
    /// `C:\…` on a system that has no drives.
    #[error("Access denied - Windows-style path received on a POSIX host: {0}")]
    WindowsPath(String),
    /// `~` without a home.
    #[error(
        "Cannot expand `~` in `{0}`: the home directory is not known here\n\
         hint: use an absolute path; the user can grant the variable with `dormouse grant SERVER --grant-env HOME`, where SERVER is this server's name"
    )]
    NoHome(String),
    /// Two names in a directory differ only in how their characters are composed.
    #[error("Ambiguous Unicode path component: {0}")]
    Ambiguous(String),
    /// Link that leads to nothing.
    #[error("Parent directory does not exist: {0}")]
    NoParent(String),
    /// A system call that failed, told as Node.js tells it.
    #[error("{code}: {message}, {operation}")]
    System {
        /// `ENOENT` and the like.
        code: &'static str,
        /// Meaning of the code.
        message: String,
        /// Call that was tried, with the paths: `open '/x'`.
        operation: String,
    },
    /// More than a call takes.
    #[error("`{path}` is too large: more than {} MiB\nhint: {hint}", limit >> 20)]
    TooLarge {
        /// The file or directory.
        path: String,
        /// Most that would have been taken, in bytes.
        limit: u64,
        /// Advice for another way.
        hint: &'static str,
    },
    /// An edit of something that is not text.
    #[error(
        "`{0}` is not UTF-8 text, so an edit would damage it\n\
         hint: only text files can be edited; `read_media_file` returns the bytes of any file"
    )]
    NotText(String),
    /// The old text of an edit is nowhere in the file.
    #[error("Could not find exact match for edit:\n{0}")]
    NoMatch(String),
    /// A move onto something.
    #[error("Destination already exists: {0}")]
    Exists(String),
    /// Both ends of a file at once.
    #[error("Cannot specify both head and tail parameters simultaneously")]
    HeadAndTail,
    /// A number of lines below zero.
    #[error("`{name}` must be a number of lines, at least 1, not `{value}`")]
    Lines {
        /// `head` or `tail`.
        name: &'static str,
        /// Number that was given.
        value: f64,
    },
    /// An empty list of files.
    #[error("At least one file path must be provided")]
    NoPaths,
    /// A pattern that is too much work.
    #[error("The pattern `{pattern}` is too complex: {why}\nhint: split it into simpler patterns")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// Limit that it exceeds.
        why: &'static str,
    },
    /// An overwrite that broke off half-way.
    #[error("{cause}\nhint: `{path}` may be incomplete; the whole new text is in `{copy}`")]
    Interrupted {
        /// The file that was being overwritten.
        path: String,
        /// File that the new text was put into first.
        copy: String,
        /// Error of the overwrite.
        cause: Box<Error>,
    },
}

impl Error {
    /// Makes the error of a failed system call `call` on `path`.
    pub fn system(error: &io::Error, call: &str, path: &str) -> Self {
        let (code, message) = describe(error);
        Self::System {
            code,
            message,
            operation: format!("{call} '{path}'"),
        }
    }

    /// Makes the error of a failed system call `call` from one path to another.
    pub fn system_between(error: &io::Error, call: &str, from: &str, to: &str) -> Self {
        let (code, message) = describe(error);
        Self::System {
            code,
            message,
            operation: format!("{call} '{from}' -> '{to}'"),
        }
    }
}

/// Returns the code and the message that Node.js has for an error.
fn describe(error: &io::Error) -> (&'static str, String) {
    use io::ErrorKind as Kind;
    let (code, message) = match error.kind() {
        Kind::NotFound => ("ENOENT", "no such file or directory"),
        Kind::PermissionDenied => ("EACCES", "permission denied"),
        Kind::AlreadyExists => ("EEXIST", "file already exists"),
        Kind::NotADirectory => ("ENOTDIR", "not a directory"),
        Kind::IsADirectory => ("EISDIR", "illegal operation on a directory"),
        Kind::DirectoryNotEmpty => ("ENOTEMPTY", "directory not empty"),
        Kind::CrossesDevices => ("EXDEV", "cross-device link not permitted"),
        Kind::ReadOnlyFilesystem => ("EROFS", "read-only file system"),
        Kind::StorageFull => ("ENOSPC", "no space left on device"),
        Kind::QuotaExceeded => ("EDQUOT", "disk quota exceeded"),
        Kind::FileTooLarge => ("EFBIG", "file too large"),
        Kind::InvalidFilename => ("ENAMETOOLONG", "name too long"),
        Kind::InvalidInput => ("EINVAL", "invalid argument"),
        Kind::ExecutableFileBusy => ("ETXTBSY", "text file is busy"),
        Kind::ResourceBusy => ("EBUSY", "resource busy or locked"),
        Kind::TooManyLinks => ("EMLINK", "too many links"),
        _ => return ("EIO", error.to_string()),
    };
    (code, message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_read_as_those_of_node() {
        let missing = io::Error::from(io::ErrorKind::NotFound);
        assert_eq!(
            Error::system(&missing, "open", "/a/b").to_string(),
            "ENOENT: no such file or directory, open '/a/b'"
        );
        assert_eq!(
            Error::system_between(&missing, "rename", "/a", "/b").to_string(),
            "ENOENT: no such file or directory, rename '/a' -> '/b'"
        );
    }
}
