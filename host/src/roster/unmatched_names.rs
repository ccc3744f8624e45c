//! Names and patterns of the configuration that match nothing that is known: most often somebody has
//! mistyped them, and what they were to deny is not denied.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::slice::from_ref;

use dormouse_config::file::place_of_key;
use dormouse_config::name::SEPARATOR;
use dormouse_config::{Configured, ServerConfig};
use dormouse_policy::exposure::NamedTool;
use dormouse_text::nearest::nearest;
use dormouse_text::wildcard::matches;

use super::all_tool_names::AllToolNames;
use super::{Roster, Server, Snapshot, names, requested_settings};

/// Name or pattern that matches nothing that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnmatchedName {
    /// Table that has it, such as `exposure` or `profiles.work`.
    pub table: String,
    /// Key in that table.
    key: &'static str,
    name: String,
    /// Sentence on what there is none of.
    why: &'static str,
    /// Name that was probably meant.
    near: Option<String>,
}

impl fmt::Display for UnmatchedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            table,
            key,
            name,
            why,
            near,
        } = self;
        let place = place_of_key(name).filter(|_| *key == "settings");
        let name = name.escape_debug();
        write!(f, "`{key}` of `[{table}]` has `{name}`, and {why}\nhint: ")?;
        match (near, place) {
            (Some(near), _) => write!(f, "did you mean `{near}`?"),
            (None, Some(place)) => write!(f, "write it into {place}"),
            (None, None) => {
                f.write_str("correct it, or remove it; what is not known yet may still come")
            }
        }
    }
}

/// Sentence on a name of a server.
const NO_SERVER: &str = "no server is called so";

/// Sentence on a pattern of tools.
const NO_TOOL: &str = "no tool that is known is called so";

/// Sentence on a setting of a plugin.
const NO_SETTING: &str = "its plugin asks for no such setting";

/// Effect of a pattern on the tools that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PatternEffect {
    /// It allows or lists them.
    Allows,
    /// It denies them.
    Denies,
}

impl PatternEffect {
    /// Whether a pattern of this effect names a tool.
    fn is_on(self, pattern: &String, tool: NamedTool<'_>) -> bool {
        match self {
            Self::Allows => tool.is_allowed_by(from_ref(pattern)),
            Self::Denies => tool.is_denied_by(from_ref(pattern)),
        }
    }
}

/// Sentence on a setting where no plugin could ask for it.
const NO_PLUGIN: &str = "it has no plugin that could ask for settings";

/// Servers and their tools, as far as they are known.
struct KnownServers<'s> {
    /// All servers, by their names.
    servers: BTreeMap<&'s str, &'s ServerConfig>,
    /// Tools by their own names, of those servers whose tools are known.
    tools: BTreeMap<&'s str, BTreeSet<&'s str>>,
}

impl<'s> KnownServers<'s> {
    fn of(config: &'s Configured, snapshot: &'s Snapshot) -> Self {
        let servers = config.servers.iter();
        let tools = snapshot.servers().iter();
        let tools = tools.filter_map(|(name, server)| Some((name.as_str(), known_tools(server)?)));
        Self {
            servers: servers
                .map(|(name, server)| (name.as_str(), server))
                .collect(),
            tools: tools.collect(),
        }
    }

    /// Whether a pattern names a tool, or may name one of a server whose tools are not known.
    fn has_tool(&self, pattern: &String, effect: PatternEffect) -> bool {
        self.servers.iter().any(|(&name, &server)| {
            let Some(tools) = self.tools.get(name) else {
                let mut prefixes = [&server.prefix, &server.ignored_prefix].into_iter();
                return prefixes.any(|prefix| {
                    let prefix = prefix.as_deref();
                    // Shown without a prefix, a tool may have any name, by which nothing is allowed.
                    let has_any_name = effect == PatternEffect::Denies && prefix == Some("");
                    has_any_name || may_name_tool_of(pattern, name, prefix)
                });
            };
            tools.iter().any(|tool| {
                let names = AllToolNames::of(server, tool, from_ref(pattern));
                effect.is_on(pattern, names.named())
            })
        })
    }

    /// Returns the pattern of tools that was probably meant.
    fn near_tool(&self, pattern: &str) -> Option<String> {
        let servers = || self.servers.keys().copied();
        let Some((server, tool)) = pattern.split_once(SEPARATOR) else {
            if let Some(own) = self.own_name_of(pattern) {
                return Some(own);
            }
            return nearest(pattern, servers()).map(str::to_owned);
        };
        if !self.servers.contains_key(server) {
            let near = nearest(server, servers())?;
            return Some(format!("{near}{SEPARATOR}{tool}"));
        }
        let tools = self.tools.get(server)?.iter().copied();
        let near = nearest(tool, tools)?;
        Some(format!("{server}{SEPARATOR}{near}"))
    }

    /// Returns the whole name of a tool that agents are shown by this name, which is without its server's.
    fn own_name_of(&self, shown: &str) -> Option<String> {
        self.tools.iter().find_map(|(&name, tools)| {
            let prefix = self.servers.get(name)?.prefix.as_deref();
            let mut tools = tools.iter();
            let tool = tools.find(|tool| names::shown(name, prefix, tool) == shown)?;
            Some(format!("{name}{SEPARATOR}{tool}"))
        })
    }

    /// Returns the patterns of a list that name no tool.
    fn unmatched_tools<'p>(
        &self,
        (table, key): (&str, &'static str),
        patterns: impl IntoIterator<Item = &'p String>,
        effect: PatternEffect,
    ) -> Vec<UnmatchedName> {
        let patterns = patterns.into_iter();
        let unmatched = patterns.filter(|pattern| !self.has_tool(pattern, effect));
        let unmatched = unmatched.map(|pattern| UnmatchedName {
            table: table.to_owned(),
            key,
            name: pattern.clone(),
            why: NO_TOOL,
            near: self.near_tool(pattern),
        });
        unmatched.collect()
    }
}

/// Whether a pattern may name a tool of a server whose tools are not known.
fn may_name_tool_of(pattern: &str, server: &str, prefix: Option<&str>) -> bool {
    match pattern.split_once(SEPARATOR) {
        Some((of_server, _)) => {
            matches(of_server, server) || prefix.is_some_and(|prefix| matches(of_server, prefix))
        }
        None => pattern.contains('*') || pattern == server,
    }
}

/// Returns the tools of a server by its own names for them, shown or not; none where they are not known.
fn known_tools(server: &Server) -> Option<BTreeSet<&str>> {
    let config = server.config();
    // A list of names in the configuration may be short of some.
    let is_asked = config.component().is_some() || server.known().is_some();
    if !is_asked || server.listed().is_none() {
        return None;
    }
    // What a component calls there is named by users, too.
    let is_of_unknown =
        config.component().is_some() && config.bridge().is_some() && server.known().is_none();
    if is_of_unknown {
        return None;
    }
    let waiting = server.known().into_iter();
    let waiting = waiting.flat_map(|known| known.pending.tools());
    let gone = server.known().into_iter().flat_map(|known| &known.gone);
    let gone = gone.map(|(_, name)| name.as_str());
    let odd = server.odd().iter().map(|odd| odd.name.as_str());
    Some(
        server
            .known_tools()
            .chain(waiting)
            .chain(gone)
            .chain(odd)
            .collect(),
    )
}

impl Roster {
    /// Returns the names and patterns of the user's configuration that match nothing that is known. One
    /// that may name a tool of a server whose tools are not known is none of them.
    pub fn unmatched_names(&self) -> Vec<UnmatchedName> {
        let (config, snapshot) = (self.config(), self.snapshot());
        let known = KnownServers::of(&config, &snapshot);
        let of_exposure = |key, patterns| {
            known.unmatched_tools(("exposure", key), patterns, PatternEffect::Allows)
        };
        let rules = &config.exposure;
        let denied = &rules.deny;
        let mut all = known.unmatched_tools(("exposure", "deny"), denied, PatternEffect::Denies);
        all.extend(of_exposure(
            "allow",
            rules.allow.iter().flatten().collect::<Vec<_>>(),
        ));
        all.extend(of_exposure("pinned", rules.pinned.iter().collect()));
        for name in config.profiles.keys() {
            all.extend(unmatched_in_profile(name, &config, &known));
        }
        for server in snapshot.servers().values() {
            all.extend(unmatched_in_server(server));
        }
        all
    }

    /// Returns warnings about the profiles that are served: what in each of them matches nothing, and
    /// which of them has no server.
    pub fn doubtful_profiles(&self) -> Vec<String> {
        let (config, snapshot) = (self.config(), self.snapshot());
        let known = KnownServers::of(&config, &snapshot);
        let mut doubts = Vec::new();
        for (name, rules) in snapshot.profiles() {
            let is_empty = !config.servers.keys().any(|server| rules.has_server(server));
            if is_empty {
                doubts.push(format!(
                    "profile `{name}` serves nothing: no server that there is, is in it"
                ));
            }
            let unmatched = unmatched_in_profile(name, &config, &known);
            doubts.extend(unmatched.iter().map(ToString::to_string));
        }
        doubts
    }
}

/// Returns what of a profile matches nothing that is known.
fn unmatched_in_profile(
    name: &str,
    config: &Configured,
    known: &KnownServers<'_>,
) -> Vec<UnmatchedName> {
    let Some(profile) = config.profiles.get(name) else {
        return Vec::new();
    };
    let table = format!("profiles.{name}");
    let servers = profile.servers.iter().flatten();
    let unmatched =
        servers.filter(|pattern| !known.servers.keys().any(|server| matches(pattern, server)));
    let unmatched = unmatched.map(|pattern| UnmatchedName {
        table: table.clone(),
        key: "servers",
        name: pattern.clone(),
        why: NO_SERVER,
        near: nearest(pattern, known.servers.keys().copied()).map(str::to_owned),
    });
    let tools = profile.tools.iter().flatten();
    let tools = known.unmatched_tools((&table, "tools"), tools, PatternEffect::Allows);
    unmatched.chain(tools).collect()
}

/// Returns what in the user's own table of a server is about none of its tools and settings.
fn unmatched_in_server(server: &Server) -> Vec<UnmatchedName> {
    let config = server.config();
    let mut all = Vec::new();
    let mut unmatched = |key, name: &String, why, near: Option<&str>| {
        all.push(UnmatchedName {
            table: format!("servers.{}", config.name),
            key,
            name: name.clone(),
            why,
            near: near.map(str::to_owned),
        });
    };
    if let Some(tools) = known_tools(server) {
        let is_known = |pattern: &str| tools.iter().any(|tool| matches(pattern, tool));
        let changes = config.bridge().map(|bridge| &bridge.changes.tools);
        let changes = changes.into_iter().flat_map(BTreeMap::keys);
        let hints = config.hints.0.keys().map(|name| ("annotations", name));
        let named = hints.chain(changes.map(|name| ("tools_on_change", name)));
        for (key, name) in named.filter(|(_, name)| !is_known(name)) {
            unmatched(key, name, NO_TOOL, nearest(name, tools.iter().copied()));
        }
    }
    // A user's table gives a project's server no settings: these are of the project's file.
    let (grants, why) = match config.component() {
        Some(_) => (server.listed().map(|listing| &*listing.grants), NO_SETTING),
        None => (Some(&[][..]), NO_PLUGIN),
    };
    if let Some(grants) = grants.filter(|_| !config.is_of_project()) {
        let asked = || requested_settings(grants).map(|setting| setting.name.as_str());
        let others = config.settings.keys();
        for name in others.filter(|name| !asked().any(|asked| asked == *name)) {
            unmatched("settings", name, why, nearest(name, asked()));
        }
    }
    all
}

#[cfg(test)]
mod tests;
