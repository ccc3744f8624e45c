//! Changes that the user's own file makes to a server that is configured elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use dormouse_launch::{HttpTransport, Launch};
use dormouse_policy::exposure::{Confirmation, HintOverrides, ServerExposure};
use dormouse_policy::{Grants, HttpGrant, HttpSecret};
use dormouse_text::visible::visible_path;
use dormouse_wit::Instance;
use serde_json::{Map, Value};

use super::http_secrets;
use super::limits::LimitSettings;
use crate::{
    Bridge, Client, ClientRules, FilledIn, Filter, Fingerprint, Need, NewTools, OnChange, Origin,
    Scope, ServerConfig,
};

/// Changes of the user's to a server that is configured elsewhere. Keys that are not set stay as
/// they are there.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs, reason = "as in `ServerConfig` and `Bridge`")]
pub struct Overlay {
    /// Project whose server is changed; none for one of the user's.
    pub project: Option<PathBuf>,
    pub enabled: Option<bool>,
    pub prefix: Option<String>,
    pub instance: Option<Instance>,
    /// Grants, in place of all others.
    pub grants: Option<Grants>,
    /// Secrets of HTTP requests, each for itself.
    pub secrets: Vec<HttpSecret>,
    /// Limits, each for itself.
    pub limits: LimitSettings,
    /// Settings, each for itself.
    pub settings: Map<String, Value>,
    pub expose: Option<ServerExposure>,
    /// Hints on tools, each name or pattern for itself.
    pub hints: HintOverrides,
    pub confirm: Option<Confirmation>,
    /// More clients that load the server themselves.
    pub from: Vec<Client>,
    pub on_change: Option<OnChange>,
    /// Policies for tools, each name or pattern for itself.
    pub tools_on_change: BTreeMap<String, OnChange>,
    pub new_tools: Option<NewTools>,
    pub share: Option<bool>,
    /// Changes to the server's upstream.
    pub upstream: UpstreamOverlay,
    /// Place where the overlay is written.
    pub origin: Origin,
}

/// Changes of the user's to the upstream of a server that is configured elsewhere.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs, reason = "as in `Bridge`")]
pub struct UpstreamOverlay {
    /// Changes to the launch.
    pub launch: Option<LaunchOverlay>,
    pub stubs: Option<Vec<String>>,
    /// The only tools that are shown, of those that are shown without this.
    pub include: Option<Vec<String>>,
    /// More tools that are not shown.
    pub exclude: Option<Vec<String>>,
    /// More rules for single clients.
    pub rules: Option<ClientRules>,
    pub start_timeout: Option<Duration>,
}

/// Changes to a launch: variables and headers each for itself, all else in place of what is there.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchOverlay {
    /// The keys that the table has.
    pub keys: BTreeSet<&'static str>,
    /// The changes as they are written: a launch without a program or a URL.
    pub written: Launch,
    /// The changes with every variable expanded.
    pub filled: Launch,
    /// The transport, where it is set.
    pub transport: Option<HttpTransport>,
    /// Things that have to be set before the upstream can be started.
    pub needs: Vec<Need>,
    /// Sources of the user's own that are filled in, and their places.
    pub filled_in: BTreeSet<FilledIn>,
}

impl Overlay {
    /// Changes a server as the user wants it.
    ///
    /// # Errors
    /// A key does not fit the server; the error is the reason, for the user. The server is as it
    /// was.
    pub fn apply(&self, server: &mut ServerConfig) -> Result<(), String> {
        let is_refused = server.refused().is_some();
        match server.bridge_mut() {
            Some(bridge) => {
                self.upstream.apply(bridge)?;
                let changes = &mut bridge.changes;
                changes.on_change = self.on_change.unwrap_or(changes.on_change);
                changes.new_tools = self.new_tools.unwrap_or(changes.new_tools);
                let tools = self.tools_on_change.iter();
                let tools = tools.map(|(name, mode)| (name.clone(), *mode));
                changes.tools.extend(tools);
                if let Some(share) = self.share {
                    bridge.share = share;
                }
            }
            // What is said of an upstream holds once its entry can be used.
            None if is_refused => {}
            None => {
                if let Some(key) = self.upstream.keys().next() {
                    return Err(format!(
                        "has `{key}`, and the server of that name has no upstream"
                    ));
                }
            }
        }
        if let Some(enabled) = self.enabled {
            server.enabled = enabled && server.denied.is_none();
        }
        if let Some(prefix) = &self.prefix {
            server.prefix = Some(prefix.clone());
        }
        if self.instance.is_some() {
            server.instance = self.instance;
        }
        if let Some(grants) = &self.grants {
            server.grants = grants.clone();
        }
        if !self.secrets.is_empty() && server.component().is_none() && !is_refused {
            return Err("has `secrets`, and the server of that name is no plugin".to_owned());
        }
        http_secrets::add(&mut server.secrets, &self.secrets, &server.grants)?;
        self.limits.apply(&mut server.limits);
        let settings = self.settings.iter();
        let settings = settings.map(|(key, value)| (key.clone(), value.clone()));
        server.settings.extend(settings);
        server.expose = self.expose.or(server.expose);
        let hints = self.hints.0.iter();
        let hints = hints.map(|(tool, hints)| (tool.clone(), *hints));
        server.hints.0.extend(hints);
        server.confirm = self.confirm.or(server.confirm);
        server.from.extend(&self.from);
        Ok(())
    }

    /// Returns the part that is for a server: all of it for one of the project that the overlay
    /// names or, where it names none, for one of the user's. For another project's server, which
    /// anybody may have given that name, only what restricts it.
    #[must_use]
    pub fn for_server(&self, server: &ServerConfig) -> Self {
        match (&server.origin.scope, &self.project) {
            (Scope::Project(folder), Some(project)) if folder == project => self.clone(),
            (Scope::Project(_), _) => self.restrictions(server),
            (Scope::Managed | Scope::User | Scope::Local(_), None) => self.clone(),
            (Scope::Managed | Scope::User | Scope::Local(_), Some(_)) => Self {
                origin: self.origin.clone(),
                ..Self::default()
            },
        }
    }

    /// Returns the part that gives the server nothing, and allows it nothing that it may not do
    /// already.
    fn restrictions(&self, server: &ServerConfig) -> Self {
        let changes = server.bridge().map(|bridge| &bridge.changes);
        let on_change = self.on_change.max(changes.map(|changes| changes.on_change));
        let tools = self.tools_on_change.iter().filter_map(|(name, mode)| {
            let known = changes.and_then(|changes| changes.tools.get(name).copied());
            let mode = (*mode).max(known.unwrap_or_default());
            (Some(mode) >= on_change).then(|| (name.clone(), mode))
        });
        Self {
            enabled: self.enabled.filter(|enabled| !enabled),
            on_change,
            tools_on_change: tools.collect(),
            new_tools: self.new_tools.filter(|new| *new == NewTools::Hide),
            expose: self
                .expose
                .filter(|expose| *expose != ServerExposure::Direct),
            hints: self.hints.careful(),
            confirm: self
                .confirm
                .map(|own| own.stricter(server.confirm.unwrap_or_default())),
            upstream: UpstreamOverlay {
                include: self.upstream.include.clone(),
                exclude: self.upstream.exclude.clone(),
                rules: self.upstream.rules.clone(),
                ..UpstreamOverlay::default()
            },
            origin: self.origin.clone(),
            ..Self::default()
        }
    }

    /// Lists the changes for a person, without values.
    #[must_use]
    pub fn said(&self) -> Vec<String> {
        let enabled = self.enabled.map(|enabled| format!("enabled = {enabled}"));
        let on_change = self.on_change.map(OnChange::word);
        let on_change = on_change.map(|word| format!("on_change = {word}"));
        let others = [
            ("prefix", self.prefix.is_some()),
            ("instance", self.instance.is_some()),
            ("limits", !self.limits.is_empty()),
            ("share", self.share.is_some()),
            ("tools_on_change", !self.tools_on_change.is_empty()),
            ("new_tools", self.new_tools.is_some()),
            ("expose", self.expose.is_some()),
            ("annotations", !self.hints.is_empty()),
            ("confirm", self.confirm.is_some()),
        ];
        let others = others.into_iter().filter(|(_, is_said)| *is_said);
        let names = others.map(|(key, _)| key);
        let names = names.chain(self.upstream.keys_beside_launch());
        let names = names.map(str::to_owned);
        let said = self.gifts().into_iter().chain(enabled).chain(on_change);
        said.chain(names).collect()
    }

    /// Lists what the overlay gives a server: names of variables, headers and the like.
    fn gifts(&self) -> Vec<String> {
        let mut gifts = Vec::new();
        if let Some(launch) = &self.upstream.launch {
            let (word, names, passed) = match &launch.written {
                Launch::Stdio(stdio) => ("variable", stdio.env.keys(), stdio.pass_env.as_slice()),
                Launch::Http(http) => ("header", http.headers.keys(), &[][..]),
            };
            gifts.extend(names.chain(passed).map(|name| format!("{word} {name}")));
            let others = launch.keys.iter();
            let others = others.filter(|key| !["env", "headers", "pass_env"].contains(*key));
            gifts.extend(others.map(|key| (*key).to_owned()));
        }
        if let Some(grants) = &self.grants {
            let folders = grants.fs.iter();
            gifts.extend(folders.map(|grant| format!("folder {}", visible_path(&grant.path))));
            let variables = grants.env.iter();
            gifts.extend(variables.map(|name| format!("variable {name}")));
            gifts.extend(grants.http.iter().map(HttpGrant::in_words));
        }
        let secrets = self.secrets.iter();
        gifts.extend(secrets.map(|secret| format!("secret {}", secret.name)));
        gifts.extend(self.settings.keys().map(|key| format!("setting {key}")));
        gifts
    }
}

impl UpstreamOverlay {
    /// Returns the keys that the table has.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static str> {
        let launch = self.launch.iter().flat_map(|launch| launch.keys.iter());
        launch.copied().chain(self.keys_beside_launch())
    }

    /// Returns the keys that do not change the launch.
    fn keys_beside_launch(&self) -> impl Iterator<Item = &'static str> {
        let keys = [
            ("tools", self.stubs.is_some()),
            ("include_tools", self.include.is_some()),
            ("exclude_tools", self.exclude.is_some()),
            ("clients", self.rules.is_some()),
            ("start_timeout", self.start_timeout.is_some()),
        ];
        let keys = keys.into_iter().filter(|(_, is_said)| *is_said);
        keys.map(|(key, _)| key)
    }

    fn apply(&self, bridge: &mut Bridge) -> Result<(), String> {
        if let Some(launch) = &self.launch {
            launch.apply(bridge)?;
        }
        if let Some(stubs) = &self.stubs {
            bridge.stubs.clone_from(stubs);
        }
        // What a client or a policy denies is given back by its own file alone.
        bridge.filter.restrict(&Filter {
            include: self.include.clone(),
            exclude: self.exclude.clone().unwrap_or_default(),
            also: Vec::new(),
        });
        if let Some(rules) = &self.rules {
            bridge.rules.restrict_all(rules);
        }
        if self.start_timeout.is_some() {
            bridge.start_timeout = self.start_timeout;
        }
        Ok(())
    }
}

impl LaunchOverlay {
    fn apply(&self, bridge: &mut Bridge) -> Result<(), String> {
        let fits = match (&self.filled, &bridge.launch) {
            (Launch::Stdio(_), Launch::Stdio(_)) | (Launch::Http(_), Launch::Http(_)) => None,
            (Launch::Stdio(_), Launch::Http(_)) => Some("a `url`, and no `command`"),
            (Launch::Http(_), Launch::Stdio(_)) => Some("a `command`, and no `url`"),
        };
        if let Some(what) = fits {
            let key = self.keys.first().copied().unwrap_or_default();
            return Err(format!(
                "has `{key}`, and the server of that name has {what}"
            ));
        }
        self.merge(&self.written, &mut bridge.written);
        self.merge(&self.filled, &mut bridge.launch);
        // What was asked for in a place that has something else now is not needed any more.
        let is_replaced = |place: &str| {
            let (key, name) = place
                .split_once(['.', '['])
                .map_or((place, ""), |(key, name)| (key, name));
            match (key, &self.written) {
                ("env", Launch::Stdio(stdio)) => stdio.env.contains_key(name),
                ("headers", Launch::Http(http)) => http.headers.contains_key(name),
                _ => self.keys.contains(key),
            }
        };
        let stays = |place: Option<&str>| !place.is_some_and(is_replaced);
        bridge.needs.retain(|need| stays(need.place.as_deref()));
        bridge.needs.extend(self.needs.iter().cloned());
        // It is the user's own words now, which they need not be shown.
        bridge.shown = None;
        bridge.filled_in.retain(|filled| stays(Some(&filled.place)));
        bridge.filled_in.extend(self.filled_in.iter().cloned());
        bridge.fingerprint = Fingerprint::of(&bridge.written);
        Ok(())
    }

    fn merge(&self, changes: &Launch, launch: &mut Launch) {
        match (changes, launch) {
            (Launch::Stdio(changes), Launch::Stdio(stdio)) => {
                if self.keys.contains("args") {
                    stdio.args.clone_from(&changes.args);
                }
                let env = changes.env.iter();
                stdio.env.extend(env.map(|(k, v)| (k.clone(), v.clone())));
                if changes.cwd.is_some() {
                    stdio.cwd.clone_from(&changes.cwd);
                }
                if self.keys.contains("pass_env") {
                    stdio.pass_env.clone_from(&changes.pass_env);
                }
                stdio.filled_in.extend(changes.filled_in.iter().cloned());
            }
            (Launch::Http(changes), Launch::Http(http)) => {
                for (name, value) in &changes.headers {
                    // Names of headers are the same in capitals.
                    http.headers
                        .retain(|old, _| !old.eq_ignore_ascii_case(name));
                    http.headers.insert(name.clone(), value.clone());
                }
                if let Some(transport) = self.transport {
                    http.transport = transport;
                }
                if self.keys.contains("oauth") {
                    http.oauth = changes.oauth.clone();
                }
                http.filled_in.extend(changes.filled_in.iter().cloned());
            }
            (Launch::Stdio(_), Launch::Http(_)) | (Launch::Http(_), Launch::Stdio(_)) => {}
        }
    }
}
