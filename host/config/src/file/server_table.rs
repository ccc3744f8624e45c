//! A `[servers.NAME]` table of `dormouse.toml`.

use std::ops::Range;

use dormouse_policy::exposure::ServerExposure;
use dormouse_wit::Instance;
use serde_json::Value as Json;
use toml_edit::Item;

use crate::problem::within;
use crate::reading::reader::{DocumentReader, VariableHandling};
use crate::servers::upstream::{UpstreamEntry, UpstreamTable};
use crate::{Adapter, NewTools, OnChange, Origin, Overlay, ServerConfig};

pub(super) const SERVER: &[&str] = &[
    "component",
    "enabled",
    "prefix",
    "instance",
    "grants",
    "secrets",
    "limits",
    "settings",
    "expose",
    "annotations",
    "confirm",
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

const INSTANCE: [(&str, Instance); 2] = [
    ("per-call", Instance::PerCall),
    ("per-session", Instance::PerSession),
];

/// Kind of a `[servers.NAME]` table.
pub(super) enum ServerTable {
    Server(Box<ServerConfig>),
    Overlay(Box<Overlay>),
}

impl DocumentReader<'_> {
    /// Reads a table. None where it is no server, or one whose launch is not known.
    pub(super) fn server(
        &mut self,
        name: &str,
        item: &Item,
        span: Option<Range<usize>>,
        origin: Origin,
    ) -> Option<ServerTable> {
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
                "secrets" => overlay.secrets = self.http_secrets(item, &here),
                "limits" => overlay.limits = self.limits(item, &here),
                "settings" => {
                    if let Some(Json::Object(settings)) = self.table_json(item, &here) {
                        overlay.settings = settings;
                    }
                }
                "expose" => overlay.expose = self.choice(item, &here, &ServerExposure::WORDS),
                "confirm" => overlay.confirm = Some(self.confirmation(item, &here)),
                "annotations" => overlay.hints = self.hint_overrides(item, &here),
                "on_change" => overlay.on_change = self.choice(item, &here, &OnChange::WORDS),
                "tools_on_change" => overlay.tools_on_change = self.tools_on_change(item, &here),
                "new_tools" => overlay.new_tools = self.choice(item, &here, &NewTools::WORDS),
                "share" => overlay.share = self.boolean(item, &here),
                "from" => overlay.from = self.clients(item, &here),
                "project" => {
                    let folder = self.path(item, &here);
                    overlay.project = folder.map(|folder| match self.variables {
                        // Nothing is looked at that a project names which nobody trusts.
                        VariableHandling::Kept => folder,
                        VariableHandling::FilledIn(_) => folder.canonicalize().unwrap_or(folder),
                    });
                }
                _ => {
                    if !self.upstream_key(&mut upstream, key, item, &here) {
                        self.unknown(table, key, &format!("`[{at}]`"), SERVER);
                    }
                }
            }
        }
        let is_of_project = overlay.project.is_some();
        let adapter = match (component, self.bridge(upstream, &at, table, span.clone())) {
            (_, UpstreamEntry::Wrong) => return None,
            (None, UpstreamEntry::Overlay(_)) if table.contains_key("component") => return None,
            (None, UpstreamEntry::Overlay(upstream)) => {
                // Nothing to run: it is about a server that is configured elsewhere.
                overlay.upstream = *upstream;
                return Some(ServerTable::Overlay(Box::new(overlay)));
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
        let place = span.clone();
        if is_of_project {
            self.problem(
                span,
                format!("`[{at}]` has `project`, and something to run"),
                Some("that is for tables about servers of a project's files".to_owned()),
            );
        }
        let mut server = ServerConfig::new(name, adapter, origin);
        if let Err(why) = overlay.apply(&mut server) {
            self.problem(place, format!("`[{at}]` {why}"), None);
            return None;
        }
        Some(ServerTable::Server(Box::new(server)))
    }
}
