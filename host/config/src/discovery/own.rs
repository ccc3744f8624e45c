//! A client's server in the words of `dormouse.toml`, which knows variables as
//! `${NAME}` and `${NAME:-default}`, and nothing else that is filled in.

mod pieces;
mod questions;
mod translation;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dormouse_launch::{Http, Launch, Secret, Stdio};
use dormouse_text::visible::visible_path;

use self::pieces::{Piece, escaped};
use self::questions::QuestionValueSource;
use super::Surroundings;
use super::entries::draft;
use super::entries::draft::{DraftText, Written};
use super::filling::expansion;
use super::filling::expansion::{ClientExpansion, ExpansionForm, Missing, ReadForm, TextMeaning};
use crate::inputs::INPUT;
use crate::problem::{quoted, within};
use crate::{Input, Inputs};

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
pub(super) struct TextSources<'a> {
    /// The server's name.
    pub(super) server: &'a str,
    pub(super) around: &'a Surroundings,
    pub(super) expansion: ClientExpansion,
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

/// Reasons why something is not translated, as what follows it.
const ONLY_THE_CLIENT_KNOWS: &str = "which only the client knows";
const NOT_UTF_8: &str = "a path that is not UTF-8";
const FILE_NOT_THERE: &str = "a file that is not there now, or that is another one in each project";

impl Own {
    /// Translates what a client has written. `filled` is the same launch with everything filled in
    /// as it is now.
    pub(super) fn of(written: &Written, filled: &Launch, source: &TextSources<'_>) -> Self {
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

    fn stdio(
        &mut self,
        written: &draft::StdioDraft,
        filled: &Stdio,
        source: &TextSources<'_>,
    ) -> Stdio {
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

    fn http(&mut self, written: &draft::HttpDraft, source: &TextSources<'_>) -> Http {
        let url = self.text(&written.url, source, "url");
        // What the entry sets for its own headers has no other use.
        let mut of_entry = BTreeMap::new();
        for (name, text) in &written.env {
            if let DraftText::Written(value) = text {
                of_entry.insert(name.clone(), value.clone());
            }
        }
        let source = TextSources {
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
        source: &TextSources<'_>,
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
                QuestionValueSource::InEnvironment => format!("${{{name}}}"),
                QuestionValueSource::Answered | QuestionValueSource::Unanswered => {
                    format!("${{{INPUT}{id}}}")
                }
                QuestionValueSource::NoWay => {
                    elsewhere.push(name);
                    continue;
                }
            };
            variables.insert(name.clone(), Secret::new(text));
            if kept != QuestionValueSource::InEnvironment {
                self.ask(id.clone(), Some(value.clone()));
            }
            if kept == QuestionValueSource::Unanswered {
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
        texts: &BTreeMap<String, DraftText>,
        source: &TextSources<'_>,
        key: &str,
    ) -> BTreeMap<String, Secret> {
        let mut table = BTreeMap::new();
        for (name, text) in texts {
            let at = within(key, name);
            let value = match text {
                DraftText::Written(text) if key == "headers" => self.translate(text, source, &at),
                DraftText::Written(text) => self.text(text, source, &at),
                DraftText::Variable {
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

#[cfg(test)]
mod tests;
