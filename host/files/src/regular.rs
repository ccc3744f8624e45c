//! Opening and reading of files that may turn out to be special: opening a pipe would wait for
//! ever, and reading a device would fill the memory.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

/// Opens a regular file for reading, without waiting. A special file that is put in its place
/// meanwhile is refused.
///
/// # Errors
/// There is no file, it cannot be opened, or the path is something else:
/// [`ErrorKind::IsADirectory`] for a folder, [`ErrorKind::InvalidInput`] for a special file.
pub fn open_regular_file(path: &Path) -> io::Result<File> {
    // Opening a device can have an effect of its own, so the kind is checked before opening; and
    // after it, as another file may be there by then.
    check(&std::fs::metadata(path)?)?;
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }
    let file = options.open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

/// Reads a regular file; none where there is no such file.
///
/// # Errors
/// The file cannot be opened or read, is not regular (see [`open_regular_file`]), or has more than
/// `max_bytes` ([`ErrorKind::FileTooLarge`]).
pub fn read_regular_file(path: &Path, max_bytes: u64) -> io::Result<Option<Vec<u8>>> {
    let read = open_and_read_regular_file(path, max_bytes)?;
    Ok(read.map(|(_, bytes)| bytes))
}

/// Reads a regular file like [`read_regular_file`], and returns the open file, too.
///
/// # Errors
/// Errors of [`read_regular_file`].
pub fn open_and_read_regular_file(
    path: &Path,
    max_bytes: u64,
) -> io::Result<Option<(File, Vec<u8>)>> {
    let mut file = match open_regular_file(path) {
        Ok(file) => file,
        // A path through a file means the same as one that does not exist.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let size = file.metadata()?.len();
    let too_large = || {
        let message = format!("it has more than the {max_bytes} bytes that are read of it");
        io::Error::new(ErrorKind::FileTooLarge, message)
    };
    if size > max_bytes {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    let mut limited = io::Read::by_ref(&mut file).take(max_bytes.saturating_add(1));
    limited.read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(too_large());
    }
    Ok(Some((file, bytes)))
}

fn check(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() {
        Ok(())
    } else if metadata.is_dir() {
        Err(io::Error::new(ErrorKind::IsADirectory, "it is a folder"))
    } else {
        Err(io::Error::new(
            ErrorKind::InvalidInput,
            "it is neither a file nor a folder",
        ))
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_but_a_file_of_bounded_size_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "12345").unwrap();
        symlink("file", at("link")).unwrap();
        symlink("/dev/zero", at("zero")).unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(at("fifo"))
            .status();
        assert!(made.unwrap().success());
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        for name in ["file", "link"] {
            assert_eq!(read_regular_file(&at(name), 5).unwrap().unwrap(), b"12345");
        }
        for (name, max_bytes, kind) in [
            ("file", 4, ErrorKind::FileTooLarge),
            ("fifo", 5, ErrorKind::InvalidInput),
            ("zero", 5, ErrorKind::InvalidInput),
            ("socket", 5, ErrorKind::InvalidInput),
            (".", 5, ErrorKind::IsADirectory),
        ] {
            let error = read_regular_file(&at(name), max_bytes).unwrap_err();
            assert_eq!(error.kind(), kind, "{name}: {error}");
        }
        for missing in ["none", "file/none"] {
            assert!(read_regular_file(&at(missing), 5).unwrap().is_none());
        }
    }

    #[test]
    fn what_is_swapped_between_look_and_opening_is_not_waited_for() {
        use std::sync::atomic::{AtomicBool, Ordering};

        let folder = tempfile::tempdir().unwrap();
        let (file, fifo) = (folder.path().join("file"), folder.path().join("fifo"));
        let (spare, name) = (folder.path().join("spare"), folder.path().join("name"));
        std::fs::write(&file, "1").unwrap();
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        assert!(made.unwrap().success());
        std::fs::hard_link(&file, &name).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for target in [&fifo, &file].into_iter().cycle() {
                    if done.load(Ordering::Relaxed) {
                        break;
                    }
                    std::fs::hard_link(target, &spare).unwrap();
                    std::fs::rename(&spare, &name).unwrap();
                    let _ = std::fs::remove_file(&spare);
                }
            });
            // Each of them ends: with the file, or without.
            for _ in 0..20_000 {
                if let Ok(bytes) = read_regular_file(&name, 1) {
                    assert_eq!(bytes.unwrap(), b"1");
                }
            }
            done.store(true, Ordering::Relaxed);
        });
    }
}
