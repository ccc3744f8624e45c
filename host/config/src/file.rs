//! Reading `dormouse.toml`.
//!
//! The document is walked by hand rather than deserialized, so that every problem
//! is found in one go and each is told with its place, its value and a way out.

mod discovery;
mod exposure;
mod files_of_secrets;
mod grants;
mod host_limits;
mod http_secrets;
mod known_providers;
mod misplaced_keys;
mod providers;
mod server_table;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, bail};
use dormouse_files::regular::read_regular_file;
use dormouse_policy::{FsGrant, FsMode, Grants, HostLimits, HttpGrant, HttpGrantError};
use dormouse_text::nearest::nearest;
use dormouse_text::visible::visible_path;
use toml_edit::{Document, Item, TableLike};

pub(crate) use self::misplaced_keys::MisplacedKeys;
pub use self::misplaced_keys::place_of_key;
use self::server_table::ServerTable;
pub(crate) use self::text::leads_nowhere;
pub use self::text::{read, read_of_project};
use super::problem::{quoted, within};
use crate::naming::name;
pub use crate::reading::reader::VariableHandling;
use crate::reading::reader::{DocumentReader, TOO_MANY_PARTS, key_span, too_many_parts};
use crate::reading::units;
use crate::{
    Client, Config, ConfigProblem, DiscoveryConfig, Fetch, Inputs, Invalid, Origin, RefusedServer,
    Scope,
};

/// Largest file in a project's folder, which anybody may have written, in bytes.
pub(super) const LARGEST_OF_PROJECT: u64 = 1 << 20;

/// Most servers of a file in a project's folder.
const MAX_SERVERS_OF_PROJECT: usize = 1000;

const TOP: &[&str] = &[
    "servers",
    "providers",
    "discovery",
    "limits",
    "exposure",
    "profiles",
];
const DISCOVERY: &[&str] = &["clients", "fetch", "filled_in", "inputs", "pass_env"];
const GRANTS: &[&str] = &["fs", "env", "http"];
const FS: &[&str] = &["path", "mode"];
const HOST_LIMITS: &[&str] = &["memory", "compile_time", "compile_memory", "connections"];

/// Reads the text of a configuration file. The configuration has every server that could be read;
/// the problems, in the order of the file, are those of all others.
#[must_use]
pub fn parse(file: &Path, text: &str) -> (Config, Vec<ConfigProblem>) {
    let (config, problems) = read_text(DocumentReader::new(
        file,
        text,
        VariableHandling::FilledIn(None),
    ));
    (config.unwrap_or_default(), problems)
}

/// Reads the usable part of the text of a configuration file. The configuration has the problems of
/// the rest.
///
/// # Errors
/// The text is not TOML, or its servers are not in tables.
pub fn parse_usable(file: &Path, text: &str) -> Result<Config, Invalid> {
    let (config, problems) = read_text(DocumentReader::new(
        file,
        text,
        VariableHandling::FilledIn(None),
    ));
    config.ok_or(Invalid { problems })
}

/// Reads the text of a project's configuration file, as [`parse`] does, and fills in as much as
/// `variables` allows. `inputs` are the user's answers to the questions of clients: none of the
/// project's own count, because a review tells whose they are.
#[must_use]
pub fn parse_of_project(
    file: &Path,
    text: &str,
    variables: VariableHandling,
    inputs: &Inputs,
) -> (Config, Vec<ConfigProblem>) {
    let mut reader = DocumentReader::new(file, text, variables);
    reader.inputs = Some(inputs.clone());
    reader.max_servers = MAX_SERVERS_OF_PROJECT;
    let (config, problems) = read_text(reader);
    (config.unwrap_or_default(), problems)
}

/// Reads a text, and finds its problems. No configuration where the text is not TOML, or its servers
/// are not in tables.
fn read_text(mut reader: DocumentReader<'_>) -> (Option<Config>, Vec<ConfigProblem>) {
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

/// Reads the size of something in memory, in bytes.
fn bytes(text: &str) -> Result<usize, &'static str> {
    let bytes = units::size(text)?;
    Ok(usize::try_from(bytes).unwrap_or(usize::MAX))
}

impl DocumentReader<'_> {
    /// Reads the whole file. None where nobody knows which servers it has, and what it says of
    /// others.
    fn top(&mut self, table: &dyn TableLike) -> Option<Config> {
        let mut config = Config {
            files_of_secrets: self.files_of_secrets(table),
            ..Config::default()
        };
        // Places of those problems that are told with a server.
        let mut of_servers = BTreeSet::new();
        if let Some(item) = table.get("discovery") {
            config.discovery = self.discovery(item);
        }
        if let Some(item) = table.get("providers") {
            self.providers(item);
        }
        if self.inputs.is_none() {
            self.inputs = Some(config.discovery.inputs.clone());
        }
        if self.variables == VariableHandling::FilledIn(None) {
            self.variables = VariableHandling::FilledIn(Some(config.discovery.filled_in));
        }
        for (key, item) in table.iter() {
            match key {
                "servers" => {}
                "discovery" | "providers" => continue,
                "limits" => {
                    config.limits = self.host_limits(item);
                    continue;
                }
                "exposure" => {
                    config.exposure = self.exposure(item);
                    continue;
                }
                "profiles" => {
                    config.profiles = self.profiles(item);
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
                    Ok(()) => self.server(name, item, span, origin.clone()),
                    Err(bad) => {
                        self.problem(span.clone(), bad.to_string(), Some(bad.hint().to_owned()));
                        // What it starts or reaches does not come back from another file.
                        let told = (self.problems.len(), self.problem_count);
                        let read = self.server(name, item, span, origin.clone());
                        self.problems.truncate(told.0);
                        self.problem_count = told.1;
                        read
                    }
                };
                // A server with a problem in it is left out: running it with
                // half of what the user wrote would not be what they wrote.
                if self.problem_count > before.1 {
                    // None of its own, where too much is wrong before it.
                    let problems = self.problems.get(before.0..).unwrap_or_default();
                    of_servers.extend(before.0..self.problems.len());
                    let bridge = match &read {
                        Some(ServerTable::Server(server)) => server.bridge(),
                        Some(ServerTable::Overlay(_)) | None => None,
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
                    Some(ServerTable::Server(server)) => {
                        config.servers.insert(name.to_owned(), *server);
                    }
                    Some(ServerTable::Overlay(overlay)) => {
                        config.overlays.insert(name.to_owned(), *overlay);
                    }
                    None => {}
                }
            }
        }
        // Tables of the right names may have been read before or after.
        std::mem::take(&mut self.misplaced).close(&mut config);
        let others = self.problems.iter().enumerate();
        let others = others.filter(|(index, _)| !of_servers.contains(index));
        config.problems = others.map(|(_, problem)| problem.clone()).collect();
        Some(config)
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
}

#[cfg(test)]
mod tests;
