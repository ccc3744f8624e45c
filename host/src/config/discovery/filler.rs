//! Filling in what clients fill in, by the tables of [`super::expansion`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::expansion::{Expansion, Form, Means, Missing};
use super::{Surroundings, files};
use crate::config::problem::quoted;

/// How much all texts of one server may become, in bytes. No system gives a program
/// more; a small file could name a long variable a million times.
const LARGEST: usize = 1 << 20;

/// How many files one server's texts may be taken from.
const FILES: usize = 32;

/// How much is said of one server at most.
const MOST: usize = 32;

/// Where the values come from, and what was found to be missing.
pub(super) struct Filler<'a> {
    pub(super) around: &'a Surroundings,
    /// The folder from which relative paths of files are taken.
    pub(super) folder: &'a Path,
    /// Variables that count before those of the environment.
    pub(super) variables: BTreeMap<String, String>,
    /// What the client's questions are about, by their ids.
    pub(super) inputs: &'a BTreeMap<String, String>,
    /// What has to be set first, as sentences for the user.
    pub(super) needs: Vec<String>,
    /// What is worth saying, but stops nothing.
    pub(super) notes: Vec<String>,
    /// How much was filled in so far, in bytes.
    pub(super) size: usize,
    /// The files that were read, and their bytes: what a server is made of.
    pub(super) read: Vec<(PathBuf, Vec<u8>)>,
}

impl Filler<'_> {
    /// A variable's value.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        let own = self.variables.get(name);
        own.or_else(|| self.around.env.get(name))
            .map(String::as_str)
    }

    /// A text with everything filled in. `at` says for a person which text this is.
    /// What is filled in is not looked at again.
    pub(super) fn fill(&mut self, text: &str, expansion: Expansion, at: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if self.size + filled.len() > LARGEST {
                self.need(format!(
                    "shorten it: no program can be given all that `{at}` is made of"
                ));
                return String::new();
            }
            // All forms begin with one of these.
            let found = matches!(c, '$' | '{')
                .then(|| {
                    let mut forms = expansion.forms.iter();
                    forms.find_map(|form| self.form(rest, *form, at))
                })
                .flatten();
            match found {
                Some((value, after)) => {
                    filled.push_str(&value);
                    rest = after;
                }
                None => {
                    filled.push(c);
                    rest = rest.get(c.len_utf8()..).unwrap_or_default();
                }
            }
        }
        self.size += filled.len();
        filled
    }

    /// The value of a form that a text begins with, and what stands behind it.
    fn form<'t>(&mut self, text: &'t str, form: Form, at: &str) -> Option<(String, &'t str)> {
        match form {
            Form::Variable {
                open,
                close,
                default,
                missing,
            } => {
                let (inside, rest) = between(text, open, close)?;
                let (name, default) = match inside.split_once(":-") {
                    Some((name, value)) if default => (name, Some(value)),
                    _ => (inside, None),
                };
                if !is_name(name) {
                    return None;
                }
                if let Some(value) = self.variable(name).or(default) {
                    return Some((value.to_owned(), rest));
                }
                self.missing(name, missing, at).map(|value| (value, rest))
            }
            Form::Bare { mark, missing } => {
                let inside = text.strip_prefix(mark)?;
                let end = inside.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
                let (name, rest) = inside.split_at(end.unwrap_or(inside.len()));
                if !is_name(name) {
                    return None;
                }
                let value = match self.variable(name) {
                    Some(value) => value.to_owned(),
                    // Nothing is said of it: what looks like a name may be half of
                    // a password.
                    None if missing == Missing::Empty => String::new(),
                    None => return None,
                };
                Some((value, rest))
            }
            Form::File { open, close } => {
                let (path, rest) = between(text, open, close)?;
                Some((self.file(path, at), rest))
            }
            Form::Exact { text: exact, means } => {
                let rest = text.strip_prefix(exact)?;
                Some((self.place(means, exact, at), rest))
            }
            Form::Own { open, close } => {
                let (id, rest) = between(text, open, close)?;
                let asked = match self.inputs.get(id.trim()) {
                    Some(about) => format!("{} ({})", quoted(id.trim()), about.trim()),
                    None => quoted(id.trim()),
                };
                self.need(format!(
                    "`{at}` asks for {asked}, which only the client knows: write the value, or a variable of the environment, in its place"
                ));
                Some((String::new(), rest))
            }
        }
    }

    fn missing(&mut self, name: &str, missing: Missing, at: &str) -> Option<String> {
        match missing {
            Missing::Kept => return None,
            Missing::Empty => {
                let note =
                    format!("the environment variable `{name}` is not set: it is empty in `{at}`");
                if self.notes.len() < MOST && !self.notes.contains(&note) {
                    self.notes.push(note);
                }
            }
            Missing::Needed => self.need(format!(
                "set the environment variable `{name}`, which `{at}` is made of"
            )),
        }
        Some(String::new())
    }

    /// Says what has to be set, once.
    pub(super) fn need(&mut self, need: String) {
        if self.needs.len() < MOST && !self.needs.contains(&need) {
            self.needs.push(need);
        }
    }

    fn place(&mut self, means: Means, written: &str, at: &str) -> String {
        let project = self.around.project.as_deref();
        let path = match means {
            Means::Separator => return std::path::MAIN_SEPARATOR.to_string(),
            Means::Home => Some(self.around.home.as_path()),
            Means::Project => project,
            Means::ProjectName => project.and_then(Path::file_name).map(Path::new),
        };
        let Some(path) = path else {
            self.need(format!(
                "start Dormouse in a project's folder, which `{at}` is made of (`{written}`)"
            ));
            return String::new();
        };
        path.to_string_lossy().into_owned()
    }

    fn file(&mut self, written: &str, at: &str) -> String {
        let path = path(written.trim(), self.folder, &self.around.home);
        match self.read_text(&path) {
            Ok(text) => text.trim().to_owned(),
            Err(why) => {
                self.need(format!(
                    "`{at}` is made of the file {}, which {why}",
                    quoted(written.trim())
                ));
                String::new()
            }
        }
    }

    /// The text of a file that a server is made of.
    pub(super) fn read_text(&mut self, path: &Path) -> Result<String, String> {
        if self.read.len() >= FILES {
            return Err(format!("is one of more than {FILES}"));
        }
        let bytes = files::read(path, files::VALUE)?.ok_or("does not exist")?;
        self.read.push((path.to_owned(), bytes.clone()));
        files::text(bytes).map_err(|_| "is not UTF-8".to_owned())
    }
}

/// The file that a client means with a path.
pub(super) fn path(written: &str, folder: &Path, home: &Path) -> PathBuf {
    match written.strip_prefix("~/") {
        Some(inside) => home.join(inside),
        // Without the `.` of `./x`: two spellings of a path are one path.
        None => folder.join(written).components().collect(),
    }
}

/// What stands between two marks at the beginning of a text, and what follows. The
/// white space in `${{ secrets.X }}` is no part of either.
fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<(&'t str, &'t str)> {
    let brackets = if close == "}}" { open.find("{{") } else { None };
    let rest = match brackets {
        Some(at) => {
            let (brackets, inner) = open.split_at_checked(at + 2)?;
            let rest = text.strip_prefix(brackets)?;
            rest.trim_start_matches(' ').strip_prefix(inner)?
        }
        None => text.strip_prefix(open)?,
    };
    // Nothing that is meant to be filled in has a mark in it, or goes over several
    // lines. Looking no further makes reading a file of nothing but opening marks
    // take as long as any other.
    let end = rest.find(['{', '}', '\n'])?;
    let (inside, rest) = rest.split_at_checked(end)?;
    let rest = rest.strip_prefix(close)?;
    Some((
        inside.trim_end_matches(|c| brackets.is_some() && c == ' '),
        rest,
    ))
}

/// Whether a text is a name of a variable. What is none was never meant to be
/// filled in.
fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    let first = chars.next();
    first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}
