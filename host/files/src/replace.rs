//! Putting a new file in place of another, all or nothing.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// Who may do what with a file that is put in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// Whoever could with the one before; nobody but its user, where there was none.
    Kept,
    /// Nobody but its user.
    Private,
    /// Whoever these permissions say.
    Given(fs::Permissions),
}

/// Puts bytes in place of a file, which need not exist. A reader sees the one or the
/// other, never half of one. A link stays a link: what is replaced is the file
/// behind it.
///
/// # Errors
/// The file cannot be written, is read-only, or is a folder.
pub fn replace(file: &Path, bytes: &[u8], access: Access) -> anyhow::Result<()> {
    let target = target(file)?;
    let folder = target.parent().context("it is in no folder")?;
    make_folder(folder)?;
    let suffix = target.extension().map(|extension| {
        let extension = extension.to_string_lossy();
        format!(".{extension}")
    });
    // For its user alone, until more is said.
    let mut temporary = tempfile::Builder::new()
        .prefix(".dormouse-")
        .suffix(suffix.as_deref().unwrap_or_default())
        .tempfile_in(folder)?;
    if let Ok(metadata) = fs::metadata(&target) {
        if metadata.is_dir() {
            bail!("it is a folder\nhint: name a file in it");
        }
        // Replacing a file asks nobody whether it may be written to. Where its
        // permissions are to be others, what they are now means nothing.
        let given = matches!(access, Access::Given(_));
        if metadata.permissions().readonly() && !given {
            bail!("it is read-only\nhint: give yourself permission to write to it");
        }
        if access == Access::Kept {
            let permissions = metadata.permissions();
            temporary.as_file().set_permissions(permissions)?;
        }
    }
    if let Access::Given(permissions) = access {
        temporary.as_file().set_permissions(permissions)?;
    }
    temporary.write_all(bytes)?;
    temporary.as_file().sync_all()?;
    temporary.persist(&target)?;
    Ok(())
}

/// Makes a folder, and all above it that is not there, which nobody but its user can
/// enter. One that is there stays as it is.
///
/// # Errors
/// It cannot be made.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    // What is below a user's own folder is theirs alone by default elsewhere.
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Removes a file; of a link, the file behind it and the link.
///
/// # Errors
/// It cannot be removed.
pub fn remove(file: &Path) -> anyhow::Result<()> {
    let target = target(file)?;
    fs::remove_file(&target)?;
    if target != file && fs::symlink_metadata(file).is_ok() {
        fs::remove_file(file)?;
    }
    Ok(())
}

fn target(file: &Path) -> anyhow::Result<PathBuf> {
    match fs::symlink_metadata(file) {
        Ok(metadata) if metadata.is_symlink() => fs::canonicalize(file)
            .with_context(|| format!("`{}` is a link that leads nowhere", file.display())),
        // The folder of a bare name is the one that the process works in.
        _ => Ok(std::path::absolute(file)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/a.txt");
        replace(&file, b"1", Access::Private).unwrap();
        replace(&file, &[0xff, 0], Access::Kept).unwrap();
        assert_eq!(fs::read(&file).unwrap(), [0xff, 0]);
        let inside = file.parent().unwrap();
        let error = replace(inside, b"1", Access::Kept).unwrap_err();
        assert!(error.to_string().starts_with("it is a folder"), "{error}");
        let mut permissions = file.metadata().unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&file, permissions).unwrap();
        assert!(replace(&file, b"2", Access::Kept).is_err());
        assert_eq!(fs::read(&file).unwrap(), [0xff, 0]);
        // Nothing is left of what was not put in place.
        assert_eq!(fs::read_dir(inside).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn folders_on_the_way_are_private() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/deep/a.txt");
        replace(&file, b"1", Access::Private).unwrap();
        for above in file.ancestors().skip(1).take(2) {
            let mode = above.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{}", above.display());
        }
    }

    #[cfg(unix)]
    #[test]
    fn access_is_what_was_asked_for() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        let link = folder.path().join("b");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        fs::write(&file, "").unwrap();
        let given = fs::Permissions::from_mode(0o754);
        for (access, mode) in [
            (Access::Given(given), 0o754),
            (Access::Kept, 0o754),
            (Access::Private, 0o600),
        ] {
            replace(&link, b"x", access).unwrap();
            let now = file.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(now, mode);
        }
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}
