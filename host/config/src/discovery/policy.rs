//! Claude Code's policy: which servers may be used at all, by `allowedMcpServers` and
//! `deniedMcpServers` of its settings. See <https://code.claude.com/docs/en/managed-mcp>.

pub(super) mod pattern;

use std::collections::HashMap;
use std::path::PathBuf;

use dormouse_launch::Launch;

use pattern::{ConnectedUrl, UrlPattern};

use super::document::{Node, Value};
use super::entry::Reader;
use super::library::Document;
use super::search::project_of;
use super::{Found, Surroundings};
use crate::problem::quoted;
use crate::{Scope, variables};

const ALLOWED: &str = "allowedMcpServers";
const DENIED: &str = "deniedMcpServers";
/// Most entries of a list in a project's settings. Each is held against each of its servers.
const MAX_RULES: usize = 1000;

const KINDS: &str = "an entry is a table with `serverName`, `serverCommand` or `serverUrl`";

/// What all settings together say.
#[derive(Default)]
pub(super) struct Policy {
    lists: Vec<Lists>,
}

/// What the settings of one file say.
struct Lists {
    scope: Scope,
    file: PathBuf,
    /// None where nothing is said, which is something else than an empty list.
    allowed: Option<Rules>,
    denied: Rules,
    /// Whether only what administrators allow is allowed.
    managed_only: bool,
}

/// The entries of a list, each with its line. Each server is held against all of them: a name and
/// a command are looked up.
#[derive(Default)]
struct Rules {
    names: HashMap<String, usize>,
    commands: HashMap<Vec<String>, usize>,
    urls: Vec<(UrlPattern, usize)>,
}

/// The part of a server that an entry names, its variables filled in.
enum Names {
    Name(String),
    Command(Vec<String>),
    Url(UrlPattern),
}

/// A server as rules see it, its variables filled in.
enum Reached {
    Command(Vec<String>),
    /// None where it is no URL.
    Url(Option<ConnectedUrl>),
}

impl Policy {
    /// Adds what a file of settings says. An entry that is none is told of, and the
    /// others count.
    pub(super) fn add(
        &mut self,
        (scope, around): (&Scope, &Surroundings),
        document: &Document,
        reader: &mut Reader<'_>,
    ) {
        let root = &document.root;
        let only = root.get("allowManagedMcpServersOnly");
        let most = match project_of(scope) {
            Some(_) => MAX_RULES,
            None => usize::MAX,
        };
        self.lists.push(Lists {
            scope: scope.clone(),
            file: document.file.clone(),
            allowed: rules((root, ALLOWED, most), around, reader),
            denied: rules((root, DENIED, most), around, reader).unwrap_or_default(),
            managed_only: *scope == Scope::Managed
                && only.is_some_and(|only| only.value == Value::Bool(true)),
        });
    }

    /// Why a server is denied, if it is, with the file that says so.
    ///
    /// What is denied anywhere is denied. Where there is a list of what is allowed,
    /// everything else is not. The settings in a project say nothing of a user's own
    /// servers: they may be a stranger's.
    pub(super) fn denies(&self, found: &Found, around: &Surroundings) -> Option<String> {
        let of_project = project_of(&found.server.origin.scope).is_some();
        let lists = self.lists.iter();
        let heard = lists.filter(|lists| of_project || project_of(&lists.scope).is_none());
        let heard: Vec<&Lists> = heard.collect();
        let (name, reached) = (&found.written_name, Reached::of(found, around)?);
        for lists in &heard {
            if let Some(line) = lists.denied.line_of(name, &reached) {
                return Some(format!(
                    "`{DENIED}` of {}:{line} names it",
                    lists.file.display()
                ));
            }
        }
        let managed_only = heard.iter().any(|lists| lists.managed_only);
        let counts = |lists: &&&Lists| {
            lists.allowed.is_some() && (!managed_only || lists.scope == Scope::Managed)
        };
        let allowing: Vec<_> = heard.iter().filter(counts).collect();
        let rules = || allowing.iter().filter_map(|lists| lists.allowed.as_ref());
        // A name is whatever somebody calls a server: where commands are listed, a
        // program has to be one of them, and a URL likewise.
        let is_allowed = match rules().any(|rules| rules.has_alike(&reached)) {
            true => rules().any(|rules| rules.line_of_reached(&reached).is_some()),
            false => rules().any(|rules| rules.names.contains_key(name)),
        };
        if allowing.is_empty() || is_allowed {
            return None;
        }
        let files: Vec<_> = allowing
            .iter()
            .map(|lists| lists.file.display().to_string())
            .collect();
        Some(format!(
            "`{ALLOWED}` of {} does not name it",
            files.join(", ")
        ))
    }
}

impl Reached {
    fn of(found: &Found, around: &Surroundings) -> Option<Self> {
        Some(match &found.server.bridge()?.written {
            Launch::Stdio(stdio) => {
                let words = std::iter::once(&stdio.command).chain(&stdio.args);
                Self::Command(words.map(|word| filled(word, around)).collect())
            }
            Launch::Http(http) => Self::Url(ConnectedUrl::of(&filled(&http.url, around))),
        })
    }
}

impl Rules {
    fn add(&mut self, names: Names, line: usize) {
        match names {
            Names::Name(name) => {
                self.names.entry(name).or_insert(line);
            }
            Names::Command(words) => {
                self.commands.entry(words).or_insert(line);
            }
            Names::Url(pattern) => self.urls.push((pattern, line)),
        }
    }

    /// The line of the first entry that names a server.
    fn line_of(&self, name: &str, reached: &Reached) -> Option<usize> {
        let by_name = self.names.get(name).copied();
        by_name
            .into_iter()
            .chain(self.line_of_reached(reached))
            .min()
    }

    /// The line of the first entry that names a server by how it is reached.
    fn line_of_reached(&self, reached: &Reached) -> Option<usize> {
        match reached {
            Reached::Command(words) => self.commands.get(words).copied(),
            Reached::Url(url) => {
                let url = url.as_ref()?;
                let found = self.urls.iter().find(|(pattern, _)| pattern.is_like(url));
                found.map(|(_, line)| *line)
            }
        }
    }

    /// Whether there are entries that name servers by how they are reached, and those of this
    /// kind.
    fn has_alike(&self, reached: &Reached) -> bool {
        match reached {
            Reached::Command(_) => !self.commands.is_empty(),
            Reached::Url(_) => !self.urls.is_empty(),
        }
    }
}

/// A text of a rule or of a server with its variables, as Claude Code fills them in.
fn filled(text: &str, around: &Surroundings) -> String {
    variables::expand(text, &|name| around.value(name).map(str::to_owned)).text
}

/// The rules of a list; none where there is no such list.
fn rules(
    (root, key, most): (&Node, &str, usize),
    around: &Surroundings,
    reader: &mut Reader<'_>,
) -> Option<Rules> {
    let node = root.get(key)?;
    if !matches!(node.value, Value::List(_)) {
        let message = format!("`{key}` has to be a list, and is {}", node.kind());
        reader.problem(node.at, message, Some(KINDS));
        return None;
    }
    if let Some(item) = node.items().get(most) {
        let message = format!("`{key}` has more than {most} entries");
        reader.problem(item.at, message, Some("those from here on are not read"));
    }
    let read = node.items().iter().take(most);
    let mut rules = Rules::default();
    for (index, item) in read.enumerate() {
        match names(item, around) {
            Some(names) => rules.add(names, reader.lines.line(item.at)),
            None => {
                let message = format!("{} names no servers", quoted(&format!("{key}[{index}]")));
                reader.problem(item.at, message, Some(KINDS));
            }
        }
    }
    Some(rules)
}

fn names(item: &Node, around: &Surroundings) -> Option<Names> {
    let [member] = item.members() else {
        return None;
    };
    match member.key.as_str() {
        "serverName" => Some(Names::Name(member.node.text()?.to_owned())),
        "serverUrl" => {
            let pattern = filled(member.node.text()?, around);
            Some(Names::Url(UrlPattern::of(&pattern)))
        }
        "serverCommand" => {
            let words = member.node.items().iter();
            let words: Option<Vec<_>> = words
                .map(|word| Some(filled(word.text()?, around)))
                .collect();
            words.filter(|words| !words.is_empty()).map(Names::Command)
        }
        _ => None,
    }
}
