//! Files that are filled into servers.

use super::*;
use crate::discovery::filling::value_files::CHANGED;

/// The text of a file that was read.
pub(in crate::discovery) struct ReadText {
    pub(in crate::discovery) text: String,
    /// Whether the text may be filled in: not where that would be too much.
    pub(in crate::discovery) fits: bool,
    /// Whether the file is in the folder of the project that people see before they trust it, also
    /// by the path that links lead to. A file that is elsewhere is the user's.
    pub(in crate::discovery) is_of_shown_project: bool,
}

impl ReadText {
    /// Returns the text, where it may be filled in, or else the problem, as what follows "which".
    pub(in crate::discovery) fn fitting(self) -> Result<String, String> {
        self.fits
            .then_some(self.text)
            .ok_or_else(|| DOES_NOT_FIT.to_owned())
    }
}

/// A file that was filled in.
pub(in crate::discovery) struct ReadFile {
    pub(in crate::discovery) file: PathBuf,
    pub(in crate::discovery) hash: blake3::Hash,
    /// Whether the file is of the project that the process works in, and the server is the user's.
    pub(in crate::discovery) is_of_entered: bool,
}

impl Filler<'_> {
    /// Notes that a path cannot be filled in at a place, because it is no text.
    pub(in crate::discovery) fn need_text(&mut self, path: &Path, at: &str) {
        self.need(
            Some(at),
            format!(
                "`{at}` is made of the path `{}`, which is not UTF-8\nhint: rename that folder",
                visible_path(path)
            ),
        );
    }

    pub(super) fn place(&mut self, means: TextMeaning, written: &str, at: &str) -> String {
        let project = self.around.project.as_deref();
        let path = match means {
            TextMeaning::Separator => return std::path::MAIN_SEPARATOR.to_string(),
            TextMeaning::Home => Some(self.around.home.as_path()),
            TextMeaning::Project => project,
            TextMeaning::ProjectName => project.and_then(Path::file_name).map(Path::new),
        };
        let Some(path) = path else {
            self.need(
                Some(at),
                format!(
                    "start Dormouse in a project's folder, which `{at}` is made of (`{written}`)"
                ),
            );
            return String::new();
        };
        // Another path may be spelled like the text that is nearest to it.
        match path.to_str() {
            Some(path) if self.spend(path.len()) => path.to_owned(),
            Some(_) => String::new(),
            None => {
                self.need_text(path, at);
                String::new()
            }
        }
    }

    pub(super) fn file(&mut self, written: &str, at: &str) -> FilledValue {
        let path = path(written, self.folder, &self.around.home);
        self.note(FillSource::File(path.clone()), at);
        let mut shown = None;
        let why = match self.read_text(&path) {
            Ok(ReadText {
                text,
                fits,
                is_of_shown_project,
            }) => {
                let value = text.trim();
                let is_of_entered = self.read.last().is_some_and(|read| read.is_of_entered);
                if fits && !is_of_entered {
                    self.users_texts
                        .insert(written.to_owned(), value.to_owned());
                }
                if is_of_shown_project {
                    shown = self.show(value.to_owned());
                }
                if fits {
                    self.secrets.push(Secret::new(value));
                    return FilledValue {
                        value: value.to_owned(),
                        is_users: shown.is_none(),
                        shown,
                    };
                }
                DOES_NOT_FIT.to_owned()
            }
            Err(why) => why,
        };
        self.need(
            Some(at),
            format!(
                "`{at}` is made of the file {}, which {why}",
                quoted(written)
            ),
        );
        FilledValue {
            shown,
            ..FilledValue::users(String::new())
        }
    }

    /// Reads the text of a file of environment variables, which say what a program runs. For a server of
    /// the user's, nobody else may have written it; a file of a project's is trusted by its content.
    pub(in crate::discovery) fn read_variables(&mut self, path: &Path) -> Result<ReadText, String> {
        let read = self.read_text(path)?;
        let is_of_entered = self.read.last().is_some_and(|read| read.is_of_entered);
        // One that has gone may have been another user's.
        if self.is_users && !is_of_entered && !files::is_of_user(path)? {
            return Err(CHANGED.to_owned());
        }
        Ok(read)
    }

    /// Reads the text of a file that a server is made of.
    pub(in crate::discovery) fn read_text(&mut self, path: &Path) -> Result<ReadText, String> {
        if self.read.len() >= FILES {
            return Err(format!("is one of more than {FILES}"));
        }
        let is_named = self.entered.is_some_and(|project| project.folder.has(path));
        if is_named {
            self.note_entered()?;
        }
        let read = self.values.read(path)?.ok_or("does not exist")?;
        // What the path leads to may have changed since the look before.
        let is_of_entered = is_named || (self.entered.is_some() && read.is_within_project);
        if is_of_entered {
            self.note_entered()?;
        }
        let fits = self.spend(read.bytes.len());
        // What does not fit now may fit where less of the user's is filled in before it.
        self.read.push(ReadFile {
            file: path.to_owned(),
            hash: read.hash,
            is_of_entered,
        });
        let text = files::text(read.bytes.to_vec()).map_err(|_| "is not UTF-8".to_owned())?;
        Ok(ReadText {
            text,
            fits,
            is_of_shown_project: read.is_within_project,
        })
    }

    /// Notes that the server is made of a file of the project that the process works in. The error
    /// says that nobody trusts that project.
    pub(super) fn note_entered(&mut self) -> Result<(), String> {
        self.is_of_entered = true;
        match self.entered.is_some_and(|project| !project.may_fill) {
            true => Err(NOT_TRUSTED.to_owned()),
            false => Ok(()),
        }
    }
}
