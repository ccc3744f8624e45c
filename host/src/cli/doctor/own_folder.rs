//! Folders of Dormouse's own: whether they are private, and can be written to.

use std::path::Path;

use dormouse_files::ownership;
use dormouse_text::visible::visible_path;

use super::Rows;

impl Rows {
    /// Checks that one of Dormouse's own folders is private, and ours.
    pub(super) fn folder(&mut self, about: &str, folder: &Path) {
        let shown = visible_path(folder);
        // Also where it is not made yet: what leads there may be another user's.
        if let Err(error) = ownership::check(folder, folder) {
            self.error(about, error.to_string());
            return;
        }
        let metadata = match std::fs::metadata(folder) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                match cannot_be_made(folder) {
                    None => self.ok(about, format!("{shown}: not made yet")),
                    Some(why) => self.error(about, why),
                }
                return;
            }
            Err(error) => {
                self.error(about, format!("{shown}: {error}"));
                return;
            }
        };
        if !metadata.is_dir() {
            self.error(
                about,
                format!("{shown} is no folder\nhint: remove it; it is made anew"),
            );
            return;
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = metadata.permissions().mode() & 0o777;
            if mode & 0o077 != 0 {
                self.error(
                    about,
                    format!("{shown} is open to others (mode {mode:o})\nhint: `chmod 700` it"),
                );
                return;
            }
        }
        // That a file can be made in it, says more than any bits.
        match tempfile::tempfile_in(folder) {
            Ok(_) => self.ok(about, shown.to_string()),
            Err(error) => self.error(
                about,
                format!("{shown} cannot be written to: {error}\nhint: is it yours, and is there room on the disk?"),
            ),
        }
    }
}

/// Returns why a folder that is not there cannot be made, or nothing be made in one that is there;
/// none where it can. Nothing is made to find out.
pub(super) fn cannot_be_made(folder: &Path) -> Option<String> {
    let there = folder.ancestors().find(|above| above.exists())?;
    let why = cannot_write_in(there)?;
    let cannot_be_made = match there == folder {
        true => String::new(),
        false => format!("{} cannot be made: ", visible_path(folder)),
    };
    Some(format!(
        "{cannot_be_made}`{}` {why}\n\
         hint: let your user write there, or set another place (`HOME`, `XDG_CONFIG_HOME`, \
         `XDG_CACHE_HOME`, `XDG_DATA_HOME`)",
        visible_path(there)
    ))
}

#[cfg(unix)]
fn cannot_write_in(folder: &Path) -> Option<String> {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    if !folder.is_dir() {
        return Some("is no folder".to_owned());
    }
    let access = Access::WRITE_OK | Access::EXEC_OK;
    let error = accessat(CWD, folder, access, AtFlags::EACCESS).err()?;
    Some(format!(
        "cannot be written to: {}",
        std::io::Error::from(error)
    ))
}

#[cfg(not(unix))]
fn cannot_write_in(folder: &Path) -> Option<String> {
    if !folder.is_dir() {
        return Some("is no folder".to_owned());
    }
    read_only(folder).then(|| "is read-only".to_owned())
}

/// Checks whether a folder is marked as read-only.
pub(super) fn read_only(folder: &Path) -> bool {
    folder
        .metadata()
        .is_ok_and(|metadata| metadata.permissions().readonly())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_made_is_told() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        std::fs::write(&file, "").unwrap();
        let told = |folder: &Path| cannot_be_made(folder).unwrap_or_default();
        assert_eq!(told(&home.path().join("data/dormouse")), "");
        assert_eq!(told(home.path()), "");
        assert!(told(&file.join("dormouse")).contains("is no folder"));
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1);
        // To root no folder is closed.
        #[cfg(unix)]
        if !rustix::process::geteuid().is_root() {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |mode| {
                let mode = std::fs::Permissions::from_mode(mode);
                std::fs::set_permissions(home.path(), mode).unwrap();
            };
            mode(0o500);
            let closed = told(&home.path().join("data/dormouse"));
            mode(0o700);
            assert!(closed.contains("cannot be written to"), "{closed}");
        }
    }
}
