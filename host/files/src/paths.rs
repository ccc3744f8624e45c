//! Where Dormouse's files are, by the conventions of the system it runs on.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use etcetera::BaseStrategy;

/// The folder that Dormouse has within each of the user's folders.
const FOLDER: &str = "dormouse";

/// The configuration file's name.
const FILE: &str = "dormouse.toml";

/// The configuration file: the one asked for with `--config`, else the user's
/// (`~/.config/dormouse/dormouse.toml` on Unix). Absolute.
///
/// # Errors
/// A file was asked for that does not exist, or the user has no home folder.
pub fn config_file(asked_for: Option<&Path>) -> anyhow::Result<PathBuf> {
    let Some(path) = asked_for else {
        return Ok(base()?.config_dir().join(FOLDER).join(FILE));
    };
    let shown = path.display();
    match path.try_exists() {
        Ok(true) => {}
        Ok(false) => bail!(
            "the configuration file `{shown}` does not exist\nhint: create it, or leave out `--config` to use your own"
        ),
        Err(error) => {
            return Err(error)
                .with_context(|| format!("the configuration file `{shown}` cannot be reached"));
        }
    }
    std::path::absolute(path).with_context(|| format!("`{shown}` is no path"))
}

/// The folder for what can be made again: the catalog's index and compiled
/// components. It need not exist.
///
/// # Errors
/// The user has no home folder.
pub fn cache_dir() -> anyhow::Result<PathBuf> {
    Ok(base()?.cache_dir().join(FOLDER))
}

/// The folder for what cannot be made again without asking somebody: what is known
/// of upstreams, whom the user trusts, tokens, backups. It need not exist.
///
/// # Errors
/// The user has no home folder.
pub fn data_dir() -> anyhow::Result<PathBuf> {
    Ok(base()?.data_dir().join(FOLDER))
}

/// The folder for the control sockets of running hosts. It need not exist.
///
/// # Errors
/// The user has no home folder.
pub fn runtime_dir() -> anyhow::Result<PathBuf> {
    let mut all = runtime_dirs()?;
    Ok(all.swap_remove(0))
}

/// All folders in which control sockets of this user's hosts may be, the one for this process
/// first: some clients start a host without the environment that says where it is for others.
///
/// # Errors
/// The user has no home folder.
pub fn runtime_dirs() -> anyhow::Result<Vec<PathBuf>> {
    let base = base()?;
    // Not a shared temporary folder, where others could be first to make it.
    let private = base.cache_dir().join(FOLDER).join("run");
    Ok(match base.runtime_dir() {
        Some(folder) => vec![folder.join(FOLDER), private],
        None => {
            let usual = usual_runtime_dir().map(|folder| folder.join(FOLDER));
            std::iter::once(private).chain(usual).collect()
        }
    })
}

/// The user's runtime directory where the environment does not say it, as systemd makes it.
#[cfg(target_os = "linux")]
fn usual_runtime_dir() -> Option<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    Some(PathBuf::from(format!("/run/user/{user}"))).filter(|folder| folder.is_dir())
}

#[cfg(not(target_os = "linux"))]
fn usual_runtime_dir() -> Option<PathBuf> {
    None
}

/// The file or folder that a user's text means, absolute: `~` is their home, and
/// a relative path is taken from `base`. The error says what is wrong with it.
pub fn expand(text: &str, base: &Path) -> Result<PathBuf, String> {
    if text.is_empty() {
        return Err("a path is empty".to_owned());
    }
    if text.contains('\0') {
        return Err("a path has a NUL character in it".to_owned());
    }
    let path = match text.strip_prefix('~') {
        None => base.join(text),
        Some(rest) => {
            let inside = rest.trim_start_matches(std::path::is_separator);
            if inside.len() == rest.len() && !rest.is_empty() {
                return Err(format!(
                    "`{text}` names another user's home, which is not looked up"
                ));
            }
            let home = etcetera::home_dir()
                .map_err(|_| format!("`{text}` needs a home folder, and you have none"))?;
            home.join(inside)
        }
    };
    std::path::absolute(&path).map_err(|error| format!("`{text}` is no path: {error}"))
}

/// Takes a lock that holds for all processes until it is dropped. Its file is made
/// where there is none, and stays.
///
/// # Errors
/// The file cannot be made.
pub fn lock(path: &Path) -> anyhow::Result<File> {
    let lock = || -> std::io::Result<File> {
        if let Some(folder) = path.parent() {
            make_private(folder)?;
        }
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)?;
        file.lock()?;
        Ok(file)
    };
    lock().with_context(|| format!("the lock `{}` cannot be taken", path.display()))
}

/// Makes a folder that only its user can look into, or makes one that is there
/// into such a folder.
///
/// # Errors
/// It cannot be made, or it is somebody else's.
pub fn make_private(folder: &Path) -> std::io::Result<()> {
    crate::replace::make_folder(folder)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // Only a folder's owner can do this, so it proves whose it is, too. On
        // Windows, what is below the user's own folder is theirs alone already.
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

fn base() -> anyhow::Result<impl BaseStrategy> {
    etcetera::choose_base_strategy()
        .context("your home folder cannot be found\nhint: set HOME, or name a file with `--config`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_asked_for_has_to_exist() {
        let error = config_file(Some(Path::new("/nonexistent/x.toml"))).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the configuration file `/nonexistent/x.toml` does not exist\n\
             hint: create it, or leave out `--config` to use your own"
        );
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.toml");
        std::fs::write(&file, "").unwrap();
        assert_eq!(config_file(Some(&file)).unwrap(), file);
    }

    #[test]
    fn paths_are_expanded() {
        let home = etcetera::home_dir().unwrap();
        let base = Path::new("/etc/dm");
        for (text, path) in [
            ("/a/b", PathBuf::from("/a/b")),
            ("a/b", PathBuf::from("/etc/dm/a/b")),
            ("./a", PathBuf::from("/etc/dm/a")),
            ("~", home.clone()),
            ("~/a", home.join("a")),
            ("~//a", home.join("a")),
        ] {
            assert_eq!(expand(text, base), Ok(path), "{text}");
        }
        for bad in ["", "~other/a", "a\0b"] {
            assert!(expand(bad, base).is_err(), "{bad}");
        }
    }
}
