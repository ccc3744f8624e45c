//! A client's server in the words of `dormouse.toml`, which knows variables as
//! `${NAME}` and `${NAME:-default}`, and nothing else that is filled in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dormouse_launch::{Http, Launch, Secret, Stdio};
use dormouse_text::visible::visible_path;

use super::Surroundings;
use super::draft::{self, Text, Written};
use super::expansion::{self, Expansion, Form, Means, Missing, Read};
use crate::inputs::{self, INPUT};
use crate::problem::{quoted, within};
use crate::{Input, Inputs};

/// Most questions that are reported of one server.
const MAX_UNANSWERED: usize = 32;

/// A server as it can be written into `dormouse.toml`.
#[derive(Debug, Clone, PartialEq)]
pub struct Own {
    /// Launch, no variable filled in.
    pub launch: Launch,
    /// Things that a person has to write in it before it can be started, as sentences. A part that
    /// cannot be translated stands in its place as it was written.
    pub missing: Vec<String>,
    /// Questions that a person has to answer in `[discovery.inputs]` before it can be started, as
    /// sentences.
    pub unanswered: Vec<String>,
    /// Things that are not quite as they were, as sentences.
    pub notes: Vec<String>,
    /// Questions that the server asks, by their ids, each with the value that the answer is to be:
    /// none where the client's own file asks it.
    pub asked: BTreeMap<String, Option<Secret>>,
}

/// Sources of the translated texts.
pub(super) struct Source<'a> {
    /// The server's name.
    pub(super) server: &'a str,
    pub(super) around: &'a Surroundings,
    pub(super) expansion: Expansion,
    /// Values that are in files of the client's, by the names of variables. They stay there: whoever
    /// takes such a server over answers for them in `[discovery.inputs]`.
    pub(super) variables: &'a BTreeMap<String, String>,
    /// Texts of the files that are filled in, by the paths as they are written. They stay in these
    /// files, too.
    pub(super) files: &'a BTreeMap<String, String>,
    /// Values that the entry itself has, by the names of variables.
    pub(super) of_entry: &'a BTreeMap<String, String>,
    /// Answers of the user to the client's questions.
    pub(super) inputs: &'a Inputs,
    /// Whether nothing of the user's is filled into the server's working directory.
    pub(super) is_folder_known: bool,
    /// Whether the server's file of variables is another in each project.
    pub(super) is_env_file_of_project: bool,
    /// Whether the server's file of variables could not be read.
    pub(super) is_env_file_unread: bool,
}

/// A part of a text.
enum Piece {
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

/// Reasons why something is not translated, as what follows it.
const ONLY_THE_CLIENT_KNOWS: &str = "which only the client knows";
const NOT_UTF_8: &str = "a path that is not UTF-8";
const FILE_NOT_THERE: &str = "a file that is not there now, or that is another one in each project";

impl Own {
    /// Translates what a client has written. `filled` is the same launch with everything filled in
    /// as it is now.
    pub(super) fn of(written: &Written, filled: &Launch, source: &Source<'_>) -> Self {
        let mut own = Self {
            launch: filled.clone(),
            missing: Vec::new(),
            unanswered: Vec::new(),
            notes: Vec::new(),
            asked: BTreeMap::new(),
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
        } else if let Some(file) = &written.env_file
            && source.is_env_file_unread
        {
            self.missing.push(format!(
                "write what it needs of the file {} into `env`: that file cannot be read here",
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
                Some(filled) if source.is_folder_known => self.path(filled),
                // Nothing that is filled in is written down.
                _ => {
                    let around = source.around;
                    let base = around.project.as_ref().unwrap_or(&around.home);
                    format!("{}/{own}", self.path(base))
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

    /// Writes a working directory, or what stands in front of it. No text stands for a path that is
    /// none.
    fn path(&mut self, path: &Path) -> String {
        if path.to_str().is_none() {
            self.missing.push(format!(
                "write another folder as `cwd`: `{}` is not UTF-8",
                visible_path(path)
            ));
        }
        escaped(path.to_str().unwrap_or_default())
    }

    /// Makes questions of the variables of a file. Its values are the user's secrets, and nothing
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
            let id = source.id_of(name);
            let kept = source.kept(name, value.expose());
            let text = match kept {
                Kept::InEnvironment => format!("${{{name}}}"),
                Kept::Answered | Kept::Unanswered => format!("${{{INPUT}{id}}}"),
                Kept::NoWay => {
                    elsewhere.push(name);
                    continue;
                }
            };
            variables.insert(name.clone(), Secret::new(text));
            if kept != Kept::InEnvironment {
                self.ask(id.clone(), Some(value.clone()));
            }
            if kept == Kept::Unanswered {
                asked.push(id);
            }
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

    /// Notes a question that is asked, with the value that the answer is to be; none where the
    /// client's own file asks it.
    fn ask(&mut self, id: String, value: Option<Secret>) {
        match self.asked.get(&id) {
            Some(known) if *known != value => self.missing.push(format!(
                "write the values themselves that {} stands for: two questions have that id",
                quoted(&id)
            )),
            Some(_) => {}
            None => {
                self.asked.insert(id, value);
            }
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

    /// Writes pieces as `dormouse.toml` has them.
    fn written(&mut self, pieces: Vec<Piece>, at: &str) -> String {
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Plain(plain) => text.push_str(&escaped(&plain)),
                Piece::Variable { name, default } => {
                    self.look_behind(&text, at);
                    let default = default.map(|default| format!(":-{default}"));
                    text.push_str(&format!("${{{name}{}}}", default.unwrap_or_default()));
                }
                Piece::Answer { id, is_answered } => {
                    self.look_behind(&text, at);
                    text.push_str(&format!("${{{INPUT}{id}}}"));
                    if !is_answered {
                        self.tell_unanswered(&inputs::unanswered(at, &id));
                    }
                    self.ask(id, None);
                }
                Piece::Kept {
                    id,
                    is_answered,
                    value,
                    file,
                } => {
                    self.look_behind(&text, at);
                    text.push_str(&format!("${{{INPUT}{id}}}"));
                    if !is_answered {
                        self.tell_unanswered(&match file {
                            None => inputs::unanswered(at, &id),
                            Some(file) => format!(
                                "`{at}` asks for {}, which the file {} has\nhint: {}",
                                quoted(&id),
                                quoted(&file),
                                inputs::hint(&id)
                            ),
                        });
                    }
                    self.ask(id, Some(value));
                }
                Piece::Foreign(written, why) => {
                    self.missing.push(format!(
                        "in `{at}`, write a value or `${{VARIABLE}}` in place of {}, {why}",
                        quoted(&written)
                    ));
                    text.push_str(&written);
                }
            }
        }
        text
    }

    /// Checks that the text before a variable does not make a plain text of it.
    fn look_behind(&mut self, text: &str, at: &str) {
        if text.ends_with('$') {
            self.missing.push(no_way_to_write(at));
        }
    }

    /// Notes the message on a question that has no answer, once, and not too many of them.
    fn tell_unanswered(&mut self, told: &str) {
        let told = told.replace("\nhint", "");
        if self.unanswered.len() < MAX_UNANSWERED && !self.unanswered.contains(&told) {
            self.unanswered.push(told);
        }
    }
}

/// Source for a value that is in a file of a client's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// The environment, which has the same value.
    InEnvironment,
    /// The user's answer to a question of that name, which is the same value.
    Answered,
    /// An answer that the user is asked for.
    Unanswered,
    /// None: the value has a name that cannot be asked for, or one that something else has.
    NoWay,
}

impl Source<'_> {
    /// Returns the id of the question for a variable that is in a file of a client's. Other servers
    /// have other files, in which the same name may have another secret, and it is nothing that
    /// they ask for: no two pairs of a server and a variable have one id.
    fn id_of(&self, name: &str) -> String {
        let server = self.server;
        // No variable has a `-` in its name, so that the last one stands between both. Where the
        // server's name has neither `-` nor `_`, the first `_` does, and there is no `-`.
        let is_short = (1..=MAX_SERVER_IN_ID).contains(&server.len());
        match is_short && server.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            true => format!("{server}_{name}"),
            false => format!("{}-{name}", plain(server)),
        }
    }

    /// Returns the id of the question for the text of a file.
    fn id_of_file(&self, path: &str) -> String {
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
        // Paths of other folders end in the same name.
        let name = format!("{}-{}", replaced(name, MAX_FILE_IN_ID), digits(path));
        format!("{}-file-{name}", plain(self.server))
    }

    /// Returns the source for a variable's value, which is never written down: what is shown of a
    /// command has its arguments in it.
    fn kept(&self, name: &str, value: &str) -> Kept {
        let of_environment = self.around.env.get(name).map(String::as_str);
        match expansion::is_name(name) {
            false => Kept::NoWay,
            true if of_environment == Some(value) => Kept::InEnvironment,
            true => self.asked(&self.id_of(name), value),
        }
    }

    /// Returns the source for the value that the answer to a question is to be.
    fn asked(&self, id: &str, value: &str) -> Kept {
        let answer = self.inputs.get(id).map(|answer| match answer {
            Input::Value(answer) => Some(answer.expose()),
            Input::Variable(variable) => self.around.value(variable),
        });
        match answer {
            None => Kept::Unanswered,
            Some(Some(answer)) if answer == value => Kept::Answered,
            // Another client's question, or another server's.
            Some(_) => Kept::NoWay,
        }
    }
}

/// Most characters of names that are repeated in an id, so that messages show it as a whole.
const MAX_SERVER_IN_ID: usize = 20;
const MAX_FILE_IN_ID: usize = 12;

/// Returns a server's name as it is part of an id: where it is not the name itself, with digits of
/// it.
fn plain(server: &str) -> String {
    let plain = replaced(server, MAX_SERVER_IN_ID);
    match plain == server && !server.is_empty() {
        true => plain,
        false => format!("{plain}-{}", digits(server)),
    }
}

/// Shortens a name, and replaces characters that an id should not have.
fn replaced(name: &str, most: usize) -> String {
    let replaced = |c: char| match c.is_ascii_alphanumeric() || matches!(c, '-' | '_') {
        true => c,
        false => '_',
    };
    name.chars().map(replaced).take(most).collect()
}

/// Returns the first digits of a text's hash.
fn digits(text: &str) -> String {
    let hash = blake3::hash(text.as_bytes()).to_hex();
    hash.chars().take(8).collect()
}

/// Lists names of variables, some of them where there are many.
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

/// Escapes a text, so that nothing is filled in.
fn escaped(text: &str) -> String {
    text.replace("${", "$${")
}

/// Returns the piece for a form that a text begins with, and the rest of the text.
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
            Some(Kept::NoWay) => return Piece::Foreign(written(), ONLY_THE_CLIENT_KNOWS),
            Some(answer) => {
                return Piece::Kept {
                    id: source.id_of(name),
                    is_answered: answer == Kept::Answered,
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
        } => match source.around.home.to_str() {
            Some(home) => Piece::Plain(home.to_owned()),
            None => Piece::Foreign(written(), NOT_UTF_8),
        },
        // What stands behind such an id would be a default.
        Read::Input { id } if id.contains(":-") => Piece::Foreign(written(), ONLY_THE_CLIENT_KNOWS),
        Read::Input { id } => Piece::Answer {
            id: id.to_owned(),
            is_answered: source.inputs.contains_key(id),
        },
        // A user's server is one for all projects.
        Read::Exact {
            means: Means::Project | Means::ProjectName,
            ..
        }
        | Read::Own { .. } => Piece::Foreign(written(), ONLY_THE_CLIENT_KNOWS),
        Read::File { path } => file(path, written(), source),
    };
    Some((piece, rest))
}

/// Returns the piece for a file that is filled in. Its text may be a secret, and is asked for.
fn file(path: &str, written: String, source: &Source<'_>) -> Piece {
    let Some(value) = source.files.get(path) else {
        return Piece::Foreign(written, FILE_NOT_THERE);
    };
    let id = source.id_of_file(path);
    match source.asked(&id, value) {
        Kept::NoWay => Piece::Foreign(written, ONLY_THE_CLIENT_KNOWS),
        answer => Piece::Kept {
            id,
            is_answered: answer == Kept::Answered,
            value: Secret::new(value),
            file: Some(path.to_owned()),
        },
    }
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
            asked: BTreeMap::new(),
        };
        let files = [("~/k".to_owned(), "k$".to_owned())].into();
        let source = Source {
            server: "s-1",
            files: &files,
            around: &around,
            expansion,
            variables: &variables,
            of_entry: match expansion.headers_only {
                true => &of_entry,
                false => &none,
            },
            inputs: &Inputs::from([
                ("s-1-ANSWERED".to_owned(), Input::Value(Secret::new("k$"))),
                ("s-1-given".to_owned(), Input::Value(Secret::new("other"))),
                ("given".to_owned(), Input::Value(Secret::new("a$${b}"))),
                ("named".to_owned(), Input::Variable("N".to_owned())),
            ]),
            is_folder_known: true,
            is_env_file_of_project: false,
            is_env_file_unread: false,
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
            (
                "{env:X}{file:~/k}",
                OPENCODE,
                "${X:-}${input:s-1-file-k-DIGITS}",
                0,
            ),
            ("{env:X}{file:~/l}", OPENCODE, "${X:-}{file:~/l}", 1),
            ("${env:X}", WINDSURF, "${X}", 0),
            // What is in a client's own file is asked for, and never written down.
            (
                "${{ secrets.X }} ${{secrets.KEPT}}",
                CONTINUE,
                "${X} ${input:s-1-KEPT}",
                0,
            ),
            (
                "${{secrets.SAME}} ${{secrets.ANSWERED}}",
                CONTINUE,
                "${SAME} ${input:s-1-ANSWERED}",
                0,
            ),
            // Somebody has answered another question of that name.
            ("${{secrets.given}}", CONTINUE, "${{secrets.given}}", 1),
            ("{{.env.X}} {{x}}", FORGE, "${X} {{x}}", 0),
            ("${OWN} ${SET} ${X}", GOOSE, "k$ k$ ${X}", 0),
            ("$${X}", CLAUDE, "$${X}", 1),
        ] {
            let own = own.replace("DIGITS", &digits("~/k"));
            assert_eq!(translated(text, expansion), (own, missing), "{text}");
        }
    }

    #[test]
    fn no_two_servers_are_asked_one_question() {
        let around = Surroundings::default();
        let none = BTreeMap::new();
        let inputs = Inputs::new();
        let source = |server| Source {
            server,
            around: &around,
            expansion: expansion::NONE,
            variables: &none,
            files: &none,
            of_entry: &none,
            inputs: &inputs,
            is_folder_known: true,
            is_env_file_of_project: false,
            is_env_file_unread: false,
        };
        let servers = [
            "a",
            "a_b",
            "a-b",
            "a b",
            "a.b",
            "検索",
            "翻訳",
            "",
            "_",
            "-",
            "my mail",
            "my_mail",
            "A",
            &"x".repeat(100),
            &"-".repeat(100),
            &"-".repeat(101),
        ];
        let mut ids = std::collections::BTreeSet::new();
        for server in servers {
            for name in ["KEY", "b_KEY", "API_KEY", "mail_KEY", "_b_KEY"] {
                let id = source(server).id_of(name);
                assert!(ids.insert(id.clone()), "{id}");
            }
            for path in ["~/a", "~/b/a", "/a", "~/b_a", "~/検"] {
                let id = source(server).id_of_file(path);
                assert!(ids.insert(id.clone()), "{id}");
            }
        }
        assert!(ids.iter().all(|id| crate::problem::unquoted(id) == *id));
        assert_eq!(source("a").id_of("API_KEY"), "a_API_KEY");
        assert_eq!(source("my-mail").id_of("API_KEY"), "my-mail-API_KEY");
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
