//! A client's server in the words of `dormouse.toml`, which knows variables as
//! `${NAME}` and `${NAME:-default}`, and nothing else that is filled in.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dormouse_launch::{Http, Launch, Secret, Stdio};

use super::Surroundings;
use super::draft::{self, Text, Written};
use super::expansion::{self, Expansion, Form, Means, Missing, Read};
use crate::inputs::{self, INPUT};
use crate::problem::{quoted, within};
use crate::{Input, Inputs};

/// How many questions are told of one server at most.
const MOST: usize = 32;

/// A server as it can be written into `dormouse.toml`.
#[derive(Debug, Clone, PartialEq)]
pub struct Own {
    /// How it is reached, no variable filled in.
    pub launch: Launch,
    /// What a person has to write in it before it can be started, as sentences.
    /// What cannot be translated stands in its place as it was written.
    pub missing: Vec<String>,
    /// What a person has to answer in `[discovery.inputs]` before it can be started, as sentences.
    pub unanswered: Vec<String>,
    /// What is not quite as it was, as sentences.
    pub notes: Vec<String>,
}

/// Where the translated texts come from.
pub(super) struct Source<'a> {
    /// The server's name.
    pub(super) server: &'a str,
    pub(super) around: &'a Surroundings,
    pub(super) expansion: Expansion,
    /// Values that are in files of the client's, by the names of variables. They stay there: whoever
    /// takes such a server over answers for them in `[discovery.inputs]`.
    pub(super) variables: &'a BTreeMap<String, String>,
    /// Values that the entry itself has, by the names of variables.
    pub(super) of_entry: &'a BTreeMap<String, String>,
    /// What the user has answered to the client's questions.
    pub(super) inputs: &'a Inputs,
    /// Whether nothing of the user's is filled into the folder that it runs in.
    pub(super) is_folder_known: bool,
    /// Whether its file of variables is another in each project.
    pub(super) is_env_file_of_project: bool,
}

/// A part of a text.
enum Piece {
    Plain(String),
    Variable {
        name: String,
        default: Option<String>,
    },
    /// What a user answers to a question.
    Answer {
        id: String,
        is_answered: bool,
    },
    /// What only its client can fill in, as it is written.
    Foreign(String),
}

impl Own {
    /// Translates what a client has written. `filled` is the same with everything
    /// filled in as it is now.
    pub(super) fn of(written: &Written, filled: &Launch, source: &Source<'_>) -> Self {
        let mut own = Self {
            launch: filled.clone(),
            missing: Vec::new(),
            unanswered: Vec::new(),
            notes: Vec::new(),
        };
        own.launch = match (written, filled) {
            (Written::Stdio(written), Launch::Stdio(filled)) => {
                Launch::Stdio(own.stdio(written, filled, source))
            }
            (Written::Http(written), Launch::Http(_)) => Launch::Http(own.http(written, source)),
            _ => return own,
        };
        own
    }

    fn stdio(&mut self, written: &draft::Stdio, filled: &Stdio, source: &Source<'_>) -> Stdio {
        let args = written.args.iter().enumerate();
        let args = args.map(|(index, arg)| self.text(arg, source, &format!("args[{index}]")));
        let args = args.collect();
        let mut variables = self.table(&written.env, source, "env");
        if let Some(file) = &written.env_file
            && source.is_env_file_of_project
        {
            self.missing.push(format!(
                "write what it needs of the file {} into `env`: that file is another in each project",
                quoted(file)
            ));
        } else if let Some(file) = &written.env_file {
            self.env_file(file, &filled.env, &mut variables, source);
        }
        let cwd = written.cwd.as_ref().map(|cwd| {
            let own = self.text(cwd, source, "cwd");
            let anchored = own.starts_with(['/', '~']) || own.starts_with("${");
            match &filled.cwd {
                _ if anchored => own,
                // A relative folder would be one of the configuration file's.
                Some(filled) if source.is_folder_known => escaped(&filled.to_string_lossy()),
                // Nothing that is filled in is written down.
                _ => {
                    let around = source.around;
                    let base = around.project.as_ref().unwrap_or(&around.home);
                    format!("{}/{own}", escaped(&base.to_string_lossy()))
                }
            }
        });
        let own = self.text(&written.command, source, "command");
        Stdio {
            written: None,
            // A program that is named relative to its folder has been found there. Where something
            // is filled into either, that is written down nowhere.
            command: match filled.written.is_none() && source.is_folder_known {
                true if own == written.command => escaped(&filled.command),
                _ => own,
            },
            args,
            env: variables,
            cwd: cwd.map(PathBuf::from),
            pass_env: Vec::new(),
            filled_in: Vec::new(),
        }
    }

    fn http(&mut self, written: &draft::Http, source: &Source<'_>) -> Http {
        let url = self.text(&written.url, source, "url");
        // What the entry sets for its own headers has no other use.
        let mut of_entry = BTreeMap::new();
        for (name, text) in &written.env {
            if let Text::Written(value) = text {
                of_entry.insert(name.clone(), value.clone());
            }
        }
        let source = Source {
            of_entry: &of_entry,
            ..*source
        };
        Http {
            url,
            written: None,
            headers: self.table(&written.headers, &source, "headers"),
            transport: written.transport,
            oauth: written
                .oauth
                .map(&mut |text, key| self.text(text, &source, &format!("oauth.{key}"))),
            filled_in: Vec::new(),
        }
    }

    /// Has what a file of variables says asked for. Its values are the user's secrets, and nothing
    /// but that file is to have them.
    fn env_file(
        &mut self,
        file: &str,
        filled: &BTreeMap<String, Secret>,
        variables: &mut BTreeMap<String, Secret>,
        source: &Source<'_>,
    ) {
        let mut asked = Vec::new();
        let mut elsewhere = Vec::new();
        for (name, value) in filled {
            if variables.contains_key(name) {
                continue;
            }
            let text = match source.kept(name, value.expose()) {
                Kept::InEnvironment => format!("${{{name}}}"),
                Kept::Answered => format!("${{{INPUT}{}}}", source.id_of(name)),
                Kept::Unanswered => {
                    let id = source.id_of(name);
                    let text = format!("${{{INPUT}{id}}}");
                    asked.push(id);
                    text
                }
                Kept::NoWay => {
                    elsewhere.push(name);
                    continue;
                }
            };
            variables.insert(name.clone(), Secret::new(text));
        }
        if !asked.is_empty() {
            self.unanswered.push(format!(
                "`env` asks for what the file {} has: write {} in dormouse.toml, below \
                 `[discovery.inputs]`, each as `NAME = \"…\"`, or as `NAME = {{ env = \"NAME\" }}` \
                 for a variable of the environment",
                quoted(file),
                named(&asked.iter().collect::<Vec<_>>())
            ));
        }
        if !elsewhere.is_empty() {
            self.missing.push(format!(
                "write {} of the file {} into `env`",
                named(&elsewhere),
                quoted(file)
            ));
        }
    }

    fn table(
        &mut self,
        texts: &BTreeMap<String, Text>,
        source: &Source<'_>,
        key: &str,
    ) -> BTreeMap<String, Secret> {
        let mut table = BTreeMap::new();
        for (name, text) in texts {
            let at = within(key, name);
            let value = match text {
                Text::Written(text) if key == "headers" => self.translate(text, source, &at),
                Text::Written(text) => self.text(text, source, &at),
                Text::Variable {
                    name,
                    prefix,
                    needed,
                } => {
                    let default = (!needed).then(String::new);
                    let variable = Piece::Variable {
                        name: name.clone(),
                        default,
                    };
                    self.written(vec![Piece::Plain((*prefix).to_owned()), variable], &at)
                }
            };
            table.insert(name.clone(), Secret::new(value));
        }
        table
    }

    /// Translates a text that is no header.
    fn text(&mut self, text: &str, source: &Source<'_>, at: &str) -> String {
        if source.expansion.headers_only {
            return escaped(text);
        }
        self.translate(text, source, at)
    }

    fn translate(&mut self, text: &str, source: &Source<'_>, at: &str) -> String {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let mut forms = source.expansion.forms.iter();
            match forms.find_map(|form| piece(rest, *form, source)) {
                Some((Piece::Plain(text), after)) => {
                    plain.push_str(&text);
                    rest = after;
                }
                Some((piece, after)) => {
                    pieces.push(Piece::Plain(std::mem::take(&mut plain)));
                    pieces.push(piece);
                    rest = after;
                }
                None => {
                    plain.push(c);
                    rest = rest.get(c.len_utf8()..).unwrap_or_default();
                }
            }
        }
        pieces.push(Piece::Plain(plain));
        self.written(pieces, at)
    }

    /// Pieces as `dormouse.toml` writes them.
    fn written(&mut self, pieces: Vec<Piece>, at: &str) -> String {
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Plain(plain) => text.push_str(&escaped(&plain)),
                Piece::Variable { name, default } => {
                    if text.ends_with('$') {
                        self.missing.push(no_way_to_write(at));
                    }
                    let default = default.map(|default| format!(":-{default}"));
                    text.push_str(&format!("${{{name}{}}}", default.unwrap_or_default()));
                }
                Piece::Answer { id, is_answered } => {
                    if text.ends_with('$') {
                        self.missing.push(no_way_to_write(at));
                    }
                    let told = inputs::unanswered(at, &id).replace("\nhint", "");
                    let is_told = self.unanswered.len() >= MOST || self.unanswered.contains(&told);
                    if !is_answered && !is_told {
                        self.unanswered.push(told);
                    }
                    text.push_str(&format!("${{{INPUT}{id}}}"));
                }
                Piece::Foreign(written) => {
                    self.missing.push(format!(
                        "in `{at}`, write a value or `${{VARIABLE}}` in place of {}, which only the client knows",
                        quoted(&written)
                    ));
                    text.push_str(&written);
                }
            }
        }
        text
    }
}

/// Where a value is to come from that is in a file of a client's.
enum Kept {
    /// The environment has the same.
    InEnvironment,
    /// The user's answer to a question of that name is the same.
    Answered,
    /// The user is asked for it.
    Unanswered,
    /// It has a name that cannot be asked for, or one that something else has.
    NoWay,
}

impl Source<'_> {
    /// The question for a value that is in a file of a client's. Other servers have other files, in
    /// which the same name may have another secret, and it is nothing that they ask for.
    fn id_of(&self, name: &str) -> String {
        let plain = |c: char| match c.is_ascii_alphanumeric() {
            true => c,
            false => '_',
        };
        let server: String = self.server.chars().map(plain).collect();
        format!("{server}_{name}")
    }

    /// Where a value is to come from, which is never written down: what is shown of a command has
    /// its arguments in it.
    fn kept(&self, name: &str, value: &str) -> Kept {
        let of_environment = self.around.env.get(name).map(String::as_str);
        let can_be_asked_for = expansion::is_name(name);
        let answer = self
            .inputs
            .get(&self.id_of(name))
            .map(|answer| match answer {
                Input::Value(answer) => Some(answer.expose()),
                Input::Variable(variable) => self.around.value(variable),
            });
        match answer {
            _ if !can_be_asked_for => Kept::NoWay,
            _ if of_environment == Some(value) => Kept::InEnvironment,
            None => Kept::Unanswered,
            Some(Some(answer)) if answer == value => Kept::Answered,
            // Another client's question, or another server's.
            Some(_) => Kept::NoWay,
        }
    }
}

/// Names of variables, some of them where there are many.
fn named(names: &[&String]) -> String {
    let shown: Vec<_> = names.iter().take(10).map(|name| quoted(name)).collect();
    let shown = shown.join(", ");
    match names.len().checked_sub(10) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} others"),
    }
}

fn no_way_to_write(at: &str) -> String {
    format!("write `{at}` in another way: a `$` right before a variable has no way to be written")
}

/// A text in which nothing is to be filled in.
fn escaped(text: &str) -> String {
    text.replace("${", "$${")
}

/// What a form that a text begins with is, and what stands behind it.
fn piece<'t>(text: &'t str, form: Form, source: &Source<'_>) -> Option<(Piece, &'t str)> {
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
            None | Some(Kept::InEnvironment) => {}
            Some(Kept::NoWay) => return Piece::Foreign(written()),
            Some(kept) => {
                return Piece::Answer {
                    id: source.id_of(name),
                    is_answered: matches!(kept, Kept::Answered),
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
        Read::Variable {
            name,
            default,
            missing,
        } => variable(name, default, missing),
        Read::Bare { name, missing } => {
            let known = source.around.env.contains_key(name)
                || source.variables.contains_key(name)
                || source.of_entry.contains_key(name);
            // What looks like a name may be half of a password.
            if !known && missing != Missing::Empty {
                return None;
            }
            variable(name, None, missing)
        }
        Read::Exact {
            means: Means::Separator,
            ..
        } => Piece::Plain(std::path::MAIN_SEPARATOR.to_string()),
        Read::Exact {
            means: Means::Home, ..
        } => Piece::Plain(source.around.home.to_string_lossy().into_owned()),
        // What stands behind such an id would be a default.
        Read::Input { id } if id.contains(":-") => Piece::Foreign(written()),
        Read::Input { id } => Piece::Answer {
            id: id.to_owned(),
            is_answered: source.inputs.contains_key(id),
        },
        // A user's server is one for all projects.
        Read::Exact {
            means: Means::Project | Means::ProjectName,
            ..
        }
        | Read::File { .. }
        | Read::Own { .. } => Piece::Foreign(written()),
    };
    Some((piece, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variables;

    fn translated(text: &str, expansion: Expansion) -> (String, usize) {
        let around = Surroundings {
            home: "/home/u".into(),
            env: [("SET", "1"), ("SAME", "k$")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            ..Surroundings::default()
        };
        let kept = |names: &[&str]| {
            let names = names.iter();
            names
                .map(|name| ((*name).to_owned(), "k$".to_owned()))
                .collect()
        };
        let variables: BTreeMap<_, _> = kept(&["KEPT", "SAME", "given", "ANSWERED"]);
        let of_entry = kept(&["OWN", "SET"]);
        let none = BTreeMap::new();
        let mut own = Own {
            launch: Launch::Stdio(Stdio::default()),
            missing: Vec::new(),
            unanswered: Vec::new(),
            notes: Vec::new(),
        };
        let source = Source {
            server: "s-1",
            around: &around,
            expansion,
            variables: &variables,
            of_entry: match expansion.headers_only {
                true => &of_entry,
                false => &none,
            },
            inputs: &Inputs::from([
                ("s_1_ANSWERED".to_owned(), Input::Value(Secret::new("k$"))),
                ("s_1_given".to_owned(), Input::Value(Secret::new("other"))),
                ("given".to_owned(), Input::Value(Secret::new("a$${b}"))),
                ("named".to_owned(), Input::Variable("N".to_owned())),
            ]),
            is_folder_known: true,
            is_env_file_of_project: false,
        };
        let text = own.translate(text, &source, "args[0]");
        (text, own.missing.len())
    }

    #[test]
    fn every_syntax_becomes_our_own() {
        use expansion::{AMP, CLAUDE, CONTINUE, COPILOT, CURSOR, FORGE, GEMINI, GOOSE, NONE};
        use expansion::{OPENCODE, VSCODE, WINDSURF};
        for (text, expansion, own, missing) in [
            ("a ${X} $Y", NONE, "a $${X} $Y", 0),
            ("a ${X}${Y:-z}", CLAUDE, "a ${X}${Y:-z}", 0),
            ("$X ${Y}", CLAUDE, "$X ${Y}", 0),
            ("pa$$word ${a b}", CLAUDE, "pa$$word $${a b}", 0),
            ("$SET/$UNSET", COPILOT, "${SET}/$UNSET", 0),
            ("$SET/$UNSET", GEMINI, "${SET:-}/${UNSET:-}", 0),
            ("$SET ${X:-y}", AMP, "${SET} $${X:-y}", 0),
            ("${env:X}", VSCODE, "${X:-}", 0),
            ("${env:X}${userHome}${/}a", CURSOR, "${X}/home/u/a", 0),
            ("${workspaceFolder}/a", CURSOR, "${workspaceFolder}/a", 1),
            ("Bearer ${input:token}", VSCODE, "Bearer ${input:token}", 0),
            (
                "${input:given} ${input:named}",
                VSCODE,
                "${input:given} ${input:named}",
                0,
            ),
            ("$${input:given}", VSCODE, "$${input:given}", 1),
            ("${input:a:-b}", VSCODE, "${input:a:-b}", 1),
            ("${{ inputs.named }}", CONTINUE, "${input:named}", 0),
            ("{env:X}{file:~/k}", OPENCODE, "${X:-}{file:~/k}", 1),
            ("${env:X}", WINDSURF, "${X}", 0),
            // What is in a client's own file is asked for, and never written down.
            (
                "${{ secrets.X }} ${{secrets.KEPT}}",
                CONTINUE,
                "${X} ${input:s_1_KEPT}",
                0,
            ),
            (
                "${{secrets.SAME}} ${{secrets.ANSWERED}}",
                CONTINUE,
                "${SAME} ${input:s_1_ANSWERED}",
                0,
            ),
            // Somebody has answered another question of that name.
            ("${{secrets.given}}", CONTINUE, "${{secrets.given}}", 1),
            ("{{.env.X}} {{x}}", FORGE, "${X} {{x}}", 0),
            ("${OWN} ${SET} ${X}", GOOSE, "k$ k$ ${X}", 0),
            ("$${X}", CLAUDE, "$${X}", 1),
        ] {
            assert_eq!(
                translated(text, expansion),
                (own.to_owned(), missing),
                "{text}"
            );
        }
    }

    proptest::proptest! {
        // What nothing is filled into comes out of `dormouse.toml` as it went in.
        #[test]
        fn a_plain_text_stays_what_it_is(text in "[$a{}]{0,12}") {
            let (own, _) = translated(&text, expansion::NONE);
            let expanded = variables::expand(&own, &|_| None);
            proptest::prop_assert_eq!(expanded.text, text);
            proptest::prop_assert!(expanded.missing.is_empty());
        }
    }
}
