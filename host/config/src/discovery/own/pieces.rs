//! Pieces of a client's text: words, and what is filled in between.

use super::*;

/// A part of a text.
pub(super) enum Piece {
    Plain(String),
    Variable {
        name: String,
        default: Option<String>,
    },
    /// Answer of a user to a question of the client's own.
    Answer {
        id: String,
        is_answered: bool,
    },
    /// Value in a file of the client's, which the user is asked for.
    Kept {
        id: String,
        is_answered: bool,
        value: Secret,
        /// The file, as the entry names it, where it does.
        file: Option<String>,
    },
    /// Text that cannot be filled in, as it is written, and the reason.
    Foreign(String, &'static str),
}
/// Escapes a text, so that nothing is filled in.
pub(super) fn escaped(text: &str) -> String {
    text.replace("${", "$${")
}

/// Returns the piece for a form that a text begins with, and the rest of the text.
pub(super) fn piece<'t>(
    text: &'t str,
    form: ExpansionForm,
    source: &TextSources<'_>,
) -> Option<(Piece, &'t str)> {
    let (read, rest) = form.read(text)?;
    let written = || {
        let written = text.get(..text.len() - rest.len()).unwrap_or_default();
        written.to_owned()
    };
    let variable = |name: &str, default: Option<&str>, missing| {
        if let Some(value) = source.of_entry.get(name) {
            return Piece::Plain(value.clone());
        }
        let kept = source.variables.get(name);
        match kept.map(|value| source.kept(name, value)) {
            None | Some(QuestionValueSource::InEnvironment) => {}
            Some(QuestionValueSource::NoWay) => {
                return Piece::Foreign(written(), ONLY_THE_CLIENT_KNOWS);
            }
            Some(answer) => {
                return Piece::Kept {
                    id: source.id_of(name),
                    is_answered: answer == QuestionValueSource::Answered,
                    value: Secret::new(kept.map(String::as_str).unwrap_or_default()),
                    file: None,
                };
            }
        }
        let empty = (missing == Missing::Empty).then_some("");
        Piece::Variable {
            name: name.to_owned(),
            default: default.or(empty).map(str::to_owned),
        }
    };
    let piece = match read {
        ReadForm::Variable {
            name,
            default,
            missing,
        } => variable(name, default, missing),
        ReadForm::Bare { name, missing } => {
            let known = source.around.env.contains_key(name)
                || source.variables.contains_key(name)
                || source.of_entry.contains_key(name);
            // What looks like a name may be half of a password.
            if !known && missing != Missing::Empty {
                return None;
            }
            variable(name, None, missing)
        }
        ReadForm::Exact {
            means: TextMeaning::Separator,
            ..
        } => Piece::Plain(std::path::MAIN_SEPARATOR.to_string()),
        ReadForm::Exact {
            means: TextMeaning::Home,
            ..
        } => match source.around.home.to_str() {
            Some(home) => Piece::Plain(home.to_owned()),
            None => Piece::Foreign(written(), NOT_UTF_8),
        },
        // What stands behind such an id would be a default.
        ReadForm::Input { id } if id.contains(":-") => {
            Piece::Foreign(written(), ONLY_THE_CLIENT_KNOWS)
        }
        ReadForm::Input { id } => Piece::Answer {
            id: id.to_owned(),
            is_answered: source.inputs.contains_key(id),
        },
        // A user's server is one for all projects.
        ReadForm::Exact {
            means: TextMeaning::Project | TextMeaning::ProjectName,
            ..
        }
        | ReadForm::Own { .. } => Piece::Foreign(written(), ONLY_THE_CLIENT_KNOWS),
        ReadForm::File { path } => file(path, written(), source),
    };
    Some((piece, rest))
}

/// Returns the piece for a file that is filled in. Its text may be a secret, and is asked for.
pub(super) fn file(path: &str, written: String, source: &TextSources<'_>) -> Piece {
    let Some(value) = source.files.get(path) else {
        return Piece::Foreign(written, FILE_NOT_THERE);
    };
    let id = source.id_of_file(path);
    match source.asked(&id, value) {
        QuestionValueSource::NoWay => Piece::Foreign(written, ONLY_THE_CLIENT_KNOWS),
        answer => Piece::Kept {
            id,
            is_answered: answer == QuestionValueSource::Answered,
            value: Secret::new(value),
            file: Some(path.to_owned()),
        },
    }
}
