//! Looking up the text of a secret: a variable, a file, or what a program prints.

use std::env::VarError;
use std::fs::Metadata;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use dormouse_files::regular::open_regular_file;
use dormouse_launch::{Secret, environment};
use dormouse_policy::{SecretFile, SecretSource};
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;
use tokio::time::timeout;

use super::error::SecretFault;

/// Longest secret, in bytes.
const MAX_BYTES: u64 = 64 << 10;

/// Time that a command may take: its user may have to unlock something.
const COMMAND_TIME: Duration = Duration::from_secs(30);

/// Advice on a file that is no place for a secret.
const PRIVATE_FILE: &str = "name a file that only you can read (`chmod 600`)";

/// Advice on a file that a project names: it may be a link since its user was shown it.
const SHOWN_FILE: &str = "it has to be a file that only you can read, where `dormouse trust` has \
     shown it; trust the project once more if it has moved";

/// Returns the text of a secret that is not put into a request.
///
/// # Errors
/// There is none; with the source, what to do about it, and nothing of the text.
pub async fn secret_text(source: &SecretSource) -> Result<Secret, String> {
    text_of(source).await.map_err(SecretFault::into_text)
}

/// Returns the text of a source, without the line end at its end.
///
/// # Errors
/// There is none; with the source, and nothing of its text.
pub(super) async fn text_of(source: &SecretSource) -> Result<Secret, SecretFault> {
    let wrong = |why: &str, hint: &'static str| SecretFault {
        why: format!("has no value: {source} {why}"),
        hint: hint.into(),
        is_absent: false,
    };
    let absent = |why: &str, hint| SecretFault {
        is_absent: true,
        ..wrong(why, hint)
    };
    let bytes = match source {
        SecretSource::Variable(name) => match std::env::var(name) {
            Ok(text) => text.into_bytes(),
            Err(VarError::NotPresent) => {
                let hint = "set it where `dormouse` is started";
                return Err(absent("is not set", hint));
            }
            Err(VarError::NotUnicode(_)) => return Err(wrong("is no text", "write it in UTF-8")),
        },
        SecretSource::File(file) => {
            let hint = match file.real {
                Some(_) => SHOWN_FILE,
                None => PRIVATE_FILE,
            };
            let file = file.clone();
            let read = tokio::task::spawn_blocking(move || file_bytes(&file)).await;
            let read = read.unwrap_or_else(|error| Err(error.to_string()));
            let read = read.map_err(|why| wrong(&why, hint))?;
            read.ok_or_else(|| absent("cannot be read: there is no such file", hint))?
        }
        SecretSource::Command {
            program,
            arguments,
            folder,
            is_confined,
        } => {
            let mut command = command(program, arguments, folder, *is_confined);
            let ran = output_within(&mut command, COMMAND_TIME).await;
            let hint = "run it yourself: it has to print the secret, and nothing else";
            ran.map_err(|why| wrong(&why, hint))?
        }
        SecretSource::Keyring(name) => {
            let (_, text) = super::stored_text::look_up(name, None).await?;
            text.unwrap_or_default().expose().as_bytes().to_vec()
        }
        SecretSource::Login(_) => {
            let hint = "name a variable, a file or a command";
            return Err(wrong("is no text that lasts", hint));
        }
    };
    let Ok(text) = String::from_utf8(bytes) else {
        return Err(wrong("has no text", "write it in UTF-8"));
    };
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    match text.is_empty() {
        true => Err(wrong("is empty", "there has to be something in it")),
        false => Ok(Secret::new(text)),
    }
}

/// Reads a file that its user alone can read; none where there is no such file.
fn file_bytes(file: &SecretFile) -> Result<Option<Vec<u8>>, String> {
    let unread = |error: io::Error| match error.kind() {
        ErrorKind::IsADirectory | ErrorKind::InvalidInput => "is no file".to_owned(),
        _ => format!("cannot be read: {error}"),
    };
    let opened = match &file.real {
        Some(real) => SecretFile::open_shown(real),
        None => open_regular_file(&file.path),
    };
    let file = match opened {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(unread)?,
    };
    check_readers(&file.metadata().map_err(unread)?)?;
    let mut bytes = Vec::new();
    let mut limited = file.take(MAX_BYTES + 1);
    limited.read_to_end(&mut bytes).map_err(unread)?;
    checked_length(bytes).map(Some)
}

#[cfg(unix)]
fn check_readers(metadata: &Metadata) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt as _;

    /// Rights to read of the group and of all others.
    const OTHERS_READ: u32 = 0o044;

    match metadata.mode() & OTHERS_READ {
        0 => Ok(()),
        _ => Err("can be read by other users".to_owned()),
    }
}

/// On Windows, what is below the user's own folder is theirs alone by default.
#[cfg(not(unix))]
fn check_readers(_: &Metadata) -> Result<(), String> {
    Ok(())
}

/// Returns the command of a program, which gets nothing of Dormouse's own environment, and only what
/// every child gets where it is confined.
fn command(program: &str, arguments: &[String], folder: &Path, is_confined: bool) -> Command {
    let all = ["*".to_owned()];
    let named: &[String] = if is_confined { &[] } else { &all };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    command.env_clear().envs(environment::passed_on(named));
    command
}

async fn output_within(command: &mut Command, time: Duration) -> Result<Vec<u8>, String> {
    let in_time = timeout(time, output(command)).await;
    in_time.unwrap_or_else(|_| Err(format!("has not ended within {} seconds", time.as_secs())))
}

/// Returns what a program prints. What it says of errors may be a secret, and is not repeated.
async fn output(command: &mut Command) -> Result<Vec<u8>, String> {
    command.kill_on_drop(true);
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let started = command.stdout(Stdio::piped()).spawn();
    let mut child = started.map_err(|error| format!("cannot be started: {error}"))?;
    let stdout = child.stdout.take().ok_or("has no output")?;
    let unread = |error: io::Error| format!("cannot be read: {error}");
    let mut bytes = Vec::new();
    let mut limited = stdout.take(MAX_BYTES + 1);
    limited.read_to_end(&mut bytes).await.map_err(unread)?;
    let bytes = checked_length(bytes)?;
    let status = child.wait().await.map_err(unread)?;
    match status.success() {
        true => Ok(bytes),
        false => Err(format!("has failed ({status})")),
    }
}

fn checked_length(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    match bytes.len() as u64 > MAX_BYTES {
        true => Err(format!("has more than {MAX_BYTES} bytes")),
        false => Ok(bytes),
    }
}

#[cfg(test)]
mod tests;
