//! Filling in what clients fill in, by the tables of [`super::expansion`].

mod filled_value;
mod read_files;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use dormouse_launch::Secret;
use dormouse_launch::environment::secret_in;
use dormouse_text::visible::visible_path;

use super::client_variables::{ClientVariables, ProjectVariable};
use super::expansion::{ClientExpansion, ExpansionForm, Missing, ReadForm, TextMeaning};
use super::fill_policy::EnteredProject;
use super::filler::filled_value::FilledValue;
pub(in crate::discovery) use super::filler::read_files::{ReadFile, ReadText};
use super::value_files::ValueFiles;
use crate::discovery::{Surroundings, files};
use crate::problem::quoted;
use crate::servers::bridge::MAX_FILLED_IN;
use crate::{FillSource, FilledIn, Input, Inputs, Need, ShownProgram, inputs};

/// Most bytes that all texts of one server may become. No system gives a program more; a small file
/// could name a long variable a million times.
const LARGEST: usize = 1 << 20;

/// Most files that one server's texts may be taken from.
const FILES: usize = 32;

/// Problem of a file of the project that the process works in, for a server of the user's.
pub(crate) const NOT_TRUSTED: &str = "is one of the project that you are in, which is \
    not trusted\nhint: `dormouse trust` in its folder shows what would be filled in, and allows it";

/// Problem of a file that would be too much, as what follows "which".
const DOES_NOT_FIT: &str = "does not fit in";

/// Most notes on one server, and most needs of it.
const MAX_NOTES: usize = 32;

/// Sources of the values that are filled into one server, and the findings on the way.
pub(in crate::discovery) struct Filler<'a> {
    pub(in crate::discovery) around: &'a Surroundings,
    /// Whether Dormouse itself is a server, too.
    pub(in crate::discovery) takes_itself: bool,
    /// The folder from which relative paths of files are taken.
    pub(in crate::discovery) folder: &'a Path,
    /// Variables that count before those of the environment.
    pub(in crate::discovery) variables: &'a ClientVariables,
    /// Variables that the entry itself sets, which count before all others.
    pub(in crate::discovery) of_entry: BTreeMap<String, String>,
    /// Descriptions of the client's questions, by their ids.
    pub(in crate::discovery) questions: &'a BTreeMap<String, String>,
    /// Answers of the user to such questions.
    pub(in crate::discovery) inputs: &'a Inputs,
    /// Things that have to be set first, as sentences for the user.
    pub(in crate::discovery) needs: Vec<Need>,
    /// Notes that stop nothing.
    pub(in crate::discovery) notes: Vec<String>,
    /// Bytes of the texts that were filled in so far.
    pub(in crate::discovery) size: usize,
    /// Whether the server is none of a project's.
    pub(in crate::discovery) is_users: bool,
    /// The project that the process works in, where the server is the user's own.
    pub(in crate::discovery) entered: Option<&'a EnteredProject>,
    /// Whether a file of the entered project is filled in, or would be if it were trusted.
    pub(in crate::discovery) is_of_entered: bool,
    /// Bytes that may still be filled in.
    pub(in crate::discovery) left: usize,
    /// Files that values are taken from.
    pub(in crate::discovery) values: ValueFiles,
    /// Files that were read: what a server is made of.
    pub(in crate::discovery) read: Vec<ReadFile>,
    /// Sources of the user's own that are filled in, and their places.
    pub(in crate::discovery) filled_in: BTreeSet<FilledIn>,
    /// Values that were filled in and must not be seen.
    pub(in crate::discovery) secrets: Vec<Secret>,
    /// Bytes of the project's files that may still be shown to people before they trust it.
    pub(in crate::discovery) left_to_show: usize,
    /// Program as people see it, where files of the project are filled into it.
    pub(in crate::discovery) shown: Option<ShownProgram>,
    /// The texts of files that are filled in, by their paths as they are written; not those of
    /// files of the project that the process works in, which are others in each project.
    pub(in crate::discovery) users_texts: BTreeMap<String, String>,
}

/// A text with everything filled in.
pub(in crate::discovery) struct Filled {
    pub(in crate::discovery) text: String,
    /// The text as people see it before they trust it: values from files of the project are filled
    /// in, and variables of the user's stand as they are written.
    pub(in crate::discovery) shown: String,
    /// Whether nothing of the user's is filled in, nor would be if it were there.
    pub(in crate::discovery) is_shown_whole: bool,
}

impl Filler<'_> {
    /// Counts bytes that are filled in. Returns false where they are too many.
    fn spend(&mut self, bytes: usize) -> bool {
        let fits = bytes <= self.left;
        self.left = self.left.saturating_sub(bytes);
        if !fits {
            // Nothing more fits, however short it is.
            self.left = 0;
            self.need(
                None,
                "fill in less: its file, or its project, has more variables and files in it \
                 than `filled_in` in `[discovery]` of dormouse.toml says"
                    .to_owned(),
            );
        }
        fits
    }

    /// Notes that something of the user's is filled in, or would be if it were there: trust is
    /// given to the text that names it, and nobody is asked again when it comes to be there.
    pub(in crate::discovery) fn note(&mut self, source: FillSource, at: &str) {
        if self.filled_in.len() >= MAX_FILLED_IN {
            self.left = 0;
            self.need(None, format!(
                "fill in less: it has more than {MAX_FILLED_IN} variables, files and answers in it"
            ));
            return;
        }
        self.filled_in.insert(FilledIn {
            source,
            place: at.to_owned(),
        });
    }

    /// Returns a variable's value, which is filled in at that place.
    pub(in crate::discovery) fn filled_variable(&mut self, name: &str, at: &str) -> Option<String> {
        Some(self.variable_in(name, at)?.value)
    }

    fn variable_in(&mut self, name: &str, at: &str) -> Option<FilledValue> {
        self.note_variable(name, at);
        let shown = match self.project_variable(name) {
            Some(of_project) if of_project.is_within => {
                let value = of_project.value.clone();
                self.show(value)
            }
            _ => None,
        };
        let value = self.variable(name)?.to_owned();
        let is_users = shown.is_none() && !self.of_entry.contains_key(name);
        let value = match self.spend(value.len()) {
            true => value,
            false => String::new(),
        };
        let secret = secret_in(name, &value);
        self.secrets.extend(secret.map(Secret::new));
        Some(FilledValue {
            value,
            shown,
            is_users,
        })
    }

    /// Returns a variable that has its value from a file of the project.
    fn project_variable(&self, name: &str) -> Option<&ProjectVariable> {
        let is_users = self.variables.of_user.contains_key(name);
        let is_elsewhere = self.of_entry.contains_key(name) || is_users;
        let variables = self.variables;
        (!is_elsewhere).then(|| variables.of_project.get(name))?
    }

    /// Returns a value of the project's own as people see it, whatever of the user's is filled in
    /// beside it: that may be longer now than where the agent starts. None where the value is too
    /// long to be read: then nobody starts the server.
    fn show(&mut self, value: String) -> Option<String> {
        let Some(left) = self.left_to_show.checked_sub(value.len()) else {
            self.left_to_show = 0;
            self.need(
                None,
                "fill in less: the files of its project have more in them that is filled in than \
                 anybody could read before they trust it"
                    .to_owned(),
            );
            return None;
        };
        self.left_to_show = left;
        Some(value)
    }

    /// Notes all sources that a variable's value is taken from, or would be.
    fn note_variable(&mut self, name: &str, at: &str) {
        if self.of_entry.contains_key(name) {
            return;
        }
        let variables = self.variables;
        if let Some(file) = &variables.users_file {
            let source = FillSource::VariableInFile {
                name: name.to_owned(),
                file: file.clone(),
            };
            self.note(source, at);
        }
        // A project's file that has it counts before the environment.
        let source = match variables.of_project.get(name) {
            Some(of_project) => FillSource::VariableInProjectFile {
                name: name.to_owned(),
                file: of_project.file.to_path_buf(),
            },
            None => FillSource::Variable(name.to_owned()),
        };
        self.note(source, at);
    }

    /// Returns a variable's value.
    fn variable(&self, name: &str) -> Option<&str> {
        let own = self.of_entry.get(name);
        own.or_else(|| self.variables.get(name))
            .or_else(|| self.around.env.get(name))
            .map(String::as_str)
    }

    /// Fills everything into a text. `at` tells a person which text this is. Values that are filled
    /// in are not looked at again.
    pub(in crate::discovery) fn fill(
        &mut self,
        text: &str,
        expansion: ClientExpansion,
        at: &str,
    ) -> Filled {
        let mut filled = Filled {
            text: String::new(),
            shown: String::new(),
            is_shown_whole: true,
        };
        let mut is_too_long = false;
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if self.size + filled.text.len() > LARGEST {
                // The rest is read all the same: what it names is noted, however long the values
                // are that stand before it now.
                is_too_long = true;
                filled.text.clear();
            }
            // All forms begin with one of these.
            let found = matches!(c, '$' | '{')
                .then(|| {
                    let mut forms = expansion.forms.iter();
                    forms.find_map(|form| self.form(rest, *form, at))
                })
                .flatten();
            let after = match found {
                Some((found, after)) => {
                    let written = rest.get(..rest.len() - after.len()).unwrap_or_default();
                    filled.text.push_str(&found.value);
                    filled
                        .shown
                        .push_str(found.shown.as_deref().unwrap_or(written));
                    filled.is_shown_whole &= !found.is_users;
                    after
                }
                None => {
                    filled.text.push(c);
                    filled.shown.push(c);
                    rest.get(c.len_utf8()..).unwrap_or_default()
                }
            };
            rest = after;
        }
        if is_too_long {
            self.need(
                Some(at),
                format!("shorten it: no program can be given all that `{at}` is made of"),
            );
            filled.text.clear();
            filled.is_shown_whole = false;
        }
        self.size += filled.text.len();
        filled
    }

    /// Returns the value of a form that a text begins with, and the rest of the text.
    fn form<'t>(
        &mut self,
        text: &'t str,
        form: ExpansionForm,
        at: &str,
    ) -> Option<(FilledValue, &'t str)> {
        let (read, rest) = form.read(text)?;
        let value = match read {
            ReadForm::Variable {
                name,
                default,
                missing,
            } => match self.variable_in(name, at) {
                Some(value) => value,
                None => FilledValue::users(match default {
                    Some(default) => default.to_owned(),
                    None => self.missing(name, missing, at)?,
                }),
            },
            // That one is not set is not said: what looks like a name may be half of a password.
            ReadForm::Bare { name, missing } => match self.variable_in(name, at) {
                Some(value) => value,
                None if missing == Missing::Empty => FilledValue::users(String::new()),
                None => return None,
            },
            ReadForm::File { path } => self.file(path, at),
            ReadForm::Exact { means, written } => {
                FilledValue::plain(self.place(means, written, at))
            }
            ReadForm::Input { id } => FilledValue::users(self.input(id, at)),
            ReadForm::Own { id } => {
                self.need(Some(at), format!(
                    "`{at}` asks for {}, which only the client knows: write the value, or a variable of the environment, in its place",
                    quoted(id)
                ));
                FilledValue::users(String::new())
            }
        };
        Some((value, rest))
    }

    fn missing(&mut self, name: &str, missing: Missing, at: &str) -> Option<String> {
        match missing {
            Missing::Kept => return None,
            Missing::Empty => {
                let note = format!(
                    "the environment variable {} is not set: it is empty in `{at}`",
                    quoted(name)
                );
                if self.notes.len() < MAX_NOTES && !self.notes.contains(&note) {
                    self.notes.push(note);
                }
            }
            Missing::Needed => self.need(
                Some(at),
                format!(
                    "set the environment variable {}, which `{at}` is made of",
                    quoted(name)
                ),
            ),
        }
        Some(String::new())
    }

    /// Returns the user's answer to a client's question.
    fn input(&mut self, id: &str, at: &str) -> String {
        self.note(FillSource::Input(id.to_owned()), at);
        match self.inputs.get(id) {
            Some(Input::Value(value)) if self.spend(value.expose().len()) => {
                self.secrets.push(value.clone());
                return value.expose().to_owned();
            }
            Some(Input::Value(_)) => {}
            Some(Input::Variable(name)) => match self.around.value(name) {
                Some(value) if self.spend(value.len()) => {
                    self.secrets.push(Secret::new(value));
                    return value.to_owned();
                }
                Some(_) => {}
                None => self.need(Some(at), format!(
                    "set the environment variable `{name}`, from which `[discovery.inputs]` takes {} for `{at}`",
                    quoted(id)
                )),
            },
            None => {
                let about = self.questions.get(id).map(|about| format!(" ({})", quoted(about.trim())));
                self.need(Some(at), format!(
                    "`{at}` asks for {}{}\nhint: {}",
                    quoted(id),
                    about.unwrap_or_default(),
                    inputs::hint(id)
                ));
            }
        }
        String::new()
    }

    /// Notes what has to be set, once.
    pub(in crate::discovery) fn need(&mut self, place: Option<&str>, text: String) {
        let place = place.map(str::to_owned);
        let need = Need { place, text };
        if self.needs.len() < MAX_NOTES && !self.needs.contains(&need) {
            self.needs.push(need);
        }
    }
}

/// Returns the file that a client means with a path.
pub(in crate::discovery) fn path(written: &str, folder: &Path, home: &Path) -> PathBuf {
    match written.strip_prefix("~/") {
        Some(inside) => home.join(inside),
        // Without the `.` of `./x`: two spellings of a path are one path.
        None => folder.join(written).components().collect(),
    }
}
