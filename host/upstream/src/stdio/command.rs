//! The command that a child is started with.

use std::io;
use std::path::Path;

use dormouse_launch::{Stdio, environment};
use dormouse_text::visible::visible_path;
use tokio::process::Command;

use crate::messages::channel::Lost;

/// Returns the command of a child.
///
/// # Errors
/// It is empty, or its working directory is no folder.
pub(super) fn command(stdio: &Stdio) -> Result<Command, Lost> {
    if stdio.command.is_empty() {
        return Err(Lost::Broken("its command is empty".into()));
    }
    let mut command = Command::new(program(&stdio.command));
    let own = stdio.env.iter().map(|(name, value)| (name, value.expose()));
    command
        .args(&stdio.args)
        .env_clear()
        .envs(environment::passed_on(&stdio.pass_env))
        .envs(own);
    if let Some(cwd) = &stdio.cwd {
        if !cwd.is_dir() {
            let why = format!("its `cwd` `{}` is no folder", visible_path(cwd));
            return Err(Lost::Broken(why));
        }
        command.current_dir(cwd);
    }
    Ok(command)
}

/// Returns the path of a program. Windows looks for `NAME.exe` only, and npm installs `NAME.cmd`.
#[cfg(windows)]
fn program(name: &str) -> std::path::PathBuf {
    let found = || {
        if name.contains(['/', '\\', '.']) {
            return None;
        }
        let kinds = std::env::var("PATHEXT").unwrap_or_else(|_| ".COM;.EXE;.BAT;.CMD".into());
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path)
            .flat_map(|folder| {
                let kinds: Vec<_> = kinds.split(';').collect();
                let files = kinds.into_iter().map(|kind| format!("{name}{kind}"));
                files.map(|file| folder.join(file)).collect::<Vec<_>>()
            })
            .find(|file| file.is_file())
    };
    found().unwrap_or_else(|| name.into())
}

#[cfg(not(windows))]
fn program(name: &str) -> &str {
    name
}

/// Returns the error of a child that could not be started, with what to do about it.
pub(super) fn unstarted(stdio: &Stdio, error: &io::Error) -> String {
    // What was filled in may be a secret.
    let command = stdio.shown();
    match error.kind() {
        io::ErrorKind::NotFound if stdio.command.contains(['/', '\\']) => {
            let is_relative = Path::new(&stdio.command).is_relative();
            let folder = stdio.cwd.clone().or_else(|| std::env::current_dir().ok());
            match folder.filter(|_| is_relative && stdio.filled_in.is_empty()) {
                Some(folder) => format!(
                    "there is no program `{command}` in `{}`\n\
                     hint: a relative path is taken from there; give the whole path",
                    visible_path(&folder)
                ),
                None => {
                    let advice = stdio.advice_on_blanks();
                    let hint = advice.map(|advice| format!("\nhint: {advice}"));
                    format!(
                        "there is no program `{command}`{}",
                        hint.unwrap_or_default()
                    )
                }
            }
        }
        io::ErrorKind::NotFound => format!(
            "there is no program `{command}` in `PATH`\nhint: {}",
            (stdio.advice_on_blanks()).unwrap_or("install it, or give its full path")
        ),
        _ => format!("`{command}` cannot be started: {error}"),
    }
}
