//! Paths of Dormouse's files, by the conventions of the system it runs on.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use etcetera::BaseStrategy;

/// The folder that Dormouse has within each of the user's folders.
const FOLDER: &str = "dormouse";

/// The configuration file's name.
const FILE: &str = "dormouse.toml";

/// Returns the configuration file: the one asked for with `--config`, else the user's
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

/// Returns the folder for files that can be made again: the catalog's index and compiled
/// components. It need not exist.
///
/// # Errors
/// The user has no home folder.
pub fn cache_dir() -> anyhow::Result<PathBuf> {
    Ok(base()?.cache_dir().join(FOLDER))
}

/// Returns the folder for files that cannot be made again without asking somebody: records of
/// upstreams, decisions on trust, tokens, backups. It need not exist.
///
/// # Errors
/// The user has no home folder.
pub fn data_dir() -> anyhow::Result<PathBuf> {
    Ok(base()?.data_dir().join(FOLDER))
}

/// Returns the folder for the control sockets of running hosts. It need not exist.
///
/// # Errors
/// The user has no home folder.
pub fn runtime_dir() -> anyhow::Result<PathBuf> {
    let mut all = runtime_dirs()?;
    Ok(all.swap_remove(0))
}

/// Returns the folders in which control sockets of this user's hosts may be, the one for this
/// process first: some clients start a host without the environment variable that names the folder
/// for others.
///
/// # Errors
/// The user has no home folder.
pub fn runtime_dirs() -> anyhow::Result<Vec<PathBuf>> {
    let base = base()?;
    // Not a shared temporary folder, where others could be first to make it.
    let private = base.cache_dir().join(FOLDER).join("run");
    // The XDG specification wants another one used in place of one that is somebody else's, such as
    // that of whoever has become root.
    let named = base
        .runtime_dir()
        .filter(|folder| !is_another_users(folder));
    Ok(match named {
        Some(folder) => vec![folder.join(FOLDER), private],
        None => {
            let usual = users_runtime_dir().filter(|folder| folder.is_dir());
            let usual = usual.map(|folder| folder.join(FOLDER));
            std::iter::once(private).chain(usual).collect()
        }
    })
}

/// Returns the folders in which the one for control sockets may be, and is or is not according to
/// whether it is there and whose it is.
#[must_use]
pub fn runtime_dirs_of_system() -> Vec<PathBuf> {
    let named = base().ok().and_then(|base| base.runtime_dir());
    named.into_iter().chain(users_runtime_dir()).collect()
}

/// Whether a folder is there, and another user's.
#[cfg(unix)]
fn is_another_users(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let user = rustix::process::geteuid().as_raw();
    let metadata = std::fs::metadata(folder);
    metadata.is_ok_and(|metadata| metadata.uid() != user)
}

#[cfg(not(unix))]
fn is_another_users(_: &Path) -> bool {
    false
}

/// Returns the runtime directory that systemd makes for the user, which need not exist: the environment
/// does not name it everywhere.
#[cfg(target_os = "linux")]
fn users_runtime_dir() -> Option<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    Some(PathBuf::from(format!("/run/user/{user}")))
}

#[cfg(not(target_os = "linux"))]
fn users_runtime_dir() -> Option<PathBuf> {
    None
}

/// Makes the path that a user has written absolute: `~` is their home, and a relative path is taken
/// from `base`. The error says what is wrong with the text.
pub fn expand(text: &str, base: &Path) -> Result<PathBuf, String> {
    if text.is_empty() {
        return Err("a path is empty".to_owned());
    }
    if text.contains('\0') {
        return Err("a path has a NUL character in it".to_owned());
    }
    // A project may have written it.
    let shown = text.replace('`', "\\u{60}");
    let path = match text.strip_prefix('~') {
        None => base.join(text),
        Some(rest) => {
            let inside = rest.trim_start_matches(std::path::is_separator);
            if inside.len() == rest.len() && !rest.is_empty() {
                return Err(format!(
                    "`{shown}` names another user's home, which is not looked up"
                ));
            }
            let home = etcetera::home_dir()
                .map_err(|_| format!("`{shown}` needs a home folder, and you have none"))?;
            home.join(inside)
        }
    };
    std::path::absolute(&path).map_err(|error| format!("`{shown}` is no path: {error}"))
}

/// Takes a lock that excludes all other processes until it is dropped. Its file is made where there
/// is none, and stays.
///
/// # Errors
/// The file cannot be made, or is something else.
pub fn lock(path: &Path) -> anyhow::Result<File> {
    let lock = || -> std::io::Result<File> {
        if let Some(folder) = path.parent() {
            make_private(folder)?;
        }
        let file = open_own(path, File::options().write(true))?;
        file.lock()?;
        Ok(file)
    };
    lock().with_context(|| format!("the lock `{}` cannot be taken", path.display()))
}

/// Opens a file of Dormouse's own to write to it, and makes it where there is none, for its user
/// alone. What else has its name is refused: opening a pipe would wait for ever.
///
/// # Errors
/// The file cannot be opened or made, or is something else ([`ErrorKind::InvalidInput`]).
pub fn open_own(path: &Path, options: &mut OpenOptions) -> std::io::Result<File> {
    let check = |metadata: &std::fs::Metadata| match metadata.is_file() {
        true => Ok(()),
        false => Err(std::io::Error::new(
            ErrorKind::InvalidInput,
            format!("`{}` is no file\nhint: remove it", path.display()),
        )),
    };
    // Before it is opened, and after, as another one may be there by then.
    if let Ok(metadata) = std::fs::metadata(path) {
        check(&metadata)?;
    }
    options.create(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
        options.mode(0o600);
    }
    let file = options.open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

/// Makes a folder that only its user can look into, or makes an existing one private. One that others
/// could write to stays as it is where there is anything in it: as a private one, all of that would
/// count.
///
/// # Errors
/// It cannot be made, it is somebody else's, or others could write to it.
pub fn make_private(folder: &Path) -> std::io::Result<()> {
    crate::replace::make_folder(folder)?;
    // On Windows, what is below the user's own folder is theirs alone already.
    #[cfg(unix)]
    crate::ownership::make_private(folder)?;
    Ok(())
}

fn base() -> anyhow::Result<impl BaseStrategy> {
    etcetera::choose_base_strategy()
        .context("your home folder cannot be found\nhint: set HOME, or name a file with `--config`")
}

#[cfg(test)]
mod tests;
