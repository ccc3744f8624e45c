//! Changes back, as they are made.

use super::*;

/// Step that undoes the change of one file of a run.
#[derive(Debug)]
pub enum Undo {
    /// The file is put back: this is the change.
    Back(FileChange),
    /// The file was not there before, and is removed: it has this text now.
    Remove(PathBuf, String),
    /// The file has been edited since, and gets back what it had, with what was written into it
    /// since.
    Merge(FileChange),
    /// The same, without servers in place of which others have been written since: these names.
    MergePart(FileChange, Vec<String>),
    /// The file has been edited since.
    Edited(PathBuf),
    /// The file is Dormouse's own, and has servers that their clients' files do not get back.
    Needed(PathBuf),
    /// The file is as it was before.
    Nothing,
}

impl Undo {
    /// Does this step.
    ///
    /// # Errors
    /// The file cannot be written or removed.
    pub fn make(&self) -> Result<()> {
        self.make_under(&EditLock::take()?)
    }

    /// Does this step, where the lock is held already.
    ///
    /// # Errors
    /// The file cannot be written or removed.
    pub fn make_under(&self, lock: &EditLock) -> Result<()> {
        match self {
            Self::Back(change) | Self::Merge(change) | Self::MergePart(change, _) => {
                change.make_under(lock)
            }
            Self::Remove(path, text) => {
                let is_unchanged = |path: &Path| Ok(file::read(path)?.as_ref() == Some(text));
                let removed = remove_if(path, is_unchanged)
                    .with_context(|| format!("`{}` cannot be removed", visible_path(path)))?;
                if !removed {
                    bail!(
                        "`{}` has been changed by somebody else meanwhile\nhint: try again",
                        visible_path(path)
                    );
                }
                Ok(())
            }
            Self::Edited(_) | Self::Needed(_) | Self::Nothing => Ok(()),
        }
    }
}
