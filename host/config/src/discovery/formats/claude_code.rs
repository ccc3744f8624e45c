//! Claude Code: `mcpServers`; `timeout` is for a call, in milliseconds. Its settings
//! say which servers of a project's `.mcp.json` are on, and which tools are denied.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::Scope;
use crate::discovery::document::{DocumentValue, Node};
use crate::discovery::entries::dialect::{COMMON, EntryDialect, EntryOutcome};
use crate::discovery::entries::entry::{ServerEntry, Unit};
use crate::discovery::entries::oauth;
use crate::discovery::entries::oauth::OAuthKey;
use crate::discovery::filling::expansion;
use crate::discovery::rules::rule_files::in_folder;
use crate::discovery::{Surroundings, places};
use crate::naming::name::plain;

use super::server_list::ServerList;
use super::tool_names;

pub(super) const DIALECT: EntryDialect = EntryDialect {
    call_timeout: Some(("timeout", Unit::Milliseconds)),
    expansion: expansion::CLAUDE,
    oauth: OAUTH,
    ..COMMON
};

/// The only redirect URI that Claude Code comes back to.
pub(super) const CALLBACK: OAuthKey = OAuthKey::CallbackPort("http://localhost:PORT/callback");

/// The client's secret is in the keychain, where only Claude Code finds it.
const OAUTH: oauth::OAuthDialect = oauth::OAuthDialect {
    table: "oauth",
    keys: &[
        ("oauth.clientId", OAuthKey::ClientId),
        ("oauth.callbackPort", CALLBACK),
        ("oauth.authServerMetadataUrl", OAuthKey::MetadataUrl),
        ("oauth.scopes", OAuthKey::Scopes),
    ],
};

/// Returns the files of its settings: those of administrators, the user's, the project's.
pub(crate) fn settings(around: &Surroundings) -> Vec<(Scope, PathBuf)> {
    let managed = places::claude_code_managed(around);
    let mut files = vec![(Scope::Managed, managed.join("managed-settings.json"))];
    // Administrators may drop in more files beside that one.
    let more = in_folder(&managed.join("managed-settings.d"), "json").into_iter();
    files.extend(more.map(|file| (Scope::Managed, file)));
    let moved = around.path("CLAUDE_CONFIG_DIR");
    let folder = moved.unwrap_or_else(|| around.home.join(".claude"));
    files.push((Scope::User, folder.join("settings.json")));
    if let Some(project) = &around.project {
        let of_project = Scope::Project(project.clone());
        files.extend(
            ["settings.json", "settings.local.json"]
                .map(|file| (of_project.clone(), project.join(".claude").join(file))),
        );
    }
    files
}

pub(super) fn read(entry: &mut ServerEntry<'_, '_>) -> EntryOutcome {
    let mut outcome = DIALECT.read(entry);
    if let EntryOutcome::Server(draft) = &mut outcome
        && entry.has("headersHelper")
    {
        draft.notes.push(
            "the headers that its `headersHelper` makes are not sent: only Claude Code runs it"
                .to_owned(),
        );
    }
    outcome
}

/// Tools that settings deny.
pub(in crate::discovery) struct DeniedTools<'n> {
    /// Tools by the names that the rules have for servers.
    of_names: HashMap<&'n str, Vec<&'n str>>,
    /// Rules with a `*`, which may stand for a part of a server's name.
    patterns: Vec<&'n str>,
    /// Whether there are settings of which nobody finds out what they deny.
    is_unknown: bool,
}

/// Beginning of the names that Claude Code has for tools of servers.
const OPEN: &str = "mcp__";

/// Most places at which the name of a server may end in a rule.
const MAX_SPLITS: usize = 64;

impl<'n> DeniedTools<'n> {
    /// Reads the rules `mcp__SERVER__TOOL` and `mcp__SERVER` in settings.
    pub(in crate::discovery) fn of(settings: &[&'n Node]) -> Self {
        let mut all: HashMap<&str, Vec<&str>> = HashMap::new();
        let mut patterns = Vec::new();
        let lists: Option<Vec<_>> = settings.iter().map(|node| denials(node)).collect();
        let is_unknown = lists.is_none();
        for rule in lists.into_iter().flatten().flatten() {
            // What is said of a tool's arguments is not compared with them: the tool is denied.
            let rule = rule.split_once('(').map_or(rule, |(tool, _)| tool.trim());
            let head = rule.split_once('*').map(|(head, _)| head);
            if head.is_some_and(|head| head.starts_with(OPEN) || OPEN.starts_with(head)) {
                patterns.push(rule);
            }
            let Some(rule) = rule.strip_prefix(OPEN) else {
                continue;
            };
            all.entry(rule).or_default().push("*");
            // A name may have two underscores in it, too, or one at its end.
            let between = |pair: &(usize, &[u8])| pair.1 == b"__";
            let splits = rule.as_bytes().windows(2).enumerate().filter(between);
            for (at, between) in splits.take(MAX_SPLITS) {
                let tool = rule.get(at + between.len()..).unwrap_or_default();
                let server = rule.get(..at).unwrap_or_default();
                all.entry(server).or_default().push(tool);
            }
        }
        Self {
            of_names: all,
            patterns,
            is_unknown,
        }
    }

    /// Returns the names and patterns of the tools that are denied of a server; `*` where that is
    /// all of it.
    pub(in crate::discovery) fn of_server(&self, server: &str) -> Vec<String> {
        let named = self.of_names.get(&*plain(server)).map(Vec::as_slice);
        let named = named.unwrap_or_default();
        if self.is_unknown || self.patterns.len().max(named.len()) > tool_names::MAX_NAMES {
            return tool_names::all();
        }
        let named = named.iter().filter(|tool| !tool.is_empty());
        let open = tool_names::open(OPEN, server, "__");
        let patterns = self.patterns.iter();
        let patterns = patterns.flat_map(|pattern| tool_names::denied(pattern, &open));
        let all = named.map(|tool| (*tool).to_owned()).chain(patterns);
        let mut known = HashSet::new();
        all.filter(|tool| known.insert(tool.clone())).collect()
    }
}

/// Returns what settings deny; none where nobody finds that out.
fn denials(settings: &Node) -> Option<Vec<&str>> {
    let permissions = settings.get("permissions");
    if settings.is_no_table() || permissions.is_some_and(Node::is_no_table) {
        return None;
    }
    match permissions.and_then(|permissions| permissions.get("deny")) {
        Some(list) => tool_names::denials_of(list),
        None => Some(Vec::new()),
    }
}

/// Returns the part of the user's own file that is about a project.
pub(in crate::discovery) fn of_project<'n>(root: &'n Node, project: &Path) -> Option<&'n Node> {
    root.get("projects")?.get(project.to_str()?)
}

/// Counts the folders in which the user's own file switches off each server.
pub(in crate::discovery) fn folders_off<'n>(roots: &[&'n Node]) -> HashMap<&'n str, usize> {
    let mut folders = HashMap::new();
    let projects = roots.iter().filter_map(|root| root.get("projects"));
    for project in projects.flat_map(Node::members) {
        let list = project.node.get("disabledMcpServers");
        let names = list.and_then(tool_names::denials_of).unwrap_or_default();
        for name in names.into_iter().collect::<HashSet<_>>() {
            *folders.entry(name).or_default() += 1;
        }
    }
    folders
}

/// Returns the reason why any server is off in a project, if it is, by the part of the user's own
/// file on that project.
pub(in crate::discovery) fn off_here(project: &[&Node], server: &str) -> Option<&'static str> {
    let mut lists = project
        .iter()
        .filter_map(|node| ServerList::at(node, "disabledMcpServers"));
    lists
        .any(|list| list.may_name(server))
        .then_some("`disabledMcpServers` names it")
}

/// Returns the reason why a server of a project's `.mcp.json` is off, if it is: what any of the
/// documents turns off is off; where some of them name servers that are on, and none turns on all,
/// the others are off.
pub(in crate::discovery) fn off(documents: &[&Node], server: &str) -> Option<&'static str> {
    let lists = |key: &str| -> Vec<_> {
        let lists = documents.iter();
        lists.filter_map(|node| ServerList::at(node, key)).collect()
    };
    let disabled = lists("disabledMcpjsonServers");
    if disabled.iter().any(|list| list.may_name(server)) {
        return Some("`disabledMcpjsonServers` names it");
    }
    let all = documents.iter().any(|node| {
        let all = node.get("enableAllProjectMcpServers");
        all.is_some_and(|all| all.value == DocumentValue::Bool(true))
    });
    let enabled = lists("enabledMcpjsonServers");
    let is_list = enabled.iter().any(|list| !list.is_empty());
    let is_named = enabled.iter().any(|list| list.names(server));
    (is_list && !all && !is_named).then_some("`enabledMcpjsonServers` does not name it")
}
