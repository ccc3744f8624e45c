//! This program, to be started once more.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// This program's file.
///
/// # Errors
/// The system does not tell the path.
pub fn path() -> io::Result<PathBuf> {
    let first = std::env::args_os().next();
    match (loader(), first) {
        // What runs by the name of this process is the loader.
        (Some(_), Some(program)) => std::path::absolute(program),
        _ => std::env::current_exe(),
    }
}

/// Returns a command for a program that is built as this one is: with the same loader, where this
/// one was started by naming one, because then the system may have none for it.
#[must_use]
pub fn command(program: &Path) -> Command {
    let Some(loader) = loader() else {
        return Command::new(program);
    };
    let mut command = Command::new("/proc/self/exe");
    command.args(loader).arg(program);
    command
}

/// Returns a command for this very program, whatever has been put in its place since.
///
/// # Errors
/// The system does not say where it is.
pub fn same() -> io::Result<Command> {
    let running = Path::new("/proc/self/exe");
    match loader().is_none() && running.exists() {
        true => Ok(Command::new(running)),
        false => Ok(command(&path()?)),
    }
}

/// Returns the words that a loader was given before this program's file (`ld.so WORDS PROGRAM`),
/// where the program was started like that.
#[cfg(target_os = "linux")]
fn loader() -> Option<Vec<OsString>> {
    use std::os::unix::ffi::OsStringExt as _;
    let line = std::fs::read("/proc/self/cmdline").ok()?;
    let line = line.strip_suffix(b"\0").unwrap_or(&line);
    let words: Vec<_> = line.split(|byte| *byte == 0).collect();
    // All words of the process, of which the loader hands on its program's.
    let before = words.len().checked_sub(std::env::args_os().count())?;
    let before = words.get(1..before)?;
    let owned = before.iter().map(|word| OsString::from_vec(word.to_vec()));
    Some(owned.collect())
}

#[cfg(not(target_os = "linux"))]
fn loader() -> Option<Vec<OsString>> {
    None
}
