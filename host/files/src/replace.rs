//! Putting a new file in place of another, all or nothing.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use tempfile::NamedTempFile;

use crate::{attributes, ownership};

pub use crate::access::Access;

/// Time for which a file that was taken away is looked after: whoever had it open goes on writing to
/// it, and would write into nothing.
const LOOKED_AFTER: Duration = Duration::from_millis(100);

/// Beginning of the names of files that are made beside others.
const PREFIX: &str = ".dormouse-new-";

/// Length of what follows it, up to the extension.
const RANDOM: usize = 6;

/// Time after which nobody can still be at work with such a file.
pub const ABANDONED: Duration = Duration::from_secs(3600);

/// Replaces the content of a file, which need not exist. Readers see the old or the new content,
/// never a part of one. A link stays a link: the file behind it is replaced, unless the link is another
/// user's where anybody may put one.
///
/// # Errors
/// The file cannot be written, is read-only, or is a folder or a device.
pub fn replace(file: &Path, bytes: &[u8], access: Access) -> anyhow::Result<()> {
    let (temporary, target) = prepare(file, bytes, access)?;
    temporary.persist(&target)?;
    Ok(())
}

/// Replaces the content of a file as [`replace`] does, if it still is what the new content was made
/// from. `is_unchanged` tells that of a path, which need not exist. It looks at the file when all of
/// the new content is on the disk, and at what was there when both have changed places, where the
/// system can do that, then and a moment later: what others write until then is not lost. Returns
/// whether the file was replaced.
///
/// # Errors
/// As of [`replace`], or of `is_unchanged`.
pub fn replace_if(
    file: &Path,
    bytes: &[u8],
    access: Access,
    is_unchanged: impl Fn(&Path) -> anyhow::Result<bool>,
) -> anyhow::Result<bool> {
    let (temporary, target) = prepare(file, bytes, access)?;
    if !is_unchanged(&target)? {
        return Ok(false);
    }
    if !exchange(temporary.path(), &target) {
        // There is none yet, or this file system knows no such thing.
        let temporary = match target.exists() {
            true => temporary,
            false => match temporary.persist_noclobber(&target) {
                Ok(_) => return Ok(true),
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                    return Ok(false);
                }
                Err(error) => error.file,
            },
        };
        temporary.persist(&target)?;
        return Ok(true);
    }
    let stays_unchanged = stays(temporary.path(), is_unchanged);
    if !matches!(stays_unchanged, Ok(true)) {
        give_back(temporary, &target, bytes)?;
    }
    stays_unchanged
}

/// Whether a file that was taken away is unchanged, and stays that.
fn stays(
    path: &Path,
    is_unchanged: impl Fn(&Path) -> anyhow::Result<bool>,
) -> anyhow::Result<bool> {
    if !is_unchanged(path)? {
        return Ok(false);
    }
    std::thread::sleep(LOOKED_AFTER);
    is_unchanged(path)
}

/// Gives a file back what was there when it changed places with a new one.
fn give_back(temporary: NamedTempFile, target: &Path, new: &[u8]) -> anyhow::Result<()> {
    if !exchange(temporary.path(), target) {
        temporary.persist(target)?;
        return Ok(());
    }
    // Somebody may have written again in between.
    if fs::read(temporary.path())? != new {
        exchange(temporary.path(), target);
    }
    Ok(())
}

/// Has two files change places. Returns false where they have not.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn exchange(one: &Path, other: &Path) -> bool {
    use rustix::fs::{CWD, RenameFlags, renameat_with};

    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok()
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn exchange(_: &Path, _: &Path) -> bool {
    false
}

/// Writes the new content of a file beside it. Returns that, and the file behind all links.
fn prepare(file: &Path, bytes: &[u8], access: Access) -> anyhow::Result<(NamedTempFile, PathBuf)> {
    let target = target(file)?;
    let folder = target.parent().context("it is in no folder")?;
    make_folder(folder)?;
    sweep_beside(&target, ABANDONED);
    // For its user alone, until more is said.
    let mut temporary = tempfile::Builder::new()
        .prefix(PREFIX)
        .rand_bytes(RANDOM)
        .suffix(&suffix(&target))
        .tempfile_in(folder)?;
    if let Ok(metadata) = fs::metadata(&target) {
        if metadata.is_dir() {
            bail!("it is a folder\nhint: name a file in it");
        }
        if !metadata.is_file() {
            bail!("it is no file, but something like a device or a pipe\nhint: name a file");
        }
        // Replacing a file asks nobody whether it may be written to. Where its
        // permissions are to be others, what they are now means nothing.
        let given = matches!(access, Access::Given(_));
        if metadata.permissions().readonly() && !given {
            bail!("it is read-only\nhint: give yourself permission to write to it");
        }
        attributes::hand_on(&target, &metadata, temporary.as_file(), &access)?;
    } else if let Access::Given(permissions) = access {
        temporary.as_file().set_permissions(permissions)?;
    }
    temporary.write_all(bytes)?;
    temporary.as_file().sync_all()?;
    Ok((temporary, target))
}

/// Whether a file is one that is made beside others to take their place, or was taken away from
/// there: what is in it is not for anybody.
#[must_use]
pub fn is_temporary(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with(PREFIX))
}

/// Returns the extension of a file, with its dot.
fn suffix(file: &Path) -> String {
    file.extension().map_or_else(String::new, |extension| {
        format!(".{}", extension.to_string_lossy())
    })
}

/// Removes what was made beside a file, and others with its extension, by processes that were killed, if
/// it is older than that ([`ABANDONED`] where others may be at work there): it may have secrets in it.
pub fn sweep_beside(file: &Path, older_than: Duration) {
    if let Some(folder) = file.parent() {
        sweep(folder, &suffix(file), older_than);
    }
}

#[cfg(unix)]
fn sweep(folder: &Path, suffix: &str, older_than: Duration) {
    use std::os::unix::fs::MetadataExt as _;
    use std::time::SystemTime;

    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let random = name.to_str().and_then(|name| {
            let random = name.strip_prefix(PREFIX)?;
            random.strip_suffix(suffix)
        });
        if random.is_none_or(|random| random.len() != RANDOM) {
            continue;
        }
        // The file that has changed places with a new one is as old as it was, but this time is
        // that of its last change of name.
        let is_abandoned = entry.metadata().is_ok_and(|metadata| {
            let since = u64::try_from(metadata.ctime()).unwrap_or_default();
            let since = now.saturating_sub(Duration::from_secs(since));
            metadata.is_file() && since >= older_than
        });
        if is_abandoned {
            // What cannot be removed is in nobody's way.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(not(unix))]
fn sweep(_: &Path, _: &str, _: Duration) {}

/// Makes a folder that only its user can enter, with all above it that are missing. A folder that
/// exists stays as it is.
///
/// # Errors
/// It cannot be made, or this is root in the home of somebody else.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    crate::ownership::check_home(folder)?;
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    // What is below a user's own folder is theirs alone by default elsewhere.
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Removes a file, if it still is what it is to be; of a link, the file behind it and the link.
/// `is_unchanged` tells that of a path: of the file, and of what was there when it was taken away,
/// then and a moment later. Returns whether the file was removed.
///
/// # Errors
/// It cannot be removed, or `is_unchanged` fails.
pub fn remove_if(
    file: &Path,
    is_unchanged: impl Fn(&Path) -> anyhow::Result<bool>,
) -> anyhow::Result<bool> {
    let real = target(file)?;
    if !is_unchanged(&real)? {
        return Ok(false);
    }
    let folder = real.parent().context("it is in no folder")?;
    sweep_beside(&real, ABANDONED);
    let aside = tempfile::Builder::new()
        .prefix(PREFIX)
        .rand_bytes(RANDOM)
        .suffix(&suffix(&real))
        .tempfile_in(folder)?
        .into_temp_path();
    fs::rename(&real, &aside)?;
    let stays_unchanged = stays(&aside, is_unchanged);
    if !matches!(stays_unchanged, Ok(true)) {
        return match aside.persist_noclobber(&real) {
            // Somebody has made another one.
            Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => {
                Err(error.error.into())
            }
            _ => stays_unchanged,
        };
    }
    aside.close()?;
    if real != file && fs::symlink_metadata(file).is_ok() {
        fs::remove_file(file)?;
    }
    Ok(true)
}

/// Returns the file behind all links. It is what was judged: a link that somebody puts there later is
/// replaced itself.
fn target(file: &Path) -> anyhow::Result<PathBuf> {
    let real = ownership::written(file)?;
    match fs::symlink_metadata(file) {
        Ok(metadata) if metadata.is_symlink() => {
            real.with_context(|| format!("`{}` is a link that leads nowhere", file.display()))
        }
        // The folder of a bare name is the one that the process works in.
        _ => Ok(std::path::absolute(file)?),
    }
}

#[cfg(test)]
mod tests;
