//! `dormouse.toml`: what the user has configured. The crate knows formats, and nothing of MCP.

#![forbid(unsafe_code)]

pub mod client;
mod configured;
pub mod discovery;
pub mod edit;
pub mod file;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod inputs;
pub mod install;
mod named_files;
mod naming;
mod own_places;
pub mod problem;
mod project;
mod reading;
mod servers;
pub mod variables;
mod watched_file;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use dormouse_policy::exposure::{
    Confirmation, ExposureRules, HintOverrides, Profile, ServerExposure,
};
use dormouse_policy::{Grants, HostLimits, HttpSecret, Limits, ProviderLogin, SecretSource};
use dormouse_text::visible::visible_path;
use dormouse_wit::Instance;
use serde_json::{Map, Value};

pub use client::{Client, Scope};
pub use configured::{Configured, UntrustedProject, told_files};
pub use inputs::{Input, Inputs};
pub use named_files::NamedFiles;
pub use naming::name;
pub use naming::reserved_names::ReservedNames;
pub use own_places::{FilledInFiles, HostPaths, own_places};
pub use problem::{ConfigProblem, Invalid};
pub use project::review;
pub use project::review::ProjectReview;
pub use project::trusted::TrustedFolders;
pub use reading::units;
pub use servers::bridge;
use servers::bridge::ENV_FILE;
pub use servers::bridge::{
    Bridge, FillSource, FilledIn, Filter, Fingerprint, Need, ShownFolder, ShownProgram,
};
pub use servers::client_rules::{ClientConsensus, ClientRule, ClientRules};
pub use servers::limits::LimitSettings;
pub use servers::on_change::{ChangePolicy, NewTools, OnChange};
pub use servers::overlay::Overlay;
pub use servers::refused::RefusedServer;
pub use watched_file::WatchedFile;

/// Content of one configuration file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    /// The servers by name.
    pub servers: BTreeMap<String, ServerConfig>,
    /// Changes to servers that are configured elsewhere: `[servers.NAME]` tables that name nothing
    /// to run.
    pub overlays: BTreeMap<String, Overlay>,
    /// Discovery of servers elsewhere.
    pub discovery: DiscoveryConfig,
    /// `[limits]`: limits of the whole host.
    pub limits: HostLimits,
    /// `[exposure]`: which tools agents can call, and how they are shown these.
    pub exposure: ExposureRules,
    /// `[profiles]`: named subsets of the servers.
    pub profiles: BTreeMap<String, Profile>,
    /// The servers in which something is wrong.
    pub refused: Vec<RefusedServer>,
    /// Files that secrets are written to be in, whatever becomes of their tables.
    pub files_of_secrets: NamedFiles,
    /// Problems outside of the servers. Limits and settings that are wrong have their usual values,
    /// and no client is asked where `clients` may be wrong.
    pub problems: Vec<ConfigProblem>,
}

/// `[discovery]`: handling of the servers that the user's clients have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveryConfig {
    /// `clients`: clients whose files are read; all of them, where none are configured.
    pub clients: Option<Vec<Client>>,
    /// `inputs`: answers to the questions that clients ask before they start a server
    /// (`${input:ID}`), by their ids.
    pub inputs: Inputs,
    /// `fetch`: time when a server of which nothing is known is asked what it offers.
    pub fetch: Fetch,
    /// `pass_env`: variables of the host's environment that all children get, by names with
    /// `*` for any characters.
    pub pass_env: Vec<String>,
    /// `filled_in`: most bytes of variables, files and answers that are filled into the servers of
    /// one project, and of one file of the user's.
    pub filled_in: usize,
}

impl Default for DiscoveryConfig {
    fn default() -> Self {
        Self {
            clients: None,
            inputs: Inputs::default(),
            fetch: Fetch::default(),
            filled_in: MAX_FILLED_IN,
            pass_env: Vec::new(),
        }
    }
}

/// Most bytes that are filled in, where no limit is configured: far more than anybody's servers are
/// made of, and far less than a machine has.
pub const MAX_FILLED_IN: usize = 16 << 20;

/// Time when an upstream is asked what it offers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fetch {
    /// On demand: at `dormouse sync`, a call, or the tool `discover`.
    #[default]
    OnDemand,
    /// After the start, one by one, without anybody waiting for it.
    Background,
}

/// Server, as in a `[servers.NAME]` table.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerConfig {
    /// Name of the server.
    pub name: String,
    /// Plugin or bridge that runs for the server.
    pub adapter: Adapter,
    /// Whether the server's tools are shown.
    pub enabled: bool,
    /// Text before its tools' names; the server's name where unset, and nothing at all (not even
    /// `__`) where it is empty.
    pub prefix: Option<String>,
    /// Prefix that is written for it, where another one counts: what is denied by it stays denied.
    pub ignored_prefix: Option<String>,
    /// Instance mode, in place of what the plugin declares.
    pub instance: Option<Instance>,
    /// Grants of the server.
    pub grants: Grants,
    /// Secrets that are put into its plugin's HTTP requests.
    pub secrets: Vec<HttpSecret>,
    /// Limits of the server.
    pub limits: Limits,
    /// Settings that the plugin gets through `dormouse:plugin/settings`.
    pub settings: Map<String, Value>,
    /// `expose`: how its tools are shown, whatever is configured for all.
    pub expose: Option<ServerExposure>,
    /// `annotations`: hints on its tools, in place of its own.
    pub hints: HintOverrides,
    /// `confirm`: tools whose calls the user is asked about, whatever is configured for all.
    pub confirm: Option<Confirmation>,
    /// Clients that load the server themselves, because it is in their own files too.
    pub from: Vec<Client>,
    /// Reason why a policy of its client forbids the server, with the file that says so. The server
    /// is off then, and nothing switches it on.
    pub denied: Option<String>,
    /// Client that does not have the server although others do, where the server is as that client
    /// is shown it ([`Self::for_client`]).
    pub off_in: Option<Client>,
    /// Place where the server is configured.
    pub origin: Origin,
}

/// Plugin or bridge that runs for a server.
#[derive(Debug, Clone, PartialEq)]
pub enum Adapter {
    /// A plugin: its file, absolute (a relative path is taken from the folder of
    /// the configuration file).
    Plugin(PathBuf),
    /// The built-in bridge, in front of an upstream.
    Bridge(Box<Bridge>),
    /// A plugin in front of an upstream: one that `dormouse adapt` has written, or
    /// a better bridge.
    Adapted(PathBuf, Box<Bridge>),
    /// Neither, because something in the server's table, or in its client's entry, is wrong.
    Refused(Box<RefusedServer>),
}

/// A place in a configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// The file.
    pub file: PathBuf,
    /// The line, counted from 1.
    pub line: usize,
    /// Client whose file it is; none where it is Dormouse's own.
    pub client: Option<Client>,
    /// Scope of what is written there.
    pub scope: Scope,
    /// The profile of its client that it is for; none where it is for all that its user does, or
    /// for the profile that has no name.
    pub profile: Option<String>,
}

impl Adapter {
    /// Returns the limits of such a server where none are configured.
    #[must_use]
    pub fn usual_limits(&self) -> Limits {
        match self {
            Self::Bridge(_) | Self::Adapted(..) => Limits::of_upstream(),
            Self::Plugin(_) | Self::Refused(_) => Limits::default(),
        }
    }
}

impl ServerConfig {
    /// Returns the folder of the project whose files the server is from; none where it is the user's
    /// own.
    #[must_use]
    pub fn project(&self) -> Option<&Path> {
        self.origin.scope.project()
    }

    /// Makes a server of which nothing else is configured.
    #[must_use]
    pub fn new(name: &str, adapter: Adapter, origin: Origin) -> Self {
        let limits = adapter.usual_limits();
        Self {
            name: name.to_owned(),
            adapter,
            enabled: true,
            prefix: None,
            ignored_prefix: None,
            instance: None,
            grants: Grants::default(),
            secrets: Vec::new(),
            limits,
            settings: Map::new(),
            expose: None,
            hints: HintOverrides::default(),
            confirm: None,
            from: Vec::new(),
            denied: None,
            off_in: None,
            origin,
        }
    }

    /// Returns the server as one client is shown it. `None` is a client that is not known, which
    /// gets only the tools that no client is forbidden.
    #[must_use]
    pub fn for_client(&self, client: Option<Client>) -> Self {
        let mut server = self.clone();
        if let Some(bridge) = server.bridge_mut() {
            bridge.filter = bridge.rules.filter(&bridge.filter, client);
            if !bridge.rules.enable(client) {
                server.off_in = client.filter(|_| server.enabled);
                server.enabled = false;
            }
        }
        server
    }

    /// Whether the server is written in a file of a project's, and not in one of the user's.
    #[must_use]
    pub fn is_of_project(&self) -> bool {
        matches!(self.origin.scope, Scope::Project(_))
    }

    /// Whether the server is on, and every client is shown all of it.
    pub(crate) fn shows_all(&self) -> bool {
        let is_whole = self.bridge().is_some_and(|bridge| {
            bridge.filter == Filter::default() && bridge.rules == ClientRules::default()
        });
        self.enabled && is_whole
    }

    /// Returns the refused entry, where the server cannot be used as it is written.
    #[must_use]
    pub fn refused(&self) -> Option<&RefusedServer> {
        match &self.adapter {
            Adapter::Refused(refused) => Some(refused),
            Adapter::Plugin(_) | Adapter::Bridge(_) | Adapter::Adapted(..) => None,
        }
    }

    /// Returns the names of the variables of the host's environment that its plugin sees, or that are
    /// put into its requests.
    pub fn given_variables(&self) -> impl Iterator<Item = &String> {
        let secrets = self.secrets.iter();
        let secrets = secrets.filter_map(|secret| match secret.looked_up()? {
            SecretSource::Variable(name) => Some(name),
            SecretSource::File(_)
            | SecretSource::Command { .. }
            | SecretSource::Keyring(_)
            | SecretSource::Login(_) => None,
        });
        self.grants.env.iter().chain(secrets)
    }

    /// Returns the logins at providers that its plugin's requests need, each once.
    pub fn provider_logins(&self) -> impl Iterator<Item = &ProviderLogin> {
        let mut providers = BTreeSet::new();
        let logins = self.secrets.iter().filter_map(HttpSecret::login);
        logins.filter(move |login| providers.insert(&login.provider))
    }

    /// Returns the plugin's file, where the server is a plugin.
    #[must_use]
    pub fn component(&self) -> Option<&Path> {
        match &self.adapter {
            Adapter::Plugin(file) | Adapter::Adapted(file, _) => Some(file),
            Adapter::Bridge(_) | Adapter::Refused(_) => None,
        }
    }

    /// Returns the upstream, to be changed, where the server has one.
    pub fn bridge_mut(&mut self) -> Option<&mut Bridge> {
        match &mut self.adapter {
            Adapter::Plugin(_) | Adapter::Refused(_) => None,
            Adapter::Bridge(bridge) | Adapter::Adapted(_, bridge) => Some(bridge),
        }
    }

    /// Returns the upstream, where the server has one.
    #[must_use]
    pub fn bridge(&self) -> Option<&Bridge> {
        match &self.adapter {
            Adapter::Plugin(_) | Adapter::Refused(_) => None,
            Adapter::Bridge(bridge) | Adapter::Adapted(_, bridge) => Some(bridge),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", visible_path(&self.file), self.line)?;
        match &self.profile {
            Some(profile) => write!(f, " (profile `{}`)", profile.escape_debug()),
            None => Ok(()),
        }
    }
}

/// Reads a configuration file. A file that does not exist is an empty one: a user who has
/// configured nothing yet has done nothing wrong. (Whoever names a file with `--config` meant it to
/// exist; [`paths::config_file`] checks that.)
///
/// A mistake costs only what it is in: a server, or a setting.
///
/// # Errors
/// The file cannot be read, others can have written it, or it is not TOML ([`Invalid`]).
pub fn load(path: &Path) -> anyhow::Result<Config> {
    if !reading::own_file::is_to_be_read(path)? {
        return Ok(Config::default());
    }
    match file::read(path)? {
        None => Ok(Config::default()),
        Some(text) => Ok(file::parse_usable(path, &text)?),
    }
}
