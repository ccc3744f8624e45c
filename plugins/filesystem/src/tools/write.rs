//! Changing what is on disk: files, directories, names.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};

use crate::error::Error;
use crate::paths::{self, Folders};

/// The longest part of a file's name that goes into the name of its copy, in
/// bytes; the copy's name has to fit in the 255 bytes of most file systems.
const MAX_NAME: usize = 200;

/// `write_file`.
pub fn file(folders: &Folders, path: &str, content: &str) -> Result<String, Error> {
    let real = folders.resolve(path)?;
    folders.check_writable(&real)?;
    replace(&real, content)?;
    Ok(format!("Successfully wrote to {path}"))
}

/// `create_directory`.
pub fn directory(folders: &Folders, path: &str) -> Result<String, Error> {
    let real = folders.resolve(path)?;
    // Making sure of a directory that is there already needs no permission.
    if !fs::metadata(&real).is_ok_and(|metadata| metadata.is_dir()) {
        folders.check_writable(&real)?;
        fs::create_dir_all(&real).map_err(|error| Error::system(&error, "mkdir", &real))?;
    }
    Ok(format!("Successfully created directory {path}"))
}

/// `move_file`: of files and directories alike, never onto anything.
pub fn moved(folders: &Folders, source: &str, destination: &str) -> Result<String, Error> {
    let from = folders.resolve(source)?;
    let to = folders.resolve(destination)?;
    match fs::symlink_metadata(&to) {
        Ok(_) => return Err(Error::Exists(to)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(Error::system(&error, "lstat", &to)),
    }
    folders.check_writable(&from)?;
    folders.check_writable(&to)?;
    fs::rename(&from, &to).map_err(|error| Error::system_between(&error, "rename", &from, &to))?;
    Ok(format!("Successfully moved {source} to {destination}"))
}

/// Writes `content` into the file at the real path `real`, so that at every moment either the old
/// text or the whole new one is on disk.
///
/// The new text goes into a temporary file beside it first. A new file is made by renaming the
/// temporary one. An existing file is overwritten in place, and the temporary one removed after
/// that: renaming would give it the mode of a new file, and the sandbox cannot change modes, so a
/// script would lose its `x` and a private file its privacy with each edit.
pub fn replace(real: &str, content: &str) -> Result<(), Error> {
    let existing = match fs::metadata(real) {
        Ok(metadata) if metadata.is_dir() => {
            let error = io::Error::from(io::ErrorKind::IsADirectory);
            return Err(Error::system(&error, "open", real));
        }
        Ok(_) => {
            let file = OpenOptions::new().write(true).open(real);
            Some(file.map_err(|error| Error::system(&error, "open", real))?)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(Error::system(&error, "open", real)),
    };
    let copy = beside(real);
    let written = write_new(&copy, content);
    let done = match (written, existing) {
        (Err(error), _) => Err(Error::system(&error, "open", real)),
        (Ok(()), None) => fs::rename(&copy, real)
            .map_err(|error| Error::system_between(&error, "rename", &copy, real)),
        (Ok(()), Some(file)) => match overwrite(&file, content) {
            Ok(()) => {
                fs::remove_file(&copy).map_err(|error| Error::system(&error, "unlink", &copy))
            }
            // From here on the copy is all that is whole, so it stays.
            Err(error) => {
                let cause = Box::new(Error::system(&error, "write", real));
                return Err(Error::Interrupted {
                    path: real.to_owned(),
                    copy,
                    cause,
                });
            }
        },
    };
    if done.is_err() {
        // It may never have come to be; the first error is the one to tell.
        let _ = fs::remove_file(&copy);
    }
    done
}

/// Returns a path in the same directory that nothing has yet.
fn beside(real: &str) -> String {
    let name = paths::name(real);
    let end = name.floor_char_boundary(MAX_NAME);
    let random = RandomState::new().hash_one(real);
    let name = format!("{}.{random:016x}.tmp", name.get(..end).unwrap_or_default());
    paths::join(&paths::parent(real), &name)
}

fn write_new(path: &str, content: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(content.as_bytes())?;
    file.sync_all()
}

fn overwrite(mut file: &File, content: &str) -> io::Result<()> {
    file.write_all(content.as_bytes())?;
    file.set_len(content.len() as u64)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::paths::Folder;

    /// Makes a folder that is granted for writing, with a part that is not.
    fn granted() -> (tempfile::TempDir, String, Folders) {
        let (dir, root) = crate::fixture::folder();
        fs::create_dir(format!("{root}/ro")).unwrap();
        fs::write(format!("{root}/ro/kept"), "kept").unwrap();
        let list = vec![
            Folder {
                path: root.clone(),
                writable: true,
            },
            Folder {
                path: format!("{root}/ro"),
                writable: false,
            },
        ];
        (dir, root, Folders::new(list, None))
    }

    fn names(path: &str) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn files_are_written_whole_and_keep_their_mode() {
        let (_dir, root, folders) = granted();
        let path = format!("{root}/{}", "x".repeat(250));
        assert_eq!(
            file(&folders, &path, "a long first text").unwrap(),
            format!("Successfully wrote to {path}")
        );
        fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
        file(&folders, &path, "short").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "short");
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o751
        );
        assert_eq!(names(&root).len(), 2, "no copy is left over");
        let error = file(&folders, &format!("{root}/no/such"), "x")
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            format!("ENOENT: no such file or directory, open '{root}/no/such'")
        );
        let error = file(&folders, &root, "x").unwrap_err().to_string();
        assert!(
            error.starts_with("EISDIR: illegal operation on a directory"),
            "{error}"
        );
    }

    #[test]
    fn nothing_changes_in_a_folder_granted_for_reading() {
        let (_dir, root, folders) = granted();
        let at = |name: &str| format!("{root}/{name}");
        for error in [
            file(&folders, &at("ro/kept"), "x"),
            file(&folders, &at("ro/new"), "x"),
            directory(&folders, &at("ro/new")),
            moved(&folders, &at("ro/kept"), &at("moved")),
        ] {
            let error = error.unwrap_err().to_string();
            assert!(
                error.contains("granted read-only") && error.contains("FOLDER:rw`"),
                "{error}"
            );
        }
        directory(&folders, &at("ro")).unwrap();
        assert_eq!(names(&at("ro")), ["kept"]);
        assert_eq!(fs::read_to_string(at("ro/kept")).unwrap(), "kept");
    }

    #[test]
    fn moving_never_replaces() {
        let (_dir, root, folders) = granted();
        let at = |name: &str| format!("{root}/{name}");
        fs::write(at("a"), "a").unwrap();
        fs::write(at("b"), "b").unwrap();
        let error = moved(&folders, &at("a"), &at("b")).unwrap_err().to_string();
        assert_eq!(error, format!("Destination already exists: {root}/b"));
        moved(&folders, "a", "c").unwrap();
        assert_eq!(names(&root), ["b", "c", "ro"]);
        let error = moved(&folders, &at("a"), &at("d")).unwrap_err().to_string();
        assert_eq!(
            error,
            format!("ENOENT: no such file or directory, rename '{root}/a' -> '{root}/d'")
        );
    }

    #[test]
    fn directories_are_made_with_those_above() {
        let (_dir, root, folders) = granted();
        directory(&folders, "x/y/z").unwrap();
        directory(&folders, "x/y/z").unwrap();
        assert!(fs::metadata(format!("{root}/x/y/z")).unwrap().is_dir());
        fs::write(format!("{root}/f"), "").unwrap();
        let error = directory(&folders, "f").unwrap_err().to_string();
        assert_eq!(
            error,
            format!("EEXIST: file already exists, mkdir '{root}/f'")
        );
    }
}
