//! Putting a new text in place of a file, all or nothing.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// Who may read a file that is put in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Whoever could read the one before; nobody but its user, where there was none.
    Kept,
    /// Nobody but its user.
    Private,
}

/// Puts a text in place of a file, which need not exist. A reader sees the one or
/// the other, never half of one. A link stays a link: what is replaced is the file
/// behind it.
///
/// # Errors
/// The file cannot be written, or is read-only.
pub fn replace(file: &Path, text: &str, access: Access) -> anyhow::Result<()> {
    let target = target(file)?;
    let folder = target.parent().context("it is in no folder")?;
    fs::create_dir_all(folder)?;
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
        // Replacing a file asks nobody whether it may be written to.
        if metadata.permissions().readonly() {
            bail!("it is read-only\nhint: give yourself permission to write to it");
        }
        if access == Access::Kept {
            temporary
                .as_file()
                .set_permissions(metadata.permissions())?;
        }
    }
    temporary.write_all(text.as_bytes())?;
    temporary.as_file().sync_all()?;
    temporary.persist(&target)?;
    Ok(())
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
        _ => Ok(file.to_owned()),
    }
}
