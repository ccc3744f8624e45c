//! A change of one file.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use dormouse_files::replace::{Access, replace_if};
use dormouse_text::visible::visible_path;

use crate::discovery::places::Syntax;
use crate::edit::{EditLock, Editor};
use crate::reading::lines::LineBeginnings;
use crate::reading::settled;
use crate::{ConfigProblem, Invalid, file};

use super::edit::Uneditable;

/// Change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file.
    pub file: PathBuf,
    /// Language of the file.
    pub syntax: Syntax,
    /// Text before the change; none where there is no such file.
    pub before: Option<String>,
    /// Text after the change.
    pub after: String,
    /// Permissions after the change.
    pub access: Access,
    /// Whether the file is Dormouse's own configuration.
    pub own: bool,
}

impl FileChange {
    /// Makes a change of a client's file, which begins with its present text.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of_client(path: &Path, syntax: Syntax) -> anyhow::Result<Self> {
        let before = settled::read(path, syntax)?;
        Ok(Self {
            file: path.to_owned(),
            syntax,
            after: before.clone().unwrap_or_default(),
            before,
            access: Access::Kept,
            own: false,
        })
    }

    /// Whether the change makes any difference.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.before.as_deref().unwrap_or_default() != self.after
    }

    /// Edits the text after the change.
    ///
    /// # Errors
    /// The text cannot be edited; the error has the line and column.
    pub fn edit(
        &mut self,
        edit: impl FnOnce(&str) -> Result<String, Uneditable>,
    ) -> anyhow::Result<()> {
        self.after = self.read(edit)?;
        Ok(())
    }

    /// Reads something from the text after the change.
    ///
    /// # Errors
    /// The text cannot be read; the error has the line and column.
    pub fn read<T>(&self, read: impl FnOnce(&str) -> Result<T, Uneditable>) -> anyhow::Result<T> {
        read(&self.after).map_err(|error| {
            let (line, column) = LineBeginnings::of(&self.after).place(&self.after, error.at);
            let problem = ConfigProblem {
                file: self.file.clone(),
                line,
                column,
                message: error.message,
                hint: Some(error.hint.to_owned()),
            };
            let problems = vec![problem];
            Invalid { problems }.into()
        })
    }

    /// Writes the file. A file that somebody else has changed meanwhile is left alone.
    ///
    /// # Errors
    /// The file has been changed meanwhile, or cannot be written.
    pub fn make(&self) -> anyhow::Result<()> {
        match self.own {
            true => self.make_under(&EditLock::take()?),
            false => self.write(),
        }
    }

    /// Writes the file as [`Self::make`] does, where the lock is held already.
    ///
    /// # Errors
    /// The errors of [`Self::make`].
    pub fn make_under(&self, lock: &EditLock) -> anyhow::Result<()> {
        if self.own {
            let before = self.before.as_deref();
            let editor = Editor::new(&self.file)?;
            return editor.put(before, &self.after, self.access.clone(), lock);
        }
        self.write()
    }

    fn write(&self) -> anyhow::Result<()> {
        let shown = visible_path(&self.file);
        let is_unchanged = |path: &Path| Ok(file::read(path)? == self.before);
        let (after, access) = (self.after.as_bytes(), self.access.clone());
        let replaced = replace_if(&self.file, after, access, is_unchanged)
            .with_context(|| format!("`{shown}` cannot be written"))?;
        if !replaced {
            bail!("`{shown}` has been changed by somebody else meanwhile\nhint: try again");
        }
        Ok(())
    }
}
