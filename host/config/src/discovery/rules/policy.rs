//! Claude Code's policy: which servers may be used at all, by `allowedMcpServers` and
//! `deniedMcpServers` of its settings. See <https://code.claude.com/docs/en/managed-mcp>.

pub(in crate::discovery) mod pattern;
mod policy_variables;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use dormouse_launch::Launch;
use dormouse_text::visible::visible_path;

use pattern::{ConnectedUrl, UrlPattern};
use policy_variables::PolicyVariables;

use crate::Scope;
use crate::discovery::document::{DocumentMember, DocumentValue, Node};
use crate::discovery::entries::entry::ClientFileReader;
use crate::discovery::library::Document;
use crate::discovery::search::project_of;
use crate::discovery::{FoundServer, Surroundings};
use crate::problem::quoted;

const ALLOWED: &str = "allowedMcpServers";
const DENIED: &str = "deniedMcpServers";
/// Most entries of a list in a project's settings. Each is compared with each of its servers.
const MAX_RULES: usize = 1000;

const KINDS: &str = "an entry is a table with `serverName`, `serverCommand` or `serverUrl`";

/// Policy of all settings together.
#[derive(Default)]
pub(in crate::discovery) struct Policy {
    lists: Vec<PolicyLists>,
    /// The first file of administrators that cannot be read: it may deny anything.
    unread: Option<PathBuf>,
}

/// Lists in the settings of one file.
struct PolicyLists {
    scope: Scope,
    file: PathBuf,
    /// None where there is no list, which is something else than an empty one.
    allowed: Option<PolicyRules>,
    denied: PolicyRules,
    /// Whether only what administrators allow is allowed.
    managed_only: bool,
}

/// The entries of a list, each with its line. Each server is compared with all of them: a name and
/// a command are looked up.
#[derive(Default)]
struct PolicyRules {
    names: HashMap<String, usize>,
    commands: HashMap<Vec<String>, usize>,
    urls: Vec<(UrlPattern, usize)>,
    /// Whether there is an entry of which nobody finds out what it names.
    has_unknown: bool,
}

/// The part of a server that an entry names, its variables filled in.
enum NamedServerPart {
    Name(String),
    Command(Vec<String>),
    Url(UrlPattern),
}

/// A server as rules see it, its variables filled in.
enum Reached {
    Command(Vec<String>),
    /// A URL; none where the text is none.
    Url(Option<ConnectedUrl>),
}

impl Policy {
    /// Adds the lists of a file of settings. A wrong entry is reported, and the others count.
    pub(in crate::discovery) fn add(
        &mut self,
        scope: &Scope,
        around: &Surroundings,
        document: &Document,
        reader: &mut ClientFileReader<'_>,
    ) {
        let root = &document.root;
        let only = root.get("allowManagedMcpServersOnly");
        let is_understood = match scope {
            Scope::Managed => is_understood(document),
            Scope::User => {
                let allowed = root.get(ALLOWED).map(|allowed| &allowed.value);
                matches!(
                    allowed,
                    None | Some(DocumentValue::Null | DocumentValue::List(_))
                ) && has_understood_denials(root)
            }
            _ => true,
        };
        if !is_understood {
            self.unread.get_or_insert_with(|| document.file.clone());
        }
        let most = match project_of(scope) {
            Some(_) => MAX_RULES,
            None => usize::MAX,
        };
        let allowed = rules(root, ALLOWED, most, around, reader);
        let denied = rules(root, DENIED, most, around, reader).unwrap_or_default();
        if denied.has_unknown && matches!(scope, Scope::Managed | Scope::User) {
            self.unread.get_or_insert_with(|| document.file.clone());
        }
        self.lists.push(PolicyLists {
            scope: scope.clone(),
            file: document.file.clone(),
            allowed,
            denied,
            // What has another form than a client's says no less.
            managed_only: *scope == Scope::Managed && only.is_some_and(|only| !is_nothing(only)),
        });
    }

    /// Adds a file of settings that cannot be read.
    pub(in crate::discovery) fn add_unread(&mut self, scope: &Scope, file: &Path) {
        if *scope == Scope::Managed {
            self.unread.get_or_insert_with(|| file.to_owned());
        }
    }

    /// Adds the user's own file, where nobody finds out what it denies in which folder.
    pub(in crate::discovery) fn add_own(&mut self, document: &Document) {
        let projects = document.root.get("projects");
        let is_understood = projects
            .is_none_or(|node| is_nothing(node) || matches!(node.value, DocumentValue::Table(_)));
        if !is_understood {
            self.unread.get_or_insert_with(|| document.file.clone());
        }
    }

    /// Returns the reason why a server is denied, if it is, with the file that denies it.
    ///
    /// A server that is denied anywhere is denied. Where there is a list of allowed ones, all
    /// others are denied. The settings in a project do not apply to a user's own servers: they may
    /// be a stranger's.
    pub(in crate::discovery) fn denies(
        &self,
        found: &FoundServer,
        around: &Surroundings,
    ) -> Option<String> {
        if let Some(file) = &self.unread {
            let file = visible_path(file);
            return Some(format!("{file} cannot be read, and may deny it"));
        }
        let of_project = project_of(&found.server.origin.scope).is_some();
        let lists = self.lists.iter();
        let heard = lists.filter(|lists| of_project || project_of(&lists.scope).is_none());
        let heard: Vec<&PolicyLists> = heard.collect();
        let (name, reached) = (&found.written_name, Reached::of(found, around)?);
        for lists in &heard {
            if let Some(line) = lists.denied.line_of(name, &reached) {
                return Some(format!(
                    "`{DENIED}` of {}:{line} names it",
                    visible_path(&lists.file)
                ));
            }
        }
        let managed_only = heard.iter().any(|lists| lists.managed_only);
        let counts = |lists: &&&PolicyLists| {
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
            .map(|lists| visible_path(&lists.file))
            .collect();
        Some(format!(
            "`{ALLOWED}` of {} does not name it",
            files.join(", ")
        ))
    }
}

/// Whether the lists of a file are written as lists are. What is not may mean anything: where
/// administrators have written it, it may deny all.
fn is_understood(document: &Document) -> bool {
    let allowed = document.root.get(ALLOWED);
    matches!(document.root.value, DocumentValue::Table(_))
        && !document.text.trim().is_empty()
        && allowed.is_none_or(|node| matches!(node.value, DocumentValue::List(_)))
        && has_understood_denials(&document.root)
}

fn is_nothing(node: &Node) -> bool {
    matches!(node.value, DocumentValue::Null | DocumentValue::Bool(false))
}

/// Whether a text among denials is the name of a server. Other ones may be a pattern, a URL, a command
/// or several names.
fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty() && text.chars().all(is_part)
}

/// Whether the list of denied servers, if there is one, is written as such lists are.
fn has_understood_denials(root: &Node) -> bool {
    let is_table = |item: &Node| matches!(item.value, DocumentValue::Table(_));
    root.get(DENIED).is_none_or(|denied| match &denied.value {
        DocumentValue::List(denied) => denied.is_empty() || denied.iter().any(is_table),
        _ => false,
    })
}

impl Reached {
    fn of(found: &FoundServer, around: &Surroundings) -> Option<Self> {
        let variables = PolicyVariables::new(around);
        Some(match &found.server.bridge()?.written {
            Launch::Stdio(stdio) => {
                let words = std::iter::once(&stdio.command).chain(&stdio.args);
                Self::Command(words.map(|word| variables.fill(word)).collect())
            }
            Launch::Http(http) => Self::Url(ConnectedUrl::of(&variables.fill(&http.url))),
        })
    }
}

impl PolicyRules {
    fn add(&mut self, names: NamedServerPart, line: usize) {
        match names {
            NamedServerPart::Name(name) => {
                self.names.entry(name).or_insert(line);
            }
            NamedServerPart::Command(words) => {
                self.commands.entry(words).or_insert(line);
            }
            NamedServerPart::Url(pattern) => self.urls.push((pattern, line)),
        }
    }

    /// Returns the line of the first entry that names a server.
    fn line_of(&self, name: &str, reached: &Reached) -> Option<usize> {
        let by_name = self.names.get(name).copied();
        by_name
            .into_iter()
            .chain(self.line_of_reached(reached))
            .min()
    }

    /// Returns the line of the first entry that names a server by its launch.
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

    /// Whether there are entries that name servers by a launch of this kind.
    fn has_alike(&self, reached: &Reached) -> bool {
        match reached {
            Reached::Command(_) => !self.commands.is_empty(),
            Reached::Url(_) => !self.urls.is_empty(),
        }
    }
}

/// Reads the rules of a list; none where there is no such list.
fn rules(
    root: &Node,
    key: &str,
    most: usize,
    around: &Surroundings,
    reader: &mut ClientFileReader<'_>,
) -> Option<PolicyRules> {
    let node = root.get(key)?;
    if !matches!(node.value, DocumentValue::List(_)) {
        let message = format!("`{key}` has to be a list, and is {}", node.kind());
        reader.problem(node.at, message, Some(KINDS));
        return None;
    }
    if let Some(item) = node.items().get(most) {
        let message = format!("`{key}` has more than {most} entries");
        reader.problem(item.at, message, Some("those from here on are not read"));
    }
    let read = node.items().iter().take(most);
    let variables = PolicyVariables::new(around);
    let mut rules = PolicyRules::default();
    for (index, item) in read.enumerate() {
        let all = item.members().iter();
        let all: Vec<_> = all.filter_map(|member| names(member, &variables)).collect();
        let is_understood = all.len() == 1 && item.members().len() == 1;
        let keys = item.members().iter().filter(|member| names_servers(member));
        let is_unknown = all.is_empty() || all.len() < keys.count();
        rules.has_unknown |= is_unknown && !item.text().is_some_and(is_name);
        if !is_understood {
            let what = match all.is_empty() {
                true => "names no servers",
                false => "has more than one key",
            };
            let message = format!("{} {what}", quoted(&format!("{key}[{index}]")));
            reader.problem(item.at, message, Some(KINDS));
        }
        // Of a denial that is not understood, each part that is denies.
        if is_understood || key == DENIED {
            let line = reader.lines.line(item.at);
            // Whoever denies a text means a name.
            let text = item
                .text()
                .map(|name| NamedServerPart::Name(name.to_owned()));
            let all = all.into_iter().chain(text);
            all.for_each(|names| rules.add(names, line));
        }
    }
    Some(rules)
}

/// Whether a part of an entry is one that names servers.
fn names_servers(member: &DocumentMember) -> bool {
    matches!(
        member.key.as_str(),
        "serverName" | "serverUrl" | "serverCommand"
    )
}

/// Returns the servers that a part of an entry names; none where it is not understood.
fn names(member: &DocumentMember, variables: &PolicyVariables<'_>) -> Option<NamedServerPart> {
    match member.key.as_str() {
        "serverName" => Some(NamedServerPart::Name(member.node.text()?.to_owned())),
        "serverUrl" => {
            let pattern = variables.fill(member.node.text()?);
            Some(NamedServerPart::Url(UrlPattern::of(&pattern)))
        }
        "serverCommand" => {
            let words = member.node.items().iter();
            let words: Option<Vec<_>> = words
                .map(|word| Some(variables.fill(word.text()?)))
                .collect();
            words
                .filter(|words| !words.is_empty())
                .map(NamedServerPart::Command)
        }
        _ => None,
    }
}
