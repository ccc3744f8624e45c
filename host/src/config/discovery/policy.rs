//! Claude Code's policy: which servers may be used at all, by `allowedMcpServers` and
//! `deniedMcpServers` of its settings. See <https://code.claude.com/docs/en/managed-mcp>.

pub(super) mod pattern;

use std::path::PathBuf;

use pattern::{ConnectedUrl, UrlPattern};

use super::document::{Node, Value};
use super::entry::Reader;
use super::library::Document;
use super::search::project_of;
use super::{Found, Surroundings};
use crate::config::problem::quoted;
use crate::config::{Scope, variables};
use crate::upstream::Launch;

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
    allowed: Option<Vec<Rule>>,
    denied: Vec<Rule>,
    /// Whether only what administrators allow is allowed.
    managed_only: bool,
}

/// One entry of a list.
struct Rule {
    names: Names,
    line: usize,
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
            let mut rules = lists.denied.iter();
            if let Some(rule) = rules.find(|rule| rule.is_of(name, &reached)) {
                return Some(format!(
                    "`{DENIED}` of {}:{} names it",
                    lists.file.display(),
                    rule.line
                ));
            }
        }
        let managed_only = heard.iter().any(|lists| lists.managed_only);
        let counts = |lists: &&&Lists| {
            lists.allowed.is_some() && (!managed_only || lists.scope == Scope::Managed)
        };
        let allowing: Vec<_> = heard.iter().filter(counts).collect();
        let rules: Vec<_> = allowing
            .iter()
            .flat_map(|lists| lists.allowed.iter().flatten())
            .collect();
        // A name is whatever somebody calls a server: where commands are listed, a
        // program has to be one of them, and a URL likewise.
        let strict = rules.iter().any(|rule| rule.is_alike(&reached));
        let mut counting = rules
            .iter()
            .filter(|rule| !strict || rule.is_alike(&reached));
        if allowing.is_empty() || counting.any(|rule| rule.is_of(name, &reached)) {
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

impl Rule {
    fn is_of(&self, name: &str, reached: &Reached) -> bool {
        match (&self.names, reached) {
            (Names::Name(named), _) => named == name,
            (Names::Command(named), Reached::Command(words)) => named == words,
            (Names::Url(pattern), Reached::Url(Some(url))) => pattern.is_like(url),
            _ => false,
        }
    }

    /// Whether it names servers by how they are reached, and those of this kind.
    fn is_alike(&self, reached: &Reached) -> bool {
        matches!(
            (&self.names, reached),
            (Names::Command(_), Reached::Command(_)) | (Names::Url(_), Reached::Url(_))
        )
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
) -> Option<Vec<Rule>> {
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
    let rules = read.enumerate().filter_map(|(index, item)| {
        let Some(names) = names(item, around) else {
            let message = format!("{} names no servers", quoted(&format!("{key}[{index}]")));
            reader.problem(item.at, message, Some(KINDS));
            return None;
        };
        let line = reader.lines.line(item.at);
        Some(Rule { names, line })
    });
    Some(rules.collect())
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
