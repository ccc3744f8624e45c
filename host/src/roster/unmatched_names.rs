//! Names and patterns of the configuration that match nothing that is known: most often somebody has
//! mistyped them, and what they were to deny is not denied.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::slice::from_ref;

use dormouse_config::name::SEPARATOR;
use dormouse_config::{Configured, ServerConfig};
use dormouse_policy::exposure::NamedTool;
use dormouse_text::nearest::nearest;
use dormouse_text::wildcard::matches;

use super::all_tool_names::AllToolNames;
use super::{Roster, Server, Snapshot, requested_settings};

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
        let name = name.escape_debug();
        write!(f, "`{key}` of `[{table}]` has `{name}`, and {why}\nhint: ")?;
        match near {
            Some(near) => write!(f, "did you mean `{near}`?"),
            None => f.write_str("correct it, or remove it; what is not known yet may still come"),
        }
    }
}

/// Sentence on a name of a server.
const NO_SERVER: &str = "no server is called so";

/// Sentence on a pattern of tools.
const NO_TOOL: &str = "no tool that is known is called so";

/// Sentence on a setting of a plugin.
const NO_SETTING: &str = "its plugin asks for no such setting";

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
    fn has_tool(&self, pattern: &String, is_named: impl Fn(NamedTool<'_>) -> bool) -> bool {
        self.servers.iter().any(|(&name, &server)| {
            let Some(tools) = self.tools.get(name) else {
                let mut prefixes = [&server.prefix, &server.ignored_prefix].into_iter();
                return prefixes.any(|prefix| may_name_tool_of(pattern, name, prefix.as_deref()));
            };
            tools.iter().any(|tool| {
                let names = AllToolNames::of(server, tool, from_ref(pattern));
                is_named(names.named())
            })
        })
    }

    /// Returns the pattern of tools that was probably meant.
    fn near_tool(&self, pattern: &str) -> Option<String> {
        let servers = || self.servers.keys().copied();
        let Some((server, tool)) = pattern.split_once(SEPARATOR) else {
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

    /// Returns the patterns of a list that name no tool.
    fn unmatched_tools<'p>(
        &self,
        (table, key): (&str, &'static str),
        patterns: impl IntoIterator<Item = &'p String>,
        is_named: impl Fn(&'p String, NamedTool<'_>) -> bool,
    ) -> Vec<UnmatchedName> {
        let patterns = patterns.into_iter();
        let unmatched =
            patterns.filter(|pattern| !self.has_tool(pattern, |tool| is_named(pattern, tool)));
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
        // Shown without a prefix, a tool may have any name.
        _ if prefix == Some("") => true,
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
    let gone = server.known().into_iter().flat_map(|known| &known.gone);
    let gone = gone.map(|(_, name)| name.as_str());
    let odd = server.odd().iter().map(|odd| odd.name.as_str());
    Some(server.known_tools().chain(gone).chain(odd).collect())
}

impl Roster {
    /// Returns the names and patterns of the user's configuration that match nothing that is known. One
    /// that may name a tool of a server whose tools are not known is none of them.
    pub fn unmatched_names(&self) -> Vec<UnmatchedName> {
        let (config, snapshot) = (self.config(), self.snapshot());
        let known = KnownServers::of(&config, &snapshot);
        let of_exposure =
            |key, patterns| known.unmatched_tools(("exposure", key), patterns, allows);
        let rules = &config.exposure;
        let mut all = known.unmatched_tools(("exposure", "deny"), &rules.deny, denies);
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

fn allows(pattern: &String, tool: NamedTool<'_>) -> bool {
    tool.is_allowed_by(from_ref(pattern))
}

fn denies(pattern: &String, tool: NamedTool<'_>) -> bool {
    tool.is_denied_by(from_ref(pattern))
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
    let tools = known.unmatched_tools((&table, "tools"), tools, allows);
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
    let listing = server.listed().filter(|_| !config.is_of_project());
    if let (Some(listing), Some(_)) = (listing, config.component()) {
        let asked = || requested_settings(&listing.grants).map(|setting| setting.name.as_str());
        let others = config.settings.keys();
        for name in others.filter(|name| !asked().any(|asked| asked == *name)) {
            unmatched("settings", name, NO_SETTING, nearest(name, asked()));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roster::tests::{ADD, Home, TRAP, component};

    /// Returns what is said of a configuration with the plugin `time`, which has the tools `add` and
    /// `trap`, and with `web`, of which nothing is known.
    fn told(more: &str) -> Vec<String> {
        let home = Home::new();
        home.write("a.wasm", &component(&[ADD, TRAP]));
        let text = format!(
            "{more}\n[servers.time]\ncomponent = 'a.wasm'\n\
             [servers.web]\nurl = 'http://127.0.0.1:9/mcp'\n[servers.web.annotations]\nx = {{}}\n"
        );
        home.write("dormouse.toml", text.as_bytes());
        let roster = home.open();
        let told = roster.unmatched_names();
        told.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_matches_nothing_is_said_with_what_was_meant() {
        for (more, begin, hint) in [
            (
                "exposure.deny = ['nosuch__x']",
                "`deny` of `[exposure]` has `nosuch__x`, and no tool",
                "correct it",
            ),
            (
                "exposure.deny = ['time__trp']",
                "`deny` of `[exposure]` has `time__trp`",
                "did you mean `time__trap`?",
            ),
            (
                "exposure.allow = ['time', 'timee']",
                "`allow` of `[exposure]` has `timee`",
                "did you mean `time`?",
            ),
            (
                "exposure.pinned = ['tme__*']",
                "`pinned` of `[exposure]` has `tme__*`",
                "did you mean `time__*`?",
            ),
            (
                "profiles.work.servers = ['tme', 'we*']",
                "`servers` of `[profiles.work]` has `tme`, and no server",
                "did you mean `time`?",
            ),
            (
                "profiles.work.tools = ['time__ad']",
                "`tools` of `[profiles.work]` has `time__ad`",
                "did you mean `time__add`?",
            ),
            (
                "servers.time.annotations.adds = { readOnlyHint = true }",
                "`annotations` of `[servers.time]` has `adds`",
                "did you mean `add`?",
            ),
            (
                "servers.time.settings.foo = 1",
                "`settings` of `[servers.time]` has `foo`, and its plugin",
                "correct it",
            ),
        ] {
            // A table is written once.
            let (of_time, more) = match more.strip_prefix("servers.time.") {
                Some(of_time) => (of_time, ""),
                None => ("", more),
            };
            let home = Home::new();
            home.write("a.wasm", &component(&[ADD, TRAP]));
            let text = format!(
                "{more}\n[servers.time]\ncomponent = 'a.wasm'\n{of_time}\n\
                 [servers.web]\nurl = 'http://127.0.0.1:9/mcp'\n"
            );
            home.write("dormouse.toml", text.as_bytes());
            let told = home.open().unmatched_names();
            let told: Vec<_> = told.iter().map(ToString::to_string).collect();
            assert_eq!(told.len(), 1, "{text}: {told:?}");
            assert!(told[0].starts_with(begin), "{told:?}");
            assert!(told[0].contains(&format!("\nhint: {hint}")), "{told:?}");
        }
    }

    #[test]
    fn what_may_be_of_a_server_that_nobody_knows_is_not_said() {
        for more in [
            "exposure.deny = ['web__delete_*', 'time__trap', '*__delete_*', 'time*', '*delete*']",
            "exposure.allow = ['web', 'time__*', 'w*']",
            "exposure.pinned = ['web__x', 'time__add']",
            "profiles.work = { servers = ['t*', 'web'], tools = ['web__y', 'time'] }",
        ] {
            assert_eq!(told(more), [""; 0], "{more}");
        }
    }

    #[test]
    fn a_profile_that_serves_nothing_is_doubtful() {
        let home = Home::new();
        home.write("a.wasm", &component(&[ADD]));
        home.write(
            "dormouse.toml",
            b"[servers.time]\ncomponent = 'a.wasm'\n[profiles]\nwork.servers = ['tme']\nhome.servers = ['time']\n",
        );
        let doubts = |profile: &str| {
            let mut places = home.places();
            places.exposure.profile = Some(profile.to_owned());
            Roster::open(places).unwrap().doubtful_profiles()
        };
        let told = doubts("work");
        assert!(
            told[0].starts_with("profile `work` serves nothing"),
            "{told:?}"
        );
        assert!(told[1].contains("did you mean `time`?"), "{told:?}");
        assert_eq!(doubts("home"), [""; 0]);
    }
}
