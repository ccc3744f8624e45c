//! The documents of a search: each file is read once, however many clients keep
//! something in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::content::Content;
use super::document::{self, Node};
use super::entry::Reader;
use super::files;
use super::places::Syntax;
use crate::config::Problem;
use crate::config::lines::Lines;

/// The files that were read so far, and of which projects they are.
#[derive(Default)]
pub(super) struct Library {
    files: BTreeMap<PathBuf, Rc<Loaded>>,
    projects: BTreeMap<PathBuf, BTreeMap<PathBuf, blake3::Hash>>,
}

/// What reading a file came to.
pub(super) enum Loaded {
    Missing,
    Bad(Problem),
    Document(Document),
}

/// A file and what it says.
pub(super) struct Document {
    pub(super) file: PathBuf,
    pub(super) text: String,
    pub(super) lines: Lines,
    pub(super) root: Node,
}

impl Document {
    /// A reader of it, who has found nothing wrong so far.
    pub(super) fn reader(&self) -> Reader<'_> {
        Reader {
            file: &self.file,
            text: &self.text,
            lines: &self.lines,
            problems: Vec::new(),
        }
    }
}

impl Loaded {
    /// What the file says, where it could be read.
    pub(super) fn root(&self) -> Option<&Node> {
        match self {
            Self::Document(document) => Some(&document.root),
            Self::Missing | Self::Bad(_) => None,
        }
    }
}

impl Library {
    /// A file, which is a project's where one is given.
    pub(super) fn open(
        &mut self,
        file: &Path,
        syntax: Syntax,
        project: Option<&Path>,
    ) -> Rc<Loaded> {
        // Its own file is a user's in one scope and a project's in none: whose it is
        // never changes between two looks at it.
        if let Some(loaded) = self.files.get(file) {
            return Rc::clone(loaded);
        }
        let largest = match project {
            Some(_) => files::PROJECT_CONFIGURATION,
            None => files::CONFIGURATION,
        };
        let bytes = files::read(file, largest);
        if let (Some(project), Ok(Some(bytes))) = (project, &bytes) {
            self.add(project, file, bytes);
        }
        let loaded = Rc::new(load(file, syntax, bytes));
        self.files.insert(file.to_owned(), Rc::clone(&loaded));
        loaded
    }

    /// Notes that a project's servers depend on a file.
    pub(super) fn add(&mut self, project: &Path, file: &Path, bytes: &[u8]) {
        let files = self.projects.entry(project.to_owned()).or_default();
        files.insert(file.to_owned(), blake3::hash(bytes));
    }

    /// The contents of the projects.
    pub(super) fn contents(self) -> BTreeMap<PathBuf, Content> {
        let projects = self.projects.into_iter();
        projects
            .map(|(project, files)| {
                let content = Content::of(&project, &files);
                (project, content)
            })
            .collect()
    }
}

fn load(file: &Path, syntax: Syntax, bytes: Result<Option<Vec<u8>>, String>) -> Loaded {
    let bad = |(line, column), message: String, hint: Option<&str>| {
        Loaded::Bad(Problem {
            file: file.to_owned(),
            line,
            column,
            message,
            hint: hint.map(str::to_owned),
        })
    };
    let bytes = match bytes {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Loaded::Missing,
        Err(why) => return bad((1, 1), format!("the file {why}"), None),
    };
    let text = match files::text(bytes) {
        Ok(text) => text,
        Err(valid) => {
            let place = Lines::of(&valid).place(&valid, valid.len());
            return bad(
                place,
                "this is not UTF-8".to_owned(),
                Some("save the file as UTF-8"),
            );
        }
    };
    let lines = Lines::of(&text);
    match document::parse(&text, syntax) {
        Ok(root) => Loaded::Document(Document {
            file: file.to_owned(),
            text,
            lines,
            root,
        }),
        Err(unreadable) => {
            let hint = "its own client cannot read it either; nothing in it is used";
            bad(
                lines.place(&text, unreadable.at),
                unreadable.message,
                Some(hint),
            )
        }
    }
}
