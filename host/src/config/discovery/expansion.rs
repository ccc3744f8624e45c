//! What clients fill into the texts of their configuration: variables, files,
//! folders, answers of their users. All syntaxes, and what each means where a
//! variable is missing, are in the tables here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Surroundings, files};
use crate::config::problem::quoted;

/// How far apart two marks may be, in bytes: a file of nothing but opening ones is
/// to be read in one go.
const LONGEST: usize = 4096;

/// How much is said of one server at most.
const MOST: usize = 32;

/// What a client fills in: its forms in the order in which they are tried, and in
/// which texts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expansion {
    pub(super) forms: &'static [Form],
    /// Whether only headers are expanded.
    pub(super) headers_only: bool,
}

/// One form of what is filled in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    /// Between two marks: the name of a variable.
    Variable {
        open: &'static str,
        close: &'static str,
        /// Whether `:-` and a default may follow the name.
        default: bool,
        missing: Missing,
    },
    /// The name of a variable after a mark, as far as it goes.
    Bare {
        mark: &'static str,
        missing: Missing,
    },
    /// Between two marks: the path of a file, whose text without white space around
    /// it is meant.
    File {
        open: &'static str,
        close: &'static str,
    },
    /// This very text.
    Exact { text: &'static str, means: Means },
    /// Between two marks: something that only the client itself can ask or find.
    Own {
        open: &'static str,
        close: &'static str,
    },
}

/// What a missing variable means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// The server cannot be started before it is set. So it is where a client
    /// refuses to start the server, where it would pass on the form as it is
    /// written, which is never meant, and where its documentation is silent.
    Needed,
    /// Nothing.
    Empty,
    /// That it was none: the text stays as it is. A password may well have a `$` in
    /// it.
    Kept,
}

/// What an exact text stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    Home,
    Project,
    ProjectName,
    Separator,
}

/// Nothing is filled in.
pub(super) const NONE: Expansion = Expansion {
    forms: &[],
    headers_only: false,
};

/// `${V}` and `${V:-default}`; Claude Code does not load what misses one.
pub(super) const CLAUDE: Expansion = Expansion {
    forms: &[Form::Variable {
        open: "${",
        close: "}",
        default: true,
        missing: Missing::Needed,
    }],
    headers_only: false,
};

/// `$V`, `${V}` and `${V:-default}`; its documentation says nothing of a missing
/// one.
pub(super) const COPILOT: Expansion = Expansion {
    forms: &[
        Form::Variable {
            open: "${",
            close: "}",
            default: true,
            missing: Missing::Needed,
        },
        Form::Bare {
            mark: "$",
            missing: Missing::Kept,
        },
    ],
    headers_only: false,
};

/// `$V` and `${V}`; a missing one is empty.
pub(super) const GEMINI: Expansion = Expansion {
    forms: &[
        Form::Variable {
            open: "${",
            close: "}",
            default: false,
            missing: Missing::Empty,
        },
        Form::Bare {
            mark: "$",
            missing: Missing::Empty,
        },
    ],
    headers_only: false,
};

/// `$V` and `${V}`; its documentation says nothing of a missing one.
pub(super) const AMP: Expansion = Expansion {
    forms: &[
        Form::Variable {
            open: "${",
            close: "}",
            default: false,
            missing: Missing::Needed,
        },
        Form::Bare {
            mark: "$",
            missing: Missing::Kept,
        },
    ],
    headers_only: false,
};

/// The variables of VS Code: a missing one of the environment is empty, an input is
/// asked for when the server starts.
pub(super) const VSCODE: Expansion = Expansion {
    forms: &[
        Form::Variable {
            open: "${env:",
            close: "}",
            default: false,
            missing: Missing::Empty,
        },
        PROJECT,
        PROJECT_NAME,
        HOME,
        SEPARATOR,
        Form::Exact {
            text: "${/}",
            means: Means::Separator,
        },
        Form::Exact {
            text: "${workspaceRoot}",
            means: Means::Project,
        },
        Form::Own {
            open: "${input:",
            close: "}",
        },
        Form::Own {
            open: "${command:",
            close: "}",
        },
        Form::Own {
            open: "${config:",
            close: "}",
        },
    ],
    headers_only: false,
};

/// Those of VS Code that Cursor names; its documentation says nothing of a missing
/// one.
pub(super) const CURSOR: Expansion = Expansion {
    forms: &[
        Form::Variable {
            open: "${env:",
            close: "}",
            default: false,
            missing: Missing::Needed,
        },
        PROJECT,
        PROJECT_NAME,
        HOME,
        SEPARATOR,
        Form::Exact {
            text: "${/}",
            means: Means::Separator,
        },
    ],
    headers_only: false,
};

/// `{env:V}`, empty where it is missing, and `{file:path}`, which has to be there.
pub(super) const OPENCODE: Expansion = Expansion {
    forms: &[
        Form::Variable {
            open: "{env:",
            close: "}",
            default: false,
            missing: Missing::Empty,
        },
        Form::File {
            open: "{file:",
            close: "}",
        },
    ],
    headers_only: false,
};

/// `${env:V}` and `${file:/path}`; its documentation says nothing of a missing one.
pub(super) const WINDSURF: Expansion = Expansion {
    forms: &[
        Form::Variable {
            open: "${env:",
            close: "}",
            default: false,
            missing: Missing::Needed,
        },
        Form::File {
            open: "${file:",
            close: "}",
        },
    ],
    headers_only: false,
};

/// `${{ secrets.V }}`, from the environment and Continue's `.env` files; inputs are
/// given where a block is used.
pub(super) const CONTINUE: Expansion = Expansion {
    forms: &[
        Form::Variable {
            open: "${{secrets.",
            close: "}}",
            default: false,
            missing: Missing::Needed,
        },
        Form::Own {
            open: "${{inputs.",
            close: "}}",
        },
    ],
    headers_only: false,
};

/// `{{.env.V}}` in headers; Forge passes a missing one on as it is written.
pub(super) const FORGE: Expansion = Expansion {
    forms: &[
        Form::Variable {
            open: "{{.env.",
            close: "}}",
            default: false,
            missing: Missing::Needed,
        },
        Form::Variable {
            open: "{{env.",
            close: "}}",
            default: false,
            missing: Missing::Needed,
        },
    ],
    headers_only: true,
};

/// `${V}` in headers, from what the entry itself sets and then the environment;
/// Goose passes a missing one on as it is written.
pub(super) const GOOSE: Expansion = Expansion {
    forms: &[
        Form::Variable {
            open: "${",
            close: "}",
            default: false,
            missing: Missing::Needed,
        },
        Form::Bare {
            mark: "$",
            missing: Missing::Kept,
        },
    ],
    headers_only: true,
};

const HOME: Form = Form::Exact {
    text: "${userHome}",
    means: Means::Home,
};
const PROJECT: Form = Form::Exact {
    text: "${workspaceFolder}",
    means: Means::Project,
};
const PROJECT_NAME: Form = Form::Exact {
    text: "${workspaceFolderBasename}",
    means: Means::ProjectName,
};
const SEPARATOR: Form = Form::Exact {
    text: "${pathSeparator}",
    means: Means::Separator,
};

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
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
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
        let bytes = files::read(path)?.ok_or("does not exist")?;
        self.read.push((path.to_owned(), bytes.clone()));
        files::text(bytes).map_err(|_| "is not UTF-8".to_owned())
    }
}

/// The file that a client means with a path.
pub(super) fn path(written: &str, folder: &Path, home: &Path) -> PathBuf {
    match written.strip_prefix("~/") {
        Some(inside) => home.join(inside),
        None => folder.join(written),
    }
}

/// What stands between two marks at the beginning of a text, and what follows. The
/// white space in `${{ secrets.X }}` is no part of either.
fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<(&'t str, &'t str)> {
    let mut rest = text;
    if let Some(inner) = open.strip_prefix("${{") {
        rest = rest.strip_prefix("${{")?.trim_start().strip_prefix(inner)?;
    } else if let Some(inner) = open.strip_prefix("{{") {
        rest = rest.strip_prefix("{{")?.trim_start().strip_prefix(inner)?;
    } else {
        rest = rest.strip_prefix(open)?;
    }
    let near = rest.get(..rest.floor_char_boundary(LONGEST))?;
    let inside = near.get(..near.find(close)?)?;
    let rest = rest.get(inside.len() + close.len()..)?;
    // Nothing that is meant to be filled in goes over several lines.
    let inside = if close == "}}" {
        inside.trim_end()
    } else {
        inside
    };
    (!inside.contains('\n')).then_some((inside, rest))
}

/// Whether a text is a name of a variable. What is none was never meant to be
/// filled in.
fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    let first = chars.next();
    first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}
