//! Opening the folders that servers are granted: never through a link.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::identity::Identity;

/// A folder that is held open, so that it stays the same whatever becomes of its path.
#[derive(Debug)]
pub struct OpenFolder {
    /// The open folder.
    pub file: File,
    /// The folders that lead to it, the root first, and last the folder itself.
    chain: Vec<Identity>,
    /// Its path, with no link in it.
    path: PathBuf,
}

/// Reason why a folder is not opened.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum OpenError {
    #[error("`{at}` is a link")]
    Link { at: PathBuf },
    #[error("`{at}` is no folder")]
    NotFolder { at: PathBuf },
    #[error("`{at}`: {error}")]
    Io {
        at: PathBuf,
        #[source]
        error: io::Error,
    },
}

impl OpenFolder {
    /// Opens the folder at an absolute path, one component after the other, none of
    /// which may be a link.
    ///
    /// # Errors
    /// A component is a link or no folder, or cannot be opened.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let names = path.components().filter_map(|component| match component {
            Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
            Component::Normal(name) => Some(Ok(name)),
            // Only what leads through no link has a parent that its path tells.
            Component::ParentDir => Some(Err(OpenError::Io {
                at: path.to_owned(),
                error: io::Error::new(io::ErrorKind::InvalidInput, "it has `..` in it"),
            })),
        });
        let names: Vec<_> = names.collect::<Result<_, _>>()?;
        let mut at: PathBuf = path
            .components()
            .take_while(|component| matches!(component, Component::Prefix(_) | Component::RootDir))
            .collect();
        let mut file = seam::root(&at, names.is_empty()).map_err(|error| explained(&at, error))?;
        let mut chain = vec![identity(&file, &at)?];
        for (index, name) in names.iter().enumerate() {
            at.push(name);
            let is_last = index + 1 == names.len();
            file =
                seam::inside(&file, &at, name, is_last).map_err(|error| explained(&at, error))?;
            chain.push(identity(&file, &at)?);
        }
        Ok(Self {
            file,
            chain,
            path: at,
        })
    }

    /// Opens a regular file in it for reading, without waiting, and not where it is a link.
    ///
    /// # Errors
    /// There is no file, it is none that is regular, or it cannot be opened.
    pub fn open_file(&self, name: &OsStr) -> io::Result<File> {
        let file = seam::file_inside(&self.file, &self.path.join(name), name)?;
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// Returns the path of the folder, with no link in it.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the identity of the folder.
    pub fn identity(&self) -> Option<&Identity> {
        self.chain.last()
    }

    /// Whether this folder is `folder` or within it.
    pub fn is_within(&self, folder: &Identity) -> bool {
        self.chain.contains(folder)
    }
}

fn identity(file: &File, at: &Path) -> Result<Identity, OpenError> {
    match file.metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(Identity::new(&metadata, at)),
        Ok(_) => Err(OpenError::NotFolder { at: at.to_owned() }),
        Err(error) => Err(explained(at, error)),
    }
}

/// Returns the reason why a component could not be opened as a folder: systems tell a link that is
/// not followed from what is no folder in different ways, or not at all.
fn explained(at: &Path, error: io::Error) -> OpenError {
    let at = at.to_owned();
    match std::fs::symlink_metadata(&at) {
        Ok(metadata) if metadata.is_symlink() => OpenError::Link { at },
        Ok(metadata) if !metadata.is_dir() => OpenError::NotFolder { at },
        _ => OpenError::Io { at, error },
    }
}

/// Resolves the links of a path as they are now. Parts that do not exist stay as they are written:
/// whoever makes them later cannot make them links to somewhere else.
#[must_use]
pub fn real_path(path: &Path) -> PathBuf {
    let mut missing = Vec::new();
    for above in path.ancestors() {
        if let Ok(mut real) = above.canonicalize() {
            real.extend(missing.iter().rev());
            return real;
        }
        match above.components().next_back() {
            Some(name) => missing.push(name),
            None => break,
        }
    }
    path.to_owned()
}

#[cfg(unix)]
mod seam {
    //! Opening by handles, so that no folder can be swapped between two looks.

    use std::ffi::OsStr;
    use std::fs::File;
    use std::io;
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat};

    /// Flag for the folders on the way, which are only walked through, where the system has such a
    /// mode.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const WALK: OFlags = OFlags::PATH;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const WALK: OFlags = OFlags::RDONLY;

    fn flags(is_last: bool) -> OFlags {
        let access = if is_last { OFlags::RDONLY } else { WALK };
        access | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
    }

    pub(super) fn root(at: &Path, is_last: bool) -> io::Result<File> {
        Ok(openat(CWD, at, flags(is_last), Mode::empty())?.into())
    }

    pub(super) fn inside(folder: &File, _: &Path, name: &OsStr, is_last: bool) -> io::Result<File> {
        Ok(openat(folder, name, flags(is_last), Mode::empty())?.into())
    }

    pub(super) fn file_inside(folder: &File, _: &Path, name: &OsStr) -> io::Result<File> {
        // Opening a device can have an effect of its own, so the kind is checked before, too.
        let kind = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(kind.st_mode) {
            FileType::RegularFile => {}
            FileType::Symlink => return Err(io::Error::other("it is a link")),
            FileType::Directory => return Err(io::ErrorKind::IsADirectory.into()),
            _ => return Err(io::ErrorKind::InvalidInput.into()),
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY;
        Ok(openat(folder, name, flags, Mode::empty())?.into())
    }
}

#[cfg(not(unix))]
mod seam {
    //! Opening by paths, which are checked before they are opened.

    use std::ffi::OsStr;
    use std::fs::File;
    use std::io;
    use std::path::Path;

    fn open(at: &Path) -> io::Result<File> {
        if std::fs::symlink_metadata(at)?.is_symlink() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let mut options = std::fs::OpenOptions::new();
        #[cfg(windows)]
        {
            use std::os::windows::fs::OpenOptionsExt as _;
            /// Flag that Windows needs to open a folder.
            const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
            options.custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
        }
        options.read(true).open(at)
    }

    pub(super) fn root(at: &Path, _: bool) -> io::Result<File> {
        open(at)
    }

    pub(super) fn inside(_: &File, at: &Path, _: &OsStr, _: bool) -> io::Result<File> {
        open(at)
    }

    pub(super) fn file_inside(_: &File, at: &Path, _: &OsStr) -> io::Result<File> {
        open(at)
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn place() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        (folder, real)
    }

    #[test]
    fn no_component_may_be_a_link() {
        let (_keep, place) = place();
        std::fs::create_dir_all(place.join("a/b/c")).unwrap();
        symlink(place.join("a"), place.join("link")).unwrap();
        symlink("b", place.join("a/to-b")).unwrap();
        assert!(OpenFolder::open(&place.join("a/b/c")).is_ok());
        for (path, at) in [
            ("link", "link"),
            ("link/b", "link"),
            ("a/to-b", "a/to-b"),
            ("a/to-b/c", "a/to-b"),
        ] {
            match OpenFolder::open(&place.join(path)) {
                Err(OpenError::Link { at: found }) => assert_eq!(found, place.join(at)),
                other => panic!("{path}: {other:?}"),
            }
        }
        assert!(OpenFolder::open(&place.join("a/../a")).is_err());
    }

    #[test]
    fn only_folders_are_opened() {
        let (_keep, place) = place();
        std::fs::write(place.join("file"), "").unwrap();
        let fifo = place.join("fifo");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        assert!(made.unwrap().success());
        for path in ["file", "fifo", "file/a"] {
            assert!(
                matches!(
                    OpenFolder::open(&place.join(path)),
                    Err(OpenError::NotFolder { .. } | OpenError::Io { .. })
                ),
                "{path}"
            );
        }
    }

    #[test]
    fn only_regular_files_of_a_folder_are_opened() {
        let (_keep, place) = place();
        std::fs::write(place.join("file"), "text").unwrap();
        std::fs::create_dir(place.join("folder")).unwrap();
        symlink("file", place.join("link")).unwrap();
        let fifo = place.join("fifo");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        assert!(made.unwrap().success());
        let folder = OpenFolder::open(&place).unwrap();
        for (name, is_opened) in [
            ("file", true),
            ("folder", false),
            ("link", false),
            ("fifo", false),
            ("none", false),
        ] {
            let opened = folder.open_file(OsStr::new(name));
            assert_eq!(opened.is_ok(), is_opened, "{name}: {opened:?}");
        }
    }

    #[test]
    fn a_real_path_keeps_what_does_not_exist() {
        let (_keep, place) = place();
        std::fs::create_dir(place.join("a")).unwrap();
        symlink("a", place.join("link")).unwrap();
        symlink("nowhere", place.join("dangling")).unwrap();
        for (path, real) in [
            ("a", "a"),
            ("link", "a"),
            ("link/x/y", "a/x/y"),
            ("dangling/x", "dangling/x"),
        ] {
            assert_eq!(real_path(&place.join(path)), place.join(real), "{path}");
        }
    }

    #[test]
    fn a_folder_is_within_all_that_lead_to_it() {
        let (_keep, place) = place();
        std::fs::create_dir_all(place.join("a/b")).unwrap();
        let [outer, inner] = ["a", "a/b"].map(|path| OpenFolder::open(&place.join(path)).unwrap());
        let within = |one: &OpenFolder, of: &OpenFolder| one.is_within(of.identity().unwrap());
        assert!(within(&inner, &outer) && within(&inner, &inner));
        assert!(!within(&outer, &inner));
    }
}
