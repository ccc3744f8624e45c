//! Bridged servers: an upstream, and how much of it is shown.

mod filter;
mod fingerprint;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dormouse_files::links;
use dormouse_launch::{Launch, Secret};

pub use super::bridge::filter::{Filter, ToolFilter};
pub use super::bridge::fingerprint::Fingerprint;
use crate::{ChangePolicy, ClientRules, Scope};

/// An upstream to bridge, as it is configured.
#[derive(Debug, Clone, PartialEq)]
pub struct Bridge {
    /// Launch, every variable expanded.
    pub launch: Launch,
    /// The launch as it is written, no variable expanded: what people are shown.
    pub written: Launch,
    /// The program as people see it before they trust the project that it is of, where that is
    /// another text than `written`.
    pub shown: Option<Box<ShownProgram>>,
    /// Sources of the user's own that are filled in, or would be if they were there, and the places
    /// that they go into.
    pub filled_in: BTreeSet<FilledIn>,
    /// Hash of `written`. Records of an upstream are kept under it, and so are found after a
    /// restart, and after a token was renewed.
    pub fingerprint: Fingerprint,
    /// Things that have to be set before the upstream can be started.
    pub needs: Vec<Need>,
    /// Filter of the tools that are shown.
    pub filter: Filter,
    /// Rules for single clients, which are shown less.
    pub rules: ClientRules,
    /// Names of tools that the upstream is configured to have, to be shown until more is known.
    pub stubs: Vec<String>,
    /// Longest time for the start; a call has its time from the server's limits.
    pub start_timeout: Option<Duration>,
    /// Policy for items that are no longer what the user has approved.
    pub changes: ChangePolicy,
    /// Whether all sessions share one connection.
    pub share: bool,
}

/// Something that has to be set before a server can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// Text of the launch that needs it (`env.TOKEN`), where it is one.
    pub place: Option<String>,
    /// Advice for the user, as sentences. Words of the file are quoted in it, and models are told
    /// those of the user's own files alone ([`Need::for_models`]).
    pub text: String,
}

impl Need {
    /// Returns the text for models: of a server of a project's file, only that something has to be
    /// set. The rest would be in the words of the project's author.
    #[must_use]
    pub fn for_models(&self, scope: &Scope) -> &str {
        match scope {
            Scope::Project(_) => {
                "something that its user has to set first is not set\n\
                 hint: `dormouse doctor` says what"
            }
            Scope::Managed | Scope::User | Scope::Local(_) => &self.text,
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Name under which the variables of [`Bridge::written`] have the path of the file that more
/// variables are taken from. No variable has such a name.
pub(crate) const ENV_FILE: &str = "=";

/// Most things of the user's that are filled into one server.
pub(crate) const MAX_FILLED_IN: usize = 1000;

/// Something of the user's that a launch names, and that is filled in when the launch is read, or
/// would be if it were there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilledIn {
    /// Source of the value.
    pub source: FillSource,
    /// Text that the value goes into: `args[0]`, `headers.Authorization`.
    pub place: String,
}

/// A program as people see it before they trust a project: values from the project's files are
/// filled in, and variables of the user's stand as they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownProgram {
    /// The program.
    pub command: String,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Working directory of the program.
    pub folder: Option<ShownFolder>,
}

/// Working directory of a program, as people see it before they trust a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShownFolder {
    /// The folder itself.
    Known(PathBuf),
    /// Its text, where something of the user's is filled into it.
    Written(String),
}

/// Source of a value that is filled in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum FillSource {
    /// A variable of the user's environment, by name.
    Variable(String),
    /// A file.
    File(PathBuf),
    /// A variable in a file of variables of the user's.
    VariableInFile {
        /// The variable's name.
        name: String,
        /// The file, which need not be there.
        file: PathBuf,
    },
    /// A variable in a file of variables of the project that the server is of.
    VariableInProjectFile {
        /// The variable's name.
        name: String,
        /// The file, as the project names it.
        file: PathBuf,
    },
    /// The user's answer to a client's question, by the id of the question.
    Input(String),
}

/// Longest time for the start of an upstream, where none is configured: a package runner may have
/// to download it first.
const START_TIMEOUT: Duration = Duration::from_secs(60);

impl Bridge {
    /// Whether something has to be set at `place` of the entry before the upstream can be started.
    pub(crate) fn lacks(&self, place: &str) -> bool {
        let mut places = self.needs.iter().filter_map(|need| need.place.as_deref());
        places.any(|one| one == place)
    }

    /// Keeps the records of the upstream for one project alone: the same launch may reach something
    /// else in another folder.
    pub(crate) fn keep_apart_in_project(&mut self, folder: &Path) {
        let is_apart = match &self.written {
            Launch::Stdio(stdio) => stdio.cwd.as_deref() == Some(folder),
            Launch::Http(_) => false,
        };
        // Older versions have kept it so where the folder is written in the launch.
        if !is_apart {
            self.fingerprint = self.fingerprint.in_project(folder);
        }
    }

    /// Keeps the records of the upstream for the folder that the host works in, where that folder
    /// decides which program is started: where it is started there, or is led there by a variable.
    pub(crate) fn keep_apart_by_folder(&mut self, folder: &Path) {
        let (Launch::Stdio(written), Launch::Stdio(filled)) = (&self.written, &self.launch) else {
            return;
        };
        // A folder is the same by whichever link. Those in it are not followed: nobody may have trusted it.
        let real_folder = links::real_path_outside(folder, None);
        let leads_there = |path: &Path| links::leads_into(path, &real_folder);
        let is_elsewhere = match (&written.cwd, &filled.cwd) {
            (Some(written), Some(filled)) => {
                !leads_there(filled)
                    || written.starts_with(folder)
                    || written.starts_with(&real_folder)
                    || written.starts_with("~")
            }
            _ => false,
        };
        // No text names a folder whose path is no text.
        let spellings = [folder, &*real_folder].map(Path::to_str);
        let names = |text: &str| {
            let path = Path::new(text);
            spellings
                .iter()
                .flatten()
                .any(|folder| text.contains(folder))
                || path.is_absolute() && leads_there(path)
        };
        let is_led_there = |written: &str, filled: &str| names(filled) && written != filled;
        let mut args = written.args.iter().zip(&filled.args);
        let mut env = filled.env.iter().map(|(name, value)| {
            let written = written.env.get(name);
            (written.map_or("", Secret::expose), value.expose())
        });
        if !is_elsewhere
            || is_led_there(&written.command, &filled.command)
            || args.any(|(written, filled)| is_led_there(written, filled))
            || env.any(|(written, filled)| is_led_there(written, filled))
        {
            self.fingerprint = self.fingerprint.in_folder(&real_folder);
        }
    }

    /// Returns the longest time for the start.
    #[must_use]
    pub fn patience(&self) -> Duration {
        self.start_timeout.unwrap_or(START_TIMEOUT)
    }
}

#[cfg(test)]
mod tests;
