//! What clients fill into the texts of their configuration: variables, files,
//! folders, answers of their users. All syntaxes, and what each means where a
//! variable is missing, are in the tables here.

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
