//! Reading `dormouse.toml`.
//!
//! The document is walked by hand rather than deserialized, so that every problem
//! is found in one go and each is told with its place, its value and a way out.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, bail};
use dormouse_catalog::read_regular_file;
use dormouse_policy::{FsGrant, FsMode, Grants, HostLimits};
use dormouse_text::nearest::nearest;
use dormouse_text::visible::visible_path;
use dormouse_wit::Instance;
use serde_json::Value as Json;
use toml_edit::{Document, Item, TableLike};

use super::problem::{quoted, within};
pub use super::reader::Variables;
use super::reader::{Reader, TOO_MANY_PARTS, key_span, too_many_parts};
use super::upstream::{UpstreamEntry, UpstreamTable};
use super::{
    Adapter, Client, Config, DiscoveryConfig, Fetch, Inputs, Invalid, NewTools, OnChange, Origin,
    Overlay, Problem, RefusedServer, Scope, ServerConfig, name, units,
};

/// Largest configuration file, in bytes; a larger one was named by mistake.
const LARGEST: u64 = 4 << 20;

/// Largest file in a project's folder, which anybody may have written, in bytes.
pub(super) const LARGEST_OF_PROJECT: u64 = 1 << 20;

/// Most servers of a file in a project's folder.
const MAX_SERVERS_OF_PROJECT: usize = 1000;

const TOP: &[&str] = &["servers", "discovery", "limits"];
const DISCOVERY: &[&str] = &["clients", "fetch", "filled_in", "inputs", "pass_env"];
const SERVER: &[&str] = &[
    "component",
    "enabled",
    "prefix",
    "instance",
    "grants",
    "limits",
    "settings",
    // Of a server that has an upstream.
    "command",
    "args",
    "env",
    "cwd",
    "pass_env",
    "url",
    "headers",
    "type",
    "oauth",
    "tools",
    "include_tools",
    "exclude_tools",
    "clients",
    "start_timeout",
    "on_change",
    "tools_on_change",
    "new_tools",
    "share",
    "from",
    "project",
];
const GRANTS: &[&str] = &["fs", "env"];
const FS: &[&str] = &["path", "mode"];
const HOST_LIMITS: &[&str] = &["memory", "compile_time", "compile_memory", "connections"];
/// Reads the text of a configuration file; none where there is no such file.
///
/// # Errors
/// The file cannot be read, is too large, or is not UTF-8.
pub fn read(path: &Path) -> anyhow::Result<Option<String>> {
    read_at_most(path, LARGEST)
}

/// Reads the text of a project's configuration file; none where there is no such file.
///
/// # Errors
/// The file cannot be read, is too large, or is not UTF-8.
pub fn read_of_project(path: &Path) -> anyhow::Result<Option<String>> {
    read_at_most(path, LARGEST_OF_PROJECT)
}

fn read_at_most(path: &Path, largest: u64) -> anyhow::Result<Option<String>> {
    let shown = visible_path(path);
    let cannot = || format!("the configuration file `{shown}` cannot be read");
    let bytes = match read_regular_file(path, largest) {
        Ok(Some(bytes)) => bytes,
        // What it led to may have denied something, and may come back.
        Ok(None) if leads_nowhere(path) => bail!(
            "the configuration file `{shown}` is a link to nothing\n\
             hint: remove the link, or bring back what it leads to"
        ),
        Ok(None) => return Ok(None),
        Err(error) if error.kind() == ErrorKind::FileTooLarge => bail!(
            "the configuration file `{shown}` is larger than {} MiB\nhint: is it a configuration file?",
            largest >> 20
        ),
        Err(error) => return Err(error).with_context(cannot),
    };
    let text = String::from_utf8(bytes)
        .map_err(|error| error.utf8_error())
        .with_context(cannot)?;
    Ok(Some(text))
}

/// Whether a path is a link to nothing, or is below one.
pub(crate) fn leads_nowhere(path: &Path) -> bool {
    let mut ancestors = path.ancestors();
    ancestors
        .find_map(|above| above.symlink_metadata().ok().map(|found| (above, found)))
        .is_some_and(|(above, found)| found.is_symlink() && !above.exists())
}

/// Reads the text of a configuration file. The configuration has every server that could be read;
/// the problems, in the order of the file, are those of all others.
#[must_use]
pub fn parse(file: &Path, text: &str) -> (Config, Vec<Problem>) {
    let (config, problems) = read_text(Reader::new(file, text, Variables::FilledIn(None)));
    (config.unwrap_or_default(), problems)
}

/// Reads the usable part of the text of a configuration file. The configuration has the problems of
/// the rest.
///
/// # Errors
/// The text is not TOML, or its servers are not in tables.
pub fn parse_usable(file: &Path, text: &str) -> Result<Config, Invalid> {
    let (config, problems) = read_text(Reader::new(file, text, Variables::FilledIn(None)));
    config.ok_or(Invalid { problems })
}

/// Reads the text of a project's configuration file, as [`parse`] does, and fills in as much as
/// `variables` allows. `inputs` are the user's answers to the questions of clients: none of the
/// project's own count, because a review tells whose they are.
#[must_use]
pub fn parse_of_project(
    file: &Path,
    text: &str,
    variables: Variables,
    inputs: &Inputs,
) -> (Config, Vec<Problem>) {
    let mut reader = Reader::new(file, text, variables);
    reader.inputs = Some(inputs.clone());
    reader.max_servers = MAX_SERVERS_OF_PROJECT;
    let (config, problems) = read_text(reader);
    (config.unwrap_or_default(), problems)
}

/// Reads a text, and finds its problems. No configuration where the text is not TOML, or its servers
/// are not in tables.
fn read_text(mut reader: Reader<'_>) -> (Option<Config>, Vec<Problem>) {
    let text = reader.text;
    let mut config = None;
    if let Some(at) = too_many_parts(text) {
        reader.problem(Some(at..at), TOO_MANY_PARTS.to_owned(), None);
        return (None, reader.problems);
    }
    match Document::parse(text) {
        Ok(document) => config = reader.top(document.as_table()),
        Err(error) => {
            // Several lines can be in it, and only the first says what is wrong.
            let message = error.message().lines().next().unwrap_or_default();
            reader.problem(error.span(), format!("this is not TOML: {message}"), None);
        }
    }
    reader
        .problems
        .sort_by_key(|problem| (problem.line, problem.column));
    (config, reader.problems)
}

const INSTANCE: [(&str, Instance); 2] = [
    ("per-call", Instance::PerCall),
    ("per-session", Instance::PerSession),
];

/// Kind of a `[servers.NAME]` table.
enum Entry {
    Server(Box<ServerConfig>),
    Overlay(Box<Overlay>),
}

/// Reads the size of something in memory, in bytes.
fn bytes(text: &str) -> Result<usize, &'static str> {
    let bytes = units::size(text)?;
    Ok(usize::try_from(bytes).unwrap_or(usize::MAX))
}

impl Reader<'_> {
    /// Reads the whole file. None where nobody knows which servers it has, and what it says of
    /// others.
    fn top(&mut self, table: &dyn TableLike) -> Option<Config> {
        let mut config = Config::default();
        // Places of those problems that are told with a server.
        let mut of_servers = BTreeSet::new();
        if let Some(item) = table.get("discovery") {
            config.discovery = self.discovery(item);
        }
        if self.inputs.is_none() {
            self.inputs = Some(config.discovery.inputs.clone());
        }
        if self.variables == Variables::FilledIn(None) {
            self.variables = Variables::FilledIn(Some(config.discovery.filled_in));
        }
        for (key, item) in table.iter() {
            match key {
                "servers" => {}
                "discovery" => continue,
                "limits" => {
                    config.limits = self.host_limits(item);
                    continue;
                }
                _ => {
                    let before = self.problems.len();
                    self.unknown(table, key, "the configuration", TOP);
                    let problems = self.problems.get(before..).unwrap_or_default();
                    // What its user has said there of servers is not known, so that none of these
                    // is used.
                    if nearest(key, TOP.iter().copied()) != Some("servers") {
                        continue;
                    }
                    for (name, _) in item.as_table_like()?.iter() {
                        config.refused.push(RefusedServer {
                            written_name: name.to_owned(),
                            origin: Origin {
                                file: self.file.to_owned(),
                                line: problems.first().map_or(1, |problem| problem.line),
                                ..Origin::default()
                            },
                            written: None,
                            launch: None,
                            filled_in: BTreeSet::new(),
                            problems: problems.to_vec(),
                        });
                    }
                    continue;
                }
            }
            let servers = self.table(item, "servers")?;
            if let Some((name, _)) = servers.iter().nth(self.max_servers) {
                let message = format!("there are more than {} servers", self.max_servers);
                self.problem(key_span(servers, name), message, None);
            }
            for (name, item) in servers.iter().take(self.max_servers) {
                let span = key_span(servers, name);
                let before = (self.problems.len(), self.problem_count);
                let origin = Origin {
                    file: self.file.to_owned(),
                    line: self.place(span.as_ref()).0,
                    client: None,
                    scope: Scope::User,
                    profile: None,
                };
                let read = match name::check(name) {
                    Ok(()) => self.server(name, item, (span, origin.clone())),
                    Err(bad) => {
                        self.problem(span, bad.to_string(), Some(bad.hint().to_owned()));
                        None
                    }
                };
                // A server with a problem in it is left out: running it with
                // half of what the user wrote would not be what they wrote.
                if self.problem_count > before.1 {
                    // None of its own, where too much is wrong before it.
                    let problems = self.problems.get(before.0..).unwrap_or_default();
                    of_servers.extend(before.0..self.problems.len());
                    let bridge = match &read {
                        Some(Entry::Server(server)) => server.bridge(),
                        Some(Entry::Overlay(_)) | None => None,
                    };
                    config.refused.push(RefusedServer {
                        written_name: name.to_owned(),
                        origin,
                        written: bridge.map(|bridge| bridge.written.clone()),
                        launch: bridge.map(|bridge| bridge.launch.clone()),
                        filled_in: bridge
                            .map(|bridge| bridge.filled_in.clone())
                            .unwrap_or_default(),
                        problems: problems.to_vec(),
                    });
                    continue;
                }
                match read {
                    Some(Entry::Server(server)) => {
                        config.servers.insert(name.to_owned(), *server);
                    }
                    Some(Entry::Overlay(overlay)) => {
                        config.overlays.insert(name.to_owned(), *overlay);
                    }
                    None => {}
                }
            }
        }
        let others = self.problems.iter().enumerate();
        let others = others.filter(|(index, _)| !of_servers.contains(index));
        config.problems = others.map(|(_, problem)| problem.clone()).collect();
        Some(config)
    }

    fn discovery(&mut self, item: &Item) -> DiscoveryConfig {
        let mut discovery = DiscoveryConfig::default();
        // Whoever is not to be asked may be what cannot be read.
        let nobody = Some(Vec::new());
        let Some(table) = self.table(item, "discovery") else {
            discovery.clients = nobody;
            return discovery;
        };
        let mut is_nobody_asked = false;
        for (key, item) in table.iter() {
            let here = format!("discovery.{key}");
            match key {
                "clients" => {
                    let before = self.problem_count;
                    discovery.clients = Some(self.clients(item, &here));
                    is_nobody_asked |= self.problem_count > before;
                }
                "pass_env" => discovery.pass_env = self.pass_env(item, &here),
                "inputs" => discovery.inputs = self.inputs(item, &here),
                "filled_in" => self.set(&mut discovery.filled_in, item, &here, bytes),
                "fetch" => {
                    let choices = [
                        ("on-demand", Fetch::OnDemand),
                        ("background", Fetch::Background),
                    ];
                    discovery.fetch = self.choice(item, &here, &choices).unwrap_or_default();
                }
                _ => {
                    self.unknown(table, key, "`[discovery]`", DISCOVERY);
                    let meant = nearest(key, DISCOVERY.iter().copied());
                    is_nobody_asked |= matches!(meant, None | Some("clients"));
                }
            }
        }
        if is_nobody_asked {
            discovery.clients = nobody;
        }
        discovery
    }

    fn clients(&mut self, item: &Item, at: &str) -> Vec<Client> {
        let mut clients = Vec::new();
        for (index, item) in self.items(item, at).iter().enumerate() {
            let at = format!("{at}[{index}]");
            match self.string(item, &at).map(str::parse) {
                Some(Ok(client)) => clients.push(client),
                Some(Err(hint)) => {
                    let message = format!("`{at}` cannot be {}", self.shown(item));
                    self.problem(item.span(), message, Some(hint));
                }
                None => {}
            }
        }
        clients
    }

    fn server(
        &mut self,
        name: &str,
        item: &Item,
        (span, origin): (Option<Range<usize>>, Origin),
    ) -> Option<Entry> {
        let at = format!("servers.{name}");
        let table = self.table(item, &at)?;
        let mut upstream = UpstreamTable::default();
        let mut component = None;
        let mut overlay = Overlay {
            origin: origin.clone(),
            ..Overlay::default()
        };
        for (key, item) in table.iter() {
            let here = within(&at, key);
            match key {
                "component" => component = self.path(item, &here),
                "enabled" => overlay.enabled = self.boolean(item, &here),
                "prefix" => overlay.prefix = self.prefix(item, &here),
                "instance" => overlay.instance = self.choice(item, &here, &INSTANCE),
                "grants" => overlay.grants = Some(self.grants(item, &here)),
                "limits" => overlay.limits = self.limits(item, &here),
                "settings" => {
                    if let Some(Json::Object(settings)) = self.table_json(item, &here) {
                        overlay.settings = settings;
                    }
                }
                "on_change" => overlay.on_change = self.choice(item, &here, &OnChange::WORDS),
                "tools_on_change" => overlay.tools_on_change = self.tools_on_change(item, &here),
                "new_tools" => overlay.new_tools = self.choice(item, &here, &NewTools::WORDS),
                "share" => overlay.share = self.boolean(item, &here),
                "from" => overlay.from = self.clients(item, &here),
                "project" => {
                    let folder = self.path(item, &here);
                    overlay.project = folder.map(|folder| folder.canonicalize().unwrap_or(folder));
                }
                _ => {
                    if !self.upstream_key(&mut upstream, key, item, &here) {
                        self.unknown(table, key, &format!("`[{at}]`"), SERVER);
                    }
                }
            }
        }
        let is_of_project = overlay.project.is_some();
        let adapter = match (component, self.bridge(upstream, (&at, table, span.clone()))) {
            (_, UpstreamEntry::Wrong) => return None,
            (None, _) if table.contains_key("component") => return None,
            (None, UpstreamEntry::Overlay(upstream)) => {
                // Nothing to run: it is about a server that is configured elsewhere.
                overlay.upstream = *upstream;
                return Some(Entry::Overlay(Box::new(overlay)));
            }
            (Some(file), UpstreamEntry::Overlay(upstream)) => {
                for key in upstream.keys() {
                    self.problem(
                        span.clone(),
                        format!("`[{at}]` has `{key}`, and neither `command` nor `url`"),
                        Some("say how its MCP server is reached".to_owned()),
                    );
                }
                Adapter::Plugin(file)
            }
            (None, UpstreamEntry::Bridge(bridge)) => Adapter::Bridge(bridge),
            (Some(file), UpstreamEntry::Bridge(bridge)) => Adapter::Adapted(file, bridge),
        };
        if is_of_project {
            self.problem(
                span,
                format!("`[{at}]` has `project`, and something to run"),
                Some("that is for tables about servers of a project's files".to_owned()),
            );
        }
        let mut server = ServerConfig::new(name, adapter, origin);
        // Nothing is said of its upstream that could not fit.
        overlay.apply(&mut server).ok()?;
        Some(Entry::Server(Box::new(server)))
    }

    /// Reads the policies for changes of tools, by their names or patterns.
    fn tools_on_change(&mut self, item: &Item, at: &str) -> BTreeMap<String, OnChange> {
        let Some(table) = self.table(item, at) else {
            return BTreeMap::new();
        };
        let mut tools = BTreeMap::new();
        for (name, item) in table.iter() {
            if let Some(mode) = self.choice(item, &within(at, name), &OnChange::WORDS) {
                tools.insert(name.to_owned(), mode);
            }
        }
        tools
    }

    fn grants(&mut self, item: &Item, at: &str) -> Grants {
        let mut grants = Grants::default();
        let Some(table) = self.table(item, at) else {
            return grants;
        };
        for (key, item) in table.iter() {
            let here = within(at, key);
            match key {
                "fs" => {
                    for (index, item) in self.items(item, &here).into_iter().enumerate() {
                        grants
                            .fs
                            .extend(self.fs(&item, &format!("{here}[{index}]")));
                    }
                }
                "env" => {
                    for (index, item) in self.items(item, &here).into_iter().enumerate() {
                        grants
                            .env
                            .extend(self.variable(&item, &format!("{here}[{index}]")));
                    }
                }
                _ => self.unknown(table, key, &format!("`[{at}]`"), GRANTS),
            }
        }
        grants
    }

    fn fs(&mut self, item: &Item, at: &str) -> Option<FsGrant> {
        let table = self.table(item, at)?;
        let mut path = None;
        // Whoever says nothing of writing has not granted it.
        let mut mode = Some(FsMode::ReadOnly);
        for (key, item) in table.iter() {
            let here = within(at, key);
            match key {
                "path" => path = self.path(item, &here),
                "mode" => {
                    mode = self.choice(
                        item,
                        &here,
                        &[("ro", FsMode::ReadOnly), ("rw", FsMode::ReadWrite)],
                    );
                }
                _ => self.unknown(table, key, &format!("`{at}`"), FS),
            }
        }
        if !table.contains_key("path") {
            self.problem(
                item.span(),
                format!("`{at}` has no `path`"),
                Some("name the folder: `{ path = \"~/notes\", mode = \"ro\" }`".to_owned()),
            );
        }
        Some(FsGrant {
            path: path?,
            real: None,
            mode: mode?,
        })
    }

    pub(super) fn variable(&mut self, item: &Item, at: &str) -> Option<String> {
        let name = self.string(item, at)?;
        if name.is_empty() || name.contains(['=', '\0']) {
            // What stands behind a `=` is a value that slipped in.
            let begin = name.split('=').next().unwrap_or_default();
            let message = format!(
                "`{at}` is no name of an environment variable: it begins with {}",
                quoted(begin)
            );
            self.problem(
                item.span(),
                message,
                Some("write only the name, like `TZ`; its value is taken from the environment of `dormouse`".to_owned()),
            );
            return None;
        }
        Some(name.to_owned())
    }

    fn host_limits(&mut self, item: &Item) -> HostLimits {
        let mut limits = HostLimits::default();
        let Some(table) = self.table(item, "limits") else {
            return limits;
        };
        for (key, item) in table.iter() {
            let here = format!("limits.{key}");
            match key {
                "memory" => {
                    let mut memory = limits.memory();
                    self.set(&mut memory, item, &here, units::size);
                    limits.memory = Some(memory);
                }
                "compile_time" => self.set(&mut limits.compile_time, item, &here, units::duration),
                "compile_memory" => self.set(&mut limits.compile_memory, item, &here, units::size),
                "connections" => {
                    if let Some(connections) = self.count(item, &here) {
                        limits.connections = connections as usize;
                    }
                }
                _ => self.unknown(table, key, "`[limits]`", HOST_LIMITS),
            }
        }
        limits
    }

    fn prefix(&mut self, item: &Item, at: &str) -> Option<String> {
        let prefix = self.string(item, at)?;
        match name::check_prefix(prefix) {
            Ok(()) => Some(prefix.to_owned()),
            Err(bad) => {
                let message = format!("`{at}` cannot be {}", quoted(prefix));
                self.problem(item.span(), message, Some(bad.hint().to_owned()));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests;
