//! A change of one file.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use dormouse_files::replace::{Access, replace};

use crate::discovery::places::Syntax;
use crate::edit::Editor;
use crate::{Invalid, Problem, file, lines::Lines};

use super::edit::Uneditable;

/// What a file is to become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub file: PathBuf,
    /// The language that it is written in.
    pub syntax: Syntax,
    /// Its text now; none where there is no such file.
    pub before: Option<String>,
    /// Its text then.
    pub after: String,
    /// Who may read it then.
    pub access: Access,
    /// Whether it is Dormouse's own configuration.
    pub own: bool,
}

impl Change {
    /// A change of a client's file, from what it is now.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of_client(path: &Path, syntax: Syntax) -> anyhow::Result<Self> {
        let before = file::read(path)?;
        Ok(Self {
            file: path.to_owned(),
            syntax,
            after: before.clone().unwrap_or_default(),
            before,
            access: Access::Kept,
            own: false,
        })
    }

    /// Whether anything is different then.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.before.as_deref().unwrap_or_default() != self.after
    }

    /// Edits the text that is to be.
    ///
    /// # Errors
    /// It cannot be edited: said with its line and column.
    pub fn edit(
        &mut self,
        edit: impl FnOnce(&str) -> Result<String, Uneditable>,
    ) -> anyhow::Result<()> {
        match edit(&self.after) {
            Ok(after) => {
                self.after = after;
                Ok(())
            }
            Err(error) => {
                let (line, column) = Lines::of(&self.after).place(&self.after, error.at);
                let problem = Problem {
                    file: self.file.clone(),
                    line,
                    column,
                    message: error.message,
                    hint: Some(error.hint.to_owned()),
                };
                let problems = vec![problem];
                Err(Invalid { problems }.into())
            }
        }
    }

    /// Makes it so. A file that somebody else has changed meanwhile is left alone.
    ///
    /// # Errors
    /// It has been changed meanwhile, or cannot be written.
    pub fn make(&self) -> anyhow::Result<()> {
        if self.own {
            let before = self.before.as_deref();
            return Editor::new(&self.file)?.put(before, &self.after, self.access.clone());
        }
        let shown = self.file.display();
        if file::read(&self.file)? != self.before {
            bail!("`{shown}` has been changed by somebody else meanwhile\nhint: try again");
        }
        replace(&self.file, self.after.as_bytes(), self.access.clone())
            .with_context(|| format!("`{shown}` cannot be written"))
    }
}
