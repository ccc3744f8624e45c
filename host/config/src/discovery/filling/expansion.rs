//! Forms that clients fill in within texts of their configuration: variables, files, folders,
//! answers of their users. All syntaxes, and what each means where a variable is missing, are in
//! the tables here.

use crate::variables;

/// Forms that a client fills in, in the order in which they are tried, and the texts that have
/// them.
#[derive(Debug, Clone, Copy)]
pub(in crate::discovery) struct ClientExpansion {
    pub(in crate::discovery) forms: &'static [ExpansionForm],
    /// Whether only headers are expanded.
    pub(in crate::discovery) headers_only: bool,
}

/// Form of something that is filled in.
#[derive(Debug, Clone, Copy)]
pub(in crate::discovery) enum ExpansionForm {
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
    /// Between two marks: the path of a file, whose text is filled in without white space around
    /// it.
    File {
        open: &'static str,
        close: &'static str,
    },
    /// This very text.
    Exact {
        text: &'static str,
        means: TextMeaning,
    },
    /// Between two marks: the id of a question that the client asks its user.
    Input {
        open: &'static str,
        close: &'static str,
    },
    /// Between two marks: something that only the client itself can find.
    Own {
        open: &'static str,
        close: &'static str,
    },
}

/// Meaning of a missing variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::discovery) enum Missing {
    /// The server cannot be started before the variable is set. This is so where a client
    /// refuses to start the server, where it would pass on the form as it is written, which is
    /// never meant, and where its documentation is silent.
    Needed,
    /// An empty text.
    Empty,
    /// No variable: the text stays as it is. A password may well have a `$` in it.
    Kept,
}

/// Value that an exact text stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::discovery) enum TextMeaning {
    Home,
    Project,
    ProjectName,
    Separator,
}

/// A form that a text begins with.
pub(in crate::discovery) enum ReadForm<'t> {
    Variable {
        name: &'t str,
        default: Option<&'t str>,
        missing: Missing,
    },
    Bare {
        name: &'t str,
        missing: Missing,
    },
    File {
        path: &'t str,
    },
    Exact {
        means: TextMeaning,
        written: &'static str,
    },
    Input {
        id: &'t str,
    },
    Own {
        id: &'t str,
    },
}

impl ExpansionForm {
    /// Reads the form, where a text begins with it, and returns it with the rest of the text.
    pub(in crate::discovery) fn read(self, text: &str) -> Option<(ReadForm<'_>, &str)> {
        match self {
            Self::Variable {
                open,
                close,
                default: may,
                missing,
            } => {
                let (inside, rest) = between(text, open, close)?;
                let (name, default) = match may {
                    true => variables::parts(inside),
                    false => (inside, None),
                };
                let read = ReadForm::Variable {
                    name,
                    default,
                    missing,
                };
                is_name(name).then_some((read, rest))
            }
            Self::Bare { mark, missing } => {
                let inside = text.strip_prefix(mark)?;
                let end = inside.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
                let (name, rest) = inside.split_at(end.unwrap_or(inside.len()));
                is_name(name).then_some((ReadForm::Bare { name, missing }, rest))
            }
            Self::File { open, close } => {
                let (path, rest) = between(text, open, close)?;
                Some((ReadForm::File { path: path.trim() }, rest))
            }
            Self::Exact {
                text: written,
                means,
            } => {
                let rest = text.strip_prefix(written)?;
                Some((ReadForm::Exact { means, written }, rest))
            }
            Self::Input { open, close } => {
                let (id, rest) = between(text, open, close)?;
                Some((ReadForm::Input { id: id.trim() }, rest))
            }
            Self::Own { open, close } => {
                let (id, rest) = between(text, open, close)?;
                Some((ReadForm::Own { id: id.trim() }, rest))
            }
        }
    }
}

/// Returns the text between two marks at the beginning of a text, and the rest. The white space in
/// `${{ secrets.X }}` is no part of either.
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

/// Whether a text is a name of a variable. Other texts were never meant to be filled in.
pub(crate) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    let first = chars.next();
    first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

const fn everywhere(forms: &'static [ExpansionForm]) -> ClientExpansion {
    ClientExpansion {
        forms,
        headers_only: false,
    }
}

const fn in_headers(forms: &'static [ExpansionForm]) -> ClientExpansion {
    ClientExpansion {
        forms,
        headers_only: true,
    }
}

const fn variable(open: &'static str, close: &'static str, missing: Missing) -> ExpansionForm {
    ExpansionForm::Variable {
        open,
        close,
        default: false,
        missing,
    }
}

const fn with_default(open: &'static str, close: &'static str, missing: Missing) -> ExpansionForm {
    ExpansionForm::Variable {
        open,
        close,
        default: true,
        missing,
    }
}

const fn bare(missing: Missing) -> ExpansionForm {
    ExpansionForm::Bare { mark: "$", missing }
}

const fn file(open: &'static str, close: &'static str) -> ExpansionForm {
    ExpansionForm::File { open, close }
}

const fn exact(text: &'static str, means: TextMeaning) -> ExpansionForm {
    ExpansionForm::Exact { text, means }
}

const fn input(open: &'static str, close: &'static str) -> ExpansionForm {
    ExpansionForm::Input { open, close }
}

const fn own(open: &'static str, close: &'static str) -> ExpansionForm {
    ExpansionForm::Own { open, close }
}

/// No forms.
pub(in crate::discovery) const NONE: ClientExpansion = everywhere(&[]);

/// `${V}` and `${V:-default}`; Claude Code does not load a server that misses one.
pub(in crate::discovery) const CLAUDE: ClientExpansion =
    everywhere(&[with_default("${", "}", Missing::Needed)]);

/// `$V`, `${V}` and `${V:-default}`; its documentation says nothing of a missing
/// one.
pub(in crate::discovery) const COPILOT: ClientExpansion = everywhere(&[
    with_default("${", "}", Missing::Needed),
    bare(Missing::Kept),
]);

/// `$V` and `${V}`; a missing one is empty.
pub(in crate::discovery) const GEMINI: ClientExpansion =
    everywhere(&[variable("${", "}", Missing::Empty), bare(Missing::Empty)]);

/// `$V` and `${V}`; its documentation says nothing of a missing one.
pub(in crate::discovery) const AMP: ClientExpansion =
    everywhere(&[variable("${", "}", Missing::Needed), bare(Missing::Kept)]);

/// The variables of VS Code: a missing one of the environment is empty, an input is
/// asked for when the server starts.
pub(in crate::discovery) const VSCODE: ClientExpansion = everywhere(&[
    variable("${env:", "}", Missing::Empty),
    PROJECT,
    PROJECT_NAME,
    HOME,
    SEPARATOR,
    exact("${/}", TextMeaning::Separator),
    exact("${workspaceRoot}", TextMeaning::Project),
    input("${input:", "}"),
    own("${command:", "}"),
    own("${config:", "}"),
]);

/// Variables of VS Code that Cursor names; its documentation says nothing of a missing one.
pub(in crate::discovery) const CURSOR: ClientExpansion = everywhere(&[
    variable("${env:", "}", Missing::Needed),
    PROJECT,
    PROJECT_NAME,
    HOME,
    SEPARATOR,
    exact("${/}", TextMeaning::Separator),
]);

/// `{env:V}`, empty where it is missing, and `{file:path}`, which has to be there.
pub(in crate::discovery) const OPENCODE: ClientExpansion =
    everywhere(&[variable("{env:", "}", Missing::Empty), file("{file:", "}")]);

/// `${env:V}` and `${file:/path}`; its documentation says nothing of a missing one.
pub(in crate::discovery) const WINDSURF: ClientExpansion = everywhere(&[
    variable("${env:", "}", Missing::Needed),
    file("${file:", "}"),
]);

/// `${{ secrets.V }}`, from the environment and Continue's `.env` files; inputs are
/// given where a block is used.
pub(in crate::discovery) const CONTINUE: ClientExpansion = everywhere(&[
    variable("${{secrets.", "}}", Missing::Needed),
    input("${{inputs.", "}}"),
]);

/// `{{.env.V}}` in headers; Forge passes a missing one on as it is written.
pub(in crate::discovery) const FORGE: ClientExpansion = in_headers(&[
    variable("{{.env.", "}}", Missing::Needed),
    variable("{{env.", "}}", Missing::Needed),
]);

/// `${V}` in headers, from what the entry itself sets and then the environment;
/// Goose passes a missing one on as it is written.
pub(in crate::discovery) const GOOSE: ClientExpansion =
    in_headers(&[variable("${", "}", Missing::Needed), bare(Missing::Kept)]);

const HOME: ExpansionForm = exact("${userHome}", TextMeaning::Home);
const PROJECT: ExpansionForm = exact("${workspaceFolder}", TextMeaning::Project);
const PROJECT_NAME: ExpansionForm = exact("${workspaceFolderBasename}", TextMeaning::ProjectName);
const SEPARATOR: ExpansionForm = exact("${pathSeparator}", TextMeaning::Separator);
