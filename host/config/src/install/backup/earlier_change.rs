//! Changes that were made earlier.

use super::*;

/// A change that a run has made of one file.
#[derive(Debug)]
pub struct EarlierChange {
    /// The command that made the change, as a user would write it.
    pub command: String,
    /// The file's text before; none where there was no file.
    pub before: Option<String>,
    /// Hash of the text after.
    pub(super) after: String,
}

impl EarlierChange {
    /// Whether the change has left a file with this text.
    #[must_use]
    pub fn has_made(&self, text: &str) -> bool {
        hash(text) == self.after
    }
}

/// Returns the changes of a file that have not been undone, the last one first.
///
/// # Errors
/// A backup cannot be read.
pub fn changes_of(backups: &Path, file: &Path) -> Result<Vec<EarlierChange>> {
    let mut changes = Vec::new();
    // Several clients may have links to one file.
    let real = |path: &Path| path.canonicalize().ok();
    let real_file = real(file);
    let is_it = |path: &Path| path == file || real_file.is_some() && real(path) == real_file;
    for run in runs(backups) {
        let mut saved = run.manifest.files.iter();
        let Some(saved) = saved.find(|saved| !saved.undone && is_it(&saved.path)) else {
            continue;
        };
        changes.push(run.change(saved)?);
    }
    Ok(changes)
}
