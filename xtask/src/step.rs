//! Step of a task: a command that has to succeed, and perhaps one that need not be repeated while
//! its inputs are the same.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// Returns a command that runs in the workspace's root.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dormouse_tests::artifacts::workspace());
    command
}

/// Returns the cargo that runs this, as if it was run by hand: some build scripts look at variables
/// that cargo has set for this program, and would build again what a cargo by hand has built.
pub(crate) fn cargo() -> Command {
    let mut cargo = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        let shown = name.to_string_lossy();
        if shown.starts_with("CARGO_PKG_") || shown.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(&name);
        }
    }
    cargo
}

/// Prints a command, runs it, and fails if it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = shown(command);
    eprintln!("+ {shown}");
    let status = command
        .status()
        .with_context(|| format!("cannot start `{shown}`"))?;
    ensure!(status.success(), "`{shown}` failed: {status}");
    Ok(())
}

/// Whether a command can be run at all, quietly.
pub(crate) fn works(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

fn shown(command: &Command) -> String {
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Runs a step unless its outcome is there and was made from the same inputs. The inputs are kept
/// whole beside it, which tells more than a hash of them would.
pub(crate) fn once(outcome: &Path, inputs: &[u8], step: impl FnOnce() -> Result<()>) -> Result<()> {
    let mut stamp = outcome.as_os_str().to_owned();
    stamp.push(".made-from");
    let stamp = Path::new(&stamp);
    if outcome.exists() && std::fs::read(stamp).is_ok_and(|made_from| made_from == inputs) {
        return Ok(());
    }
    // Gone while the step runs, so that one which is broken off is repeated.
    if stamp.exists() {
        std::fs::remove_file(stamp)?;
    }
    if let Some(folder) = outcome.parent() {
        std::fs::create_dir_all(folder)?;
    }
    step()?;
    ensure!(
        outcome.exists(),
        "`{}` should be there by now",
        outcome.display()
    );
    std::fs::write(stamp, inputs).with_context(|| format!("cannot write `{}`", stamp.display()))
}
