//! Files of the control sockets, by which the running hosts are found.

use std::io;
use std::path::{Path, PathBuf};

use dormouse_files::ownership;
use interprocess::local_socket::{ListenerOptions, Name, prelude::*, tokio::Listener};

/// Suffix of the file by which a host is found. On Unix it is the socket; on Windows, where pipes
/// have a name space of their own, it is an empty file that stands for one.
const SUFFIX: &str = "sock";

/// The file of a host.
pub(super) fn file(folder: &Path, pid: u32) -> PathBuf {
    folder.join(format!("{pid}.{SUFFIX}"))
}

/// Returns the hosts that have a file, by process id. Not all of them need be alive. What another
/// user can have put there is no host of this one's, and is told nothing.
pub(super) fn files(folder: &Path) -> Vec<(u32, PathBuf)> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        // No folder, no host: nobody has ever listened.
        return Vec::new();
    };
    let mut files: Vec<_> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|suffix| suffix == SUFFIX))
        .filter(|path| ownership::counts(path, folder))
        .filter_map(|path| Some((path.file_stem()?.to_str()?.parse().ok()?, path)))
        .collect();
    files.sort_unstable();
    files
}

/// Returns the name of the socket to connect to.
#[cfg(unix)]
pub(super) fn name(file: &Path) -> io::Result<Name<'_>> {
    file.to_fs_name::<interprocess::local_socket::GenericFilePath>()
}

/// Returns the name of the pipe to connect to.
#[cfg(windows)]
pub(super) fn name(file: &Path) -> io::Result<Name<'static>> {
    let pid = file.file_stem().unwrap_or_default().to_string_lossy();
    format!("dormouse-{pid}").to_ns_name::<interprocess::local_socket::GenericNamespaced>()
}

/// Listens at a host's own file. What is there already is left from an earlier
/// process of the same id, which cannot be alive.
pub(super) fn bind(file: &Path) -> io::Result<Listener> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    #[cfg(windows)]
    std::fs::write(file, [])?;
    // The guard removes it: a listener that is dropped late, with the runtime,
    // would.
    let options =
        || -> io::Result<_> { Ok(ListenerOptions::new().name(name(file)?).reclaim_name(false)) };
    #[cfg(unix)]
    {
        use interprocess::os::unix::local_socket::ListenerOptionsExt as _;
        match options()?.mode(0o600).create_tokio() {
            // Not every system can do this; the folder keeps others out, too.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
            done => return done,
        }
    }
    options()?.create_tokio()
}
