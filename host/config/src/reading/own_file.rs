//! Whether the configuration file is its user's own: it says what is run.

use std::path::Path;

use anyhow::bail;
use dormouse_files::{ownership, paths};
use dormouse_text::visible::visible_path;

/// Checks that nobody but its user and root can have written the configuration file that is read
/// where none is named. One that was named with `--config` is somebody's choice, as a program is that
/// they start: whose it is, is only told. Returns whether the file is to be read: not where there is
/// none and others could put one there.
///
/// # Errors
/// It is another user's, or others can write to it or to a folder that leads to it.
pub(crate) fn is_to_be_read(file: &Path) -> anyhow::Result<bool> {
    check(file, paths::config_file(None).ok().as_deref())
}

fn check(file: &Path, own: Option<&Path>) -> anyhow::Result<bool> {
    let error = match ownership::may_read(file) {
        Ok(is_kept) => return Ok(is_kept),
        Err(error) => error,
    };
    let shown = visible_path(file);
    if own == Some(file) {
        bail!(
            "the configuration file `{shown}` is not used: {error}, or name another file with `--config`"
        );
    }
    ownership::warn_once(format!(
        "the configuration file `{shown}` was named, and is used: {error}"
    ));
    Ok(true)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

    use super::*;

    #[test]
    fn what_others_can_have_written_is_not_run() {
        let all = tempfile::tempdir().unwrap();
        let all = all.path().canonicalize().unwrap();
        let set = |path: &Path, mode| {
            std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        };
        set(&all, 0o755);
        let folder = all.join("dormouse");
        let (file, theirs) = (folder.join("dormouse.toml"), all.join("theirs.toml"));
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(&file, "").unwrap();
        let is_read = |file: &Path| check(file, Some(file));
        for (folder_mode, mode, is_own) in [
            (0o755, 0o644, true),
            (0o700, 0o666, true),
            (0o755, 0o666, false),
            (0o777, 0o644, false),
            (0o1777, 0o644, true),
        ] {
            set(&folder, folder_mode);
            set(&file, mode);
            let read = is_read(&file);
            assert_eq!(read.is_ok(), is_own, "{folder_mode:o} {mode:o}");
            if let Err(error) = read {
                let error = error.to_string();
                assert!(error.contains("can be written to by others"), "{error}");
                assert!(error.contains("\nhint: `chmod go-w` it"), "{error}");
            }
            // Where it was named.
            assert!(check(&file, Some(&theirs)).unwrap());
        }
        set(&folder, 0o755);
        set(&file, 0o644);
        assert!(is_read(&file).unwrap());
        assert!(is_read(&folder.join("none.toml")).unwrap());
        if !rustix::process::geteuid().is_root() {
            return;
        }
        std::fs::write(&theirs, "").unwrap();
        let link = folder.join("link.toml");
        symlink(&theirs, &link).unwrap();
        assert!(is_read(&link).unwrap());
        chown(&theirs, Some(54_321), None).unwrap();
        let error = is_read(&link).unwrap_err().to_string();
        let why = format!(
            "link.toml` is not used: `{}` is another user's (uid 54321)",
            theirs.display()
        );
        assert!(error.contains(&why), "{error}");
        assert!(
            error.contains("\nhint: have root give it to you (`chown`)"),
            "{error}"
        );
    }
}
