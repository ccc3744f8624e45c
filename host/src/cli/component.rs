//! Component files that users name.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use dormouse_catalog::{CatalogEntry, Problem, ReadError, read};
use dormouse_files::regular::{open_regular_file, read_regular_file};
use dormouse_files::replace::{Access, replace_if};
use dormouse_runtime::NotOffered;
use dormouse_text::visible::{visible_line, visible_path};
use dormouse_wit::{Finding, Severity};

use super::output::{self, BAD, DOUBTFUL, HINT};
use crate::child_commands::{compile_command, read_command};

/// Returns the declarations of the component in a file.
pub(super) fn entry(path: &Path) -> anyhow::Result<CatalogEntry> {
    read::entry(path, read_command).map_err(told_by_path)
}

/// Returns the error of a file that a user has named.
pub(super) fn told_by_path(error: ReadError) -> anyhow::Error {
    match error.problem {
        // The catalog's hint is about paths in configurations.
        Problem::Missing => anyhow!("`{}`: there is no such file", visible_path(&error.path)),
        _ => error.into(),
    }
}

/// Reads a file, component or not.
pub(super) fn bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    // It says best what is wrong with what is no file.
    if let Err(error) = read::entry(path, read_command)
        && matches!(
            error.problem,
            Problem::Missing
                | Problem::Folder
                | Problem::Special
                | Problem::Io(_)
                | Problem::Others(_)
                | Problem::TooLarge { .. }
                | Problem::Costly { .. }
                | Problem::Slow { .. }
                | Problem::Excessive { .. }
                | Problem::NoProcess { .. }
                | Problem::Process { .. }
        )
    {
        return Err(told_by_path(error));
    }
    content(path)
}

/// Writes a component in place of a file that may be replaced by one, which is looked at once more
/// when it is: somebody may have put another there since.
///
/// # Errors
/// It may not be replaced, or cannot be written.
pub(super) fn write(output: &Path, component: &[u8], access: Access) -> anyhow::Result<()> {
    check_replaceable(output)?;
    let is_replaceable = |target: &Path| check_as(target, output).map(|()| true);
    let replaced = replace_if(output, component, access, is_replaceable);
    match replaced.with_context(|| format!("`{}` cannot be written", visible_path(output)))? {
        true => Ok(()),
        false => bail!(
            "`{}` was written by somebody else meanwhile\nhint: remove it, or name another file",
            visible_path(output)
        ),
    }
}

/// Checks that a file may be replaced by a component: it is not there, is empty or is WebAssembly.
pub(super) fn check_replaceable(output: &Path) -> anyhow::Result<()> {
    check_as(output, output)
}

/// Checks what is at a path for now, in words on the file that its user has named.
fn check_as(target: &Path, output: &Path) -> anyhow::Result<()> {
    const MAGIC: [u8; 4] = *b"\0asm";
    let shown = visible_path(output);
    let metadata = match target.metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        metadata => metadata.with_context(|| format!("`{shown}` cannot be looked at"))?,
    };
    if metadata.permissions().readonly() {
        bail!(
            "`{shown}` is read-only\nhint: give yourself permission to write to it, or name another \
             file with `--output`"
        );
    }
    let is_other = |mut file: File| {
        let mut start = [0; MAGIC.len()];
        let _ = file.read_exact(&mut start);
        start != MAGIC
    };
    if metadata.len() == 0 {
        return Ok(());
    }
    match open_regular_file(target).map(is_other) {
        Ok(true) => {
            bail!("`{shown}` is there, and is no component\nhint: remove it, or name another file")
        }
        Err(error) if error.kind() == ErrorKind::PermissionDenied => bail!(
            "`{shown}` is there, and cannot be read: it may be no component\nhint: remove it, or name \
             another file"
        ),
        _ => Ok(()),
    }
}

/// Reads all of a file.
fn content(path: &Path) -> anyhow::Result<Vec<u8>> {
    let shown = visible_path(path);
    read_regular_file(path, read::LIMIT)
        .with_context(|| format!("`{shown}` cannot be read"))?
        .with_context(|| format!("`{shown}`: there is no such file"))
}

/// Returns the errors of a component for a user who wants to use it. Warnings are for its author,
/// who asks with `dormouse check`.
///
/// # Errors
/// It is no file, or reading it takes too much.
pub(super) fn errors(path: &Path) -> anyhow::Result<Vec<Finding>> {
    let mut findings = dormouse_catalog::check_file(path, read_command).map_err(told_by_path)?;
    findings.retain(|finding| finding.severity == Severity::Error);
    Ok(findings)
}

/// Everything that is wrong with a component, whether it could be started included.
///
/// # Errors
/// It is no file, or reading it takes too much.
pub(super) fn check(path: &Path) -> anyhow::Result<Vec<Finding>> {
    let mut findings = dormouse_catalog::check_file(path, read_command).map_err(told_by_path)?;
    // What is no plugin for another reason may be no component either.
    if is_bad(&findings) {
        return Ok(findings);
    }
    match dormouse_runtime::not_offered(&content(path)?, compile_command) {
        Ok(not_offered) => findings.extend(not_offered.iter().map(uncallable)),
        Err(why) => {
            let (message, hint) = match why.split_once("\nhint: ") {
                Some((message, hint)) => (message.to_owned(), Some(hint.to_owned())),
                None => (why, None),
            };
            findings.push(Finding {
                severity: Severity::Error,
                item: "component".to_owned(),
                message,
                hint,
            });
        }
    }
    Ok(findings)
}

/// Returns the finding on imports that end a plugin where they are called.
fn uncallable(import: &NotOffered) -> Finding {
    let is_of_another = !import.interface.contains("@0.2.");
    Finding {
        severity: Severity::Warning,
        item: import.interface.clone(),
        message: import.to_string(),
        hint: is_of_another.then(|| "Dormouse offers WASI 0.2: build it for that".to_owned()),
    }
}

/// Checks whether any of these findings is an error.
pub(super) fn is_bad(findings: &[Finding]) -> bool {
    let mut findings = findings.iter();
    findings.any(|finding| finding.severity == Severity::Error)
}

/// Returns the word for a severity.
pub(super) fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// Returns a finding as a text.
pub(super) fn told(finding: &Finding) -> String {
    let style = match finding.severity {
        Severity::Error => BAD,
        Severity::Warning => DOUBTFUL,
    };
    let mut text = format!(
        "{}: {}: {}\n",
        output::styled(style, word(finding.severity)),
        visible_line(&finding.item),
        output::clean(&finding.message)
    );
    if let Some(hint) = &finding.hint {
        let hint = output::clean(hint);
        text.push_str(&format!("{}: {hint}\n", output::styled(HINT, "hint")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_looked_at_or_is_no_component_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let [component, other] = ["a.wasm", "a.txt"].map(|name| folder.path().join(name));
        std::fs::write(&other, "years of work").unwrap();
        write(&component, b"\0asm1", Access::Kept).unwrap();
        write(&component, b"\0asm2", Access::Kept).unwrap();
        assert_eq!(std::fs::read(&component).unwrap(), b"\0asm2");
        for (path, why) in [
            (other.clone(), "is there, and is no component"),
            (other.join("a.wasm"), "cannot be looked at"),
        ] {
            let error = write(&path, b"\0asm", Access::Kept).unwrap_err();
            assert!(error.to_string().contains(why), "{error:#}");
        }
        assert_eq!(std::fs::read(&other).unwrap(), b"years of work");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
